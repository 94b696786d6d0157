"""The window of time that was read, as part of a report, and what differs in it from the time before it."""

from __future__ import annotations

from typing import Literal

import msgspec


class Changed(msgspec.Struct, frozen=True):
    """A kind of line that is ``new`` in a window of time, or that ``stopped`` in it; kinds differ in more than numbers.

    ``time`` is when the first new line came, or when the next line of a kind that stopped was due, as text on the clock
    of the input. ``source``, ``line`` and ``text`` are of the first new line, or of the last one before the stop;
    ``every``: the seconds between the lines of a kind that stopped.
    """

    what: Literal["new", "stopped"]
    time: str
    source: str
    line: int
    text: str
    every: float | None = None


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """The window of time that was read: ``text`` names it (``between 2026-05-03 03:10:00 and ...``).

    ``since`` and ``until`` are seconds since the epoch on the clock of the input, None where it is open; ``zone`` is
    the offset of that clock from UTC in seconds, None if the input does not show it. ``notes`` are sentences about the
    clocks of several files. ``changes``, in their order: what differs from the time before the window, None where that
    was not asked for.
    """

    text: str
    since: float | None = None
    until: float | None = None
    zone: int | None = None
    notes: tuple[str, ...] = ()
    changes: tuple[Changed, ...] | None = None
