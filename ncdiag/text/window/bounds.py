"""The window as it was asked for, and as it is once the clocks, days and zones of the input are known."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Literal

import msgspec

from ncdiag.formats.moments import Moment, moment, span, written
from ncdiag.formats.stamps import DAY, Stamp, completed

_HALF_A_YEAR = 182 * DAY


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """A window of time as asked for: from ``since`` to ``until``, both included, None where it is open.

    ``compare``: seconds of the end of the window that are compared with as many seconds before them
    (`ncdiag.text.window.change`), None for no comparison. ``now`` and ``local`` are the time (epoch) and the zone of
    this machine (seconds ahead of UTC) when it was asked for.
    """

    since: Moment | None = None
    until: Moment | None = None
    compare: float | None = None
    now: float = 0.0
    local: int = 0


def window_of(since: str | None, until: str | None, compare: str | None = None) -> Window | None:
    """The window that options name, None where they name none. Raises ValueError with a sentence."""
    if not (since or until or compare):
        return None
    now = time.time()
    local = time.localtime(now).tm_gmtoff
    seconds = span(compare) if compare else None
    if seconds == 0:
        msg = "a window of 0 seconds holds no line"
        raise ValueError(msg)
    first, last = (moment(text, now, local) if text else None for text in (since, until))
    loose = any(found.clock or found.yearless for found in (first, last) if found)
    apart = first.wall - last.wall if first and last and first.zone == last.zone else 0.0
    yearless = first and last and first.yearless and last.yearless and apart < _HALF_A_YEAR  # not from December on
    if apart > 0 and (yearless or not loose):
        msg = f"the window ends before it begins: {since} is after {until}"
        raise ValueError(msg)
    return Window(since=first, until=last, compare=seconds, now=now, local=local)


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """A window on the clock of the input: ``since`` and ``until`` are seconds since the epoch on that clock.

    ``zone`` is the zone of that clock (seconds ahead of UTC), None where no stamp has one; stamps without a zone are
    read as stamps of that zone. ``year_near`` and ``day_near``: moments near which a date without a year, and a clock
    without a date, are at first. ``ahead``: seconds by which the clock of one source is ahead of the others.
    """

    since: float = -math.inf
    until: float = math.inf
    zone: int | None = None
    year_near: float = 0.0
    day_near: float = 0.0
    ahead: float = 0.0

    def text(self) -> str:
        """The window in words: ``between 2026-05-03 03:10:00 and 2026-05-03 03:15:00``."""
        if math.isinf(self.since):
            return f"before {self.written(self.until)}" if not math.isinf(self.until) else "at any time"
        if math.isinf(self.until):
            return f"after {self.written(self.since)}"
        return f"between {self.written(self.since)} and {self.written(self.until)}"

    def written(self, value: float) -> str:
        """A moment of the input's clock as text."""
        return written(value, self.zone)


class Changed(msgspec.Struct, frozen=True):
    """A kind of line that is ``new`` in the window, that ``stopped`` in it, or that came ``slower``.

    ``time`` is when the first new line came, or when the next line of another kind was due (seconds since the epoch on
    the clock of the input). ``source``, ``line`` and ``text`` are of the first new line, the last line of the kind that
    stopped, or the first one that came late; ``every``: the seconds between its lines before, ``now`` those since.
    """

    what: Literal["new", "stopped", "slower"]
    time: float
    source: str
    line: int
    text: str
    every: float | None = None
    now: float | None = None


class Windowed(msgspec.Struct, frozen=True):
    """The window of a case on the clock of its input, and sentences about the clocks of its files.

    ``changes``: what differs from the time before, None where that was not asked for.
    """

    asked: Window
    bounds: Bounds
    notes: tuple[str, ...] = ()
    changes: tuple[Changed, ...] | None = None


class Clock:
    """Reads the stamps of one source, in their order, as seconds on the clock of the input."""

    def __init__(self, bounds: Bounds) -> None:
        """``bounds`` say what is missing in the first stamp."""
        self._bounds = bounds
        self._near: float | None = None

    def value(self, stamp: Stamp) -> float:
        """Seconds since the epoch of a stamp on the clock of the input."""
        if stamp.lacks:
            first = self._bounds.year_near if stamp.lacks == "year" else self._bounds.day_near
            stamp = completed(stamp, first if self._near is None else self._near)
        self._near = stamp.wall
        zone = self._bounds.zone
        offset = 0 if stamp.zone is None or zone is None else zone - stamp.zone
        return stamp.wall + offset - self._bounds.ahead


class Extent(msgspec.Struct, frozen=True):
    """The first and the last stamp of a source, as far as they are known, and the zones of its stamps."""

    first: Stamp | None = None
    last: Stamp | None = None
    zones: tuple[int, ...] = ()


def resolved(asked: Window, extents: Iterable[Extent]) -> Bounds:
    """The bounds of a window on the clock of sources with these extents."""
    extents = tuple(extents)
    zones = [zone for extent in extents for zone in extent.zones]
    named = [found for found in (asked.since, asked.until) if found is not None]
    zone = zones[0] if zones else _zone_of_window(asked, named)
    dated = next((found.wall for found in named if not (found.clock or found.yearless)), None)
    today = (asked.now + (asked.local if zone is None else zone)) // DAY * DAY
    bounds = Bounds(
        zone=zone if zones else None,
        year_near=min(asked.now + DAY - _HALF_A_YEAR, math.inf if dated is None else dated),
        day_near=(today if dated is None else dated // DAY * DAY) + DAY / 2,
    )
    first, last = ends_of(bounds, extents)
    asked = _with_years(asked, today, first, last)
    days = _days(asked, today, first, last)
    shift = 0 if zone is None else zone
    since, until = (
        None if found is None else day + found.wall if found.clock
        else found.wall if found.zone is None else found.wall - found.zone + shift
        for found, day in zip((asked.since, asked.until), days, strict=True)
    )  # fmt: skip
    if asked.compare is not None:
        since, until = _compared(since, until, asked.compare, last)
    return msgspec.structs.replace(
        bounds, since=-math.inf if since is None else since, until=math.inf if until is None else until
    )


def _with_years(asked: Window, today: float, first: float | None, last: float | None) -> Window:
    """The window with the years that its dates lack: those in which they are in the input, else nearest to its end."""

    def whole(found: Moment | None) -> Moment | None:
        if found is None or not found.yearless:
            return found
        nears = [near for near in (last, first) if near is not None] or [today]
        tried = [completed(Stamp(found.wall, lacks="year"), near).wall for near in nears]
        low, high = (math.inf, math.inf) if first is None or last is None else (first - DAY, last + DAY)
        wall = next((wall for wall in tried if low <= wall <= high), tried[0])
        return msgspec.structs.replace(found, wall=wall, yearless=False)

    return msgspec.structs.replace(asked, since=whole(asked.since), until=whole(asked.until))


def _zone_of_window(asked: Window, named: Iterable[Moment]) -> int | None:
    """The zone in which stamps without one are read: this machine's for a moment counted from now, else UTC."""
    return asked.local if any(found.zone is not None for found in named) else None


def ends_of(bounds: Bounds, extents: Iterable[Extent]) -> tuple[float | None, float | None]:
    """The first and the last moment of the sources, as far as they are known."""
    firsts, lasts = [], []
    for extent in extents:
        clock = Clock(bounds)
        if extent.first is not None:
            firsts.append(clock.value(extent.first))
        if extent.last is not None:
            lasts.append(clock.value(extent.last))
    return min(firsts, default=None), max(lasts, default=None)


def _days(asked: Window, today: float, first: float | None, last: float | None) -> tuple[float, float]:
    """The days of the two ends where a clock alone was asked for.

    The current day, if the input has lines of it; else the last day of the input that the window can be on.
    """
    day = today
    end = last if last is not None else first
    begin = next((found.wall for found in (asked.since, asked.until) if found is not None and found.clock), 0.0)
    if end is not None and not (first is not None and first < today + DAY and end >= today):
        day = end // DAY * DAY
        if day + begin > end and first is not None and last is not None and day > first // DAY * DAY:
            day -= DAY
    over = asked.since is not None and asked.until is not None and asked.until.clock
    since_clock = asked.since.wall % DAY if asked.since is not None else 0.0
    if over and asked.since is not None and not asked.since.clock and asked.since.zone is None:
        day = asked.since.wall // DAY * DAY
    later = DAY if over and asked.until is not None and asked.until.wall < since_clock else 0
    return day, day + later


def _compared(
    since: float | None, until: float | None, seconds: float, last: float | None
) -> tuple[float | None, float | None]:
    """The bounds of what is read for a comparison: the window and as many seconds before it.

    The window begins at ``since``; else it ends at ``until``, or with the input.
    """
    if since is not None:
        return since - seconds, since + seconds if until is None else until
    end = until if until is not None else last
    return (None, None) if end is None else (end - 2 * seconds, end)
