"""What differs at the end of one run from the end of another: kinds of lines that are new, missing or slower.

The end of a run is its first failure if it is known, else its last line. The two ends are put one after the other on
one clock, as if they were one log, and compared like a window with the time before it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.stamps import stamps
from ncdiag.text.sources.archives import BROKEN
from ncdiag.text.sources.files import File
from ncdiag.text.window.bounds import Bounds, Changed, Clock, Window, ends_of, resolved
from ncdiag.text.window.change import Comparison
from ncdiag.text.window.extent import of_file
from ncdiag.text.window.seek import windowed

_FIRST = lazy_regex(rb".{0,40}?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?\s+([A-Za-z][\w.-]{0,80})(?=[\s:])")
_FEW, _NEARLY = 10, 0.9
"""Minimum number of lines with a head, and their share."""
_APART = 1e-3
"""Seconds between the two ends on their clock."""


class Run(NamedTuple):
    """The logs of a run, the window that was asked for, and the place (source, line) of the first failure."""

    files: Sequence[File]
    asked: Window
    failed: tuple[str, int] | None = None


class Differing(NamedTuple):
    """The first differences, and the bounds of the end of the later run, on whose clock their times are."""

    bounds: Bounds
    changes: tuple[Changed, ...]


def differing(before: Run, after: Run, seconds: float, names: Iterable[str] = ()) -> Differing | None:
    """The differences of the last ``seconds`` of two runs; None if the logs of one have no stamps.

    ``names`` are those of hosts: lines that differ only in them are of one kind.
    """
    old, new = (_end(run, seconds) for run in (before, after))
    if old is None or new is None:
        return None
    sides = ((before, old), (after, new))
    heads = {head for run, bounds in sides for file in run.files if (head := _head(file, bounds))}
    comparison = Comparison(0.0, {*names, *heads})
    firsts: dict[str, int] = {}
    for run, bounds, start in ((before, old, old.until + _APART), (after, new, new.since)):
        for file in run.files:
            cut = windowed(file, bounds)
            shifted = msgspec.structs.replace(bounds, ahead=start)
            for _ in comparison.read(cut.name, cut.buffers(), shifted):
                pass
            firsts[cut.name] = cut.first_line
    found = comparison.found(firsts)
    return Differing(new, tuple(msgspec.structs.replace(one, time=one.time + new.since) for one in found))


def _head(file: File, bounds: Bounds) -> str:
    """The first word after the stamp of nearly all lines, such as the name of a host; empty if there is none."""
    counts = Counter[bytes]()
    for buffer in windowed(file, bounds).buffers():
        counts.update(found[1] for found in map(_FIRST.match, buffer.split(b"\n")) if found)
    word, number = next(iter(counts.most_common(1)), (b"", 0))
    return word.decode("utf-8", "replace") if number > _FEW and number >= _NEARLY * counts.total() else ""


def _end(run: Run, seconds: float) -> Bounds | None:
    """The bounds of the end of a run: what was asked for, else up to its first failure or last line."""
    extents = [of_file(file, ends=True) for file in run.files]
    bounds = resolved(run.asked, extents)
    if not math.isinf(bounds.until):
        end = bounds.until
    elif not math.isinf(bounds.since):
        end = bounds.since + seconds
    else:
        found = _moment(run, bounds)
        last = ends_of(bounds, extents)[1] if found is None else found
        if last is None:
            return None
        end = last
    return msgspec.structs.replace(bounds, since=end - seconds, until=end)


def _moment(run: Run, bounds: Bounds) -> float | None:
    """The moment of the first failure, None if it is unknown."""
    source, number = run.failed or ("", 0)
    file = next((each for each in run.files if each.name == source), None)
    if file is None:
        return None
    clock, found, seen = Clock(bounds), None, 0
    try:
        for buffer in file.buffers():
            counted = 0
            for start, stamp in stamps(buffer):
                seen += buffer.count(b"\n", counted, start)
                counted = start
                if seen >= number:
                    return found
                found = clock.value(stamp)
            seen += buffer.count(b"\n", counted)
            if seen >= number:
                break
    except BROKEN:
        return None
    return found
