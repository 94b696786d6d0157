"""The window of time that was read, as part of a report, and what differs in it from the time before it."""

from __future__ import annotations

from typing import Literal

import msgspec


class Changed(msgspec.Struct, frozen=True):
    """A kind of line that is ``new`` in a window of time, that ``stopped`` in it, or that came ``slower``.

    Kinds differ in more than numbers. ``time`` is when the first new line came, or when the next line of another kind
    was due, as text on the clock of the input. ``source``, ``line`` and ``text`` are of the first new line, of the last
    one before the stop, or of the first one that came late; ``every``: the seconds between its lines before the window
    (at most, of a kind that came slower), ``now``: those since.
    """

    what: Literal["new", "stopped", "slower"]
    time: str
    source: str
    line: int
    text: str
    every: float | None = None
    now: float | None = None


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """The window of time that was read: ``text`` names it (``between 2026-05-03 03:10:00 and ...``), empty for all.

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
