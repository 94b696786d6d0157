"""Find the bytes of a window in a long file by bisection, where the stamps of the file grow.

Whether they grow is tried at places that are spread over the file. A file in which they do not is read whole.
"""

from __future__ import annotations

import contextlib
import functools
import io
import math
from collections.abc import Callable, Iterator
from itertools import pairwise

from ncdiag.text.sources.archives import BROKEN, Reader
from ncdiag.text.sources.files import File
from ncdiag.text.sources.text import can_be_parted
from ncdiag.text.window.bounds import Bounds, Clock
from ncdiag.text.window.cut import SLACK, Range, WindowedFile
from ncdiag.text.window.extent import CHUNK, stamp_from

SEEK_FROM = 16 << 20
"""Bytes of a file from which on it is not read whole."""
_PLACES = 32
"""Number of places at which the stamps are compared."""

Place = tuple[int, float]
"""The offset of a line in a file, and the moment of its stamp."""


def windowed(file: File, bounds: Bounds, seek_from: int | None = None) -> WindowedFile:
    """The file cut to a window; of a long one with growing stamps only the bytes of the window are read."""
    least = SEEK_FROM if seek_from is None else seek_from
    if file.path is not None and file.size >= least and not (math.isinf(bounds.since) and math.isinf(bounds.until)):
        with contextlib.suppress(*BROKEN), io.FileIO(file.path) as opened:
            found = _Search(opened, file.size, bounds).found()
            if found is not None:
                start, end, ends = found
                counted = "; its line numbers count from there" if start else ""
                note = f"only bytes {start} to {end} of {file.size} were read{counted}"
                opener = functools.partial(_part, file.path, start, end)
                return WindowedFile(file, bounds, Range(opener, end - start, ends, note))
    return WindowedFile(file, bounds)


class _Search:
    """The search in one open file."""

    def __init__(self, opened: io.FileIO, size: int, bounds: Bounds) -> None:
        self._opened, self._size, self._bounds = opened, size, bounds

    def found(self) -> tuple[int, int, tuple[float, float]] | None:
        """(first byte, byte after the last, first and last moment of the file); None if its stamps do not grow."""
        if not can_be_parted(self._opened.read(CHUNK)):
            return None
        step = self._size // _PLACES
        places = []
        for place in (*range(0, self._size - CHUNK, step), self._size - CHUNK):
            tried = self._at(place)
            if tried is None:
                return None
            places.append(tried)
        if any(later < before - SLACK for (_, before), (_, later) in pairwise(places)):
            return None
        ends = places[0][1], places[-1][1]
        start = self._border(places, lambda moment: moment >= self._bounds.since - SLACK)[0]
        end = self._border(places, lambda moment: moment > self._bounds.until + SLACK)[1]
        return start, max(start, end), ends

    def _at(self, place: int) -> Place | None:
        """The first line with a stamp from a place on; None if there is none, or its stamp has no date."""
        found = stamp_from(self._opened, place)
        if found is None or found[1].lacks == "date":
            return None
        return found[0], Clock(self._bounds).value(found[1])

    def _border(self, places: list[Place], is_after: Callable[[float], bool]) -> tuple[int, int]:
        """Two offsets of lines: what is before the first is before the border, what is after the second is after it."""
        low, high = 0, self._size
        for offset, moment in places:
            if is_after(moment):
                high = offset
                break
            low = offset
        top = high
        while top - low > 2 * CHUNK:
            middle = (low + top) // 2
            tried = self._at(middle)
            if tried is None or tried[0] >= high:
                top = middle
            elif is_after(tried[1]):
                top, high = middle, tried[0]
            else:
                low = tried[0]
        return low, high


@contextlib.contextmanager
def _part(path: str, start: int, end: int) -> Iterator[Reader]:
    """A reader of the bytes of a file between two offsets."""
    with io.FileIO(path) as opened:
        opened.seek(start)
        yield _Limited(opened, end - start)


class _Limited:
    """The next bytes of a file, up to a number of them."""

    def __init__(self, opened: io.FileIO, size: int) -> None:
        self._opened, self._left = opened, size

    def read(self, size: int, /) -> bytes:
        """At most ``size`` of the bytes that are left."""
        data = self._opened.read(min(size, self._left))
        self._left -= len(data)
        return data
