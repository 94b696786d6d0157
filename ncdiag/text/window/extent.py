"""The first and the last stamp of a text or a file, from its first and last bytes."""

from __future__ import annotations

import io

from ncdiag.formats.stamps import Stamp, stamps
from ncdiag.text.sources.archives import BROKEN
from ncdiag.text.sources.files import File
from ncdiag.text.sources.records import unpacked
from ncdiag.text.window.bounds import Extent

CHUNK = 1 << 16
"""Bytes that are read at the beginning, at the end, and at each place that is tried."""
_MOST = 16
"""Maximum number of such pieces that are read to find one stamp."""


def extent_of(buffer: bytes, *, ends: bool = False) -> Extent:
    """The extent of the text that begins with a buffer; ``ends``: the buffer is the whole text."""
    found = [stamp for _, stamp in stamps(buffer)]
    zones = dict.fromkeys(stamp.zone for stamp in found if stamp.zone is not None)
    return Extent(found[0] if found else None, found[-1] if found and ends else None, tuple(zones))


def of_file(file: File, *, ends: bool = False) -> Extent:
    """The extent of a file. The end of a compressed one is unknown unless ``ends``, which reads all of it.

    Errors are left to the reading of it.
    """
    try:
        if ends and file.path is None:
            return _of_all(file)
        with file.opener() as reader:
            head = _whole_lines(reader.read(CHUNK))
        begin = extent_of(unpacked(head), ends=file.path is not None and file.size <= CHUNK)
        if file.path is None or begin.last is not None or begin.first is None:
            return begin
        with io.FileIO(file.path) as opened:
            return Extent(begin.first, _last(opened, file.size), begin.zones)
    except BROKEN:
        return Extent()


def _of_all(file: File) -> Extent:
    begin, last = Extent(), None
    for number, buffer in enumerate(file.buffers()):
        found = extent_of(buffer, ends=True)
        begin = found if not number else begin
        last = found.last or last
    return Extent(begin.first, last, begin.zones)


def _whole_lines(data: bytes) -> bytes:
    return data[: data.rfind(b"\n") + 1] or data


def _last(opened: io.FileIO, size: int) -> Stamp | None:
    """The last stamp of a file, looked for in its last pieces."""
    for number in range(1, _MOST + 1):
        opened.seek(max(0, size - number * CHUNK))
        found = [stamp for _, stamp in stamps(unpacked(opened.read(CHUNK)))]
        if found:
            return found[-1]
        if number * CHUNK >= size:
            break
    return None


def stamp_from(opened: io.FileIO, place: int) -> tuple[int, Stamp] | None:
    """(offset of the line, stamp) of the first line with a stamp that begins at or after a place in a file."""
    opened.seek(place)
    data = opened.read(CHUNK)
    at = 0 if place == 0 else data.find(b"\n") + 1
    for _ in range(_MOST):
        lines = _whole_lines(data[at:])
        if lines.lstrip().startswith(b"{"):  # records of a collector: their lines are shorter once they are unpacked
            for line in lines.splitlines(keepends=True):
                found = next(stamps(unpacked(line)), None)
                if found is not None:
                    return place + at, found[1]
                at += len(line)
        else:
            found = next(stamps(lines), None)
            if found is not None:
                return place + at + found[0], found[1]
        place, at = opened.tell(), 0
        data = opened.read(CHUNK)
        if not data:
            break
    return None
