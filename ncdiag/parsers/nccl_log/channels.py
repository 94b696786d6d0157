"""The ``Channel`` lines of buffers, counted by process and connection: there are too many to look at one by one."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator

from ncdiag.parsers.nccl_log.lines import prefixed

STARTS = (b"NCCL INFO Channel ", b"NCCL INFO Ring ")
"""How channel lines begin; the second up to 2.6."""
RING_ORDER = re.compile(rb"NCCL (INFO) (?=Channel \d+(?:/\d+)? : +\d+ +\d)")
"""``Channel 00/04 : 0 1 2 3``: the order of a ring, told by rank 0."""

_ANY = re.compile(rb"NCCL INFO (?:Channel|Ring) [^ ]* : (.*)")
_SPARSE = 500
"""With fewer channel lines than one in so many bytes it is faster to look at them one by one."""
_LAUNCHER_LIMIT = 2000


@functools.cache
def _pattern(word: str, words: int) -> re.Pattern[bytes]:
    """``host:pid:tid [dev]`` and what follows the channel's number."""
    before = prefixed(words)
    own = before.rindex(r"\S* \[")
    return re.compile(rf"\n{before[:own]}({before[own:]}) NCCL INFO {word} [^ ]* : (.*)".encode())


def pairs(text: bytes, words: int, remarkable: Iterable[tuple[int, int]]) -> Iterable[bytes]:
    """Each channel line as ``host:pid:tid [dev]``, a line end and what follows the number of the channel.

    ``text`` begins with a line end. ``words`` stand before the prefix of most lines; the ``remarkable`` stretches are
    lines of another form.
    """
    counts = [text.count(start) for start in STARTS]
    total = sum(counts)
    if not total:
        return ()
    found: list[tuple[bytes, bytes]] = []
    if total > len(text) // _SPARSE:
        for word, count in zip(("Channel", "Ring"), counts, strict=True):
            found += _pattern(word, words).findall(text) if count else []
        if len(found) != total:
            for start, end in remarkable:
                found += _one_by_one(text, start, end)
    if len(found) != total:
        found = list(_one_by_one(text, 0, len(text)))
    return map(b"\n".join, found)


def _one_by_one(text: bytes, start: int, end: int) -> Iterator[tuple[bytes, bytes]]:
    """The same of channel lines with anything before the host, also behind the line of another process."""
    for found in _ANY.finditer(text, start, end):
        begin = max(text.rfind(b"\n", 0, found.start()) + 1, found.start() - _LAUNCHER_LIMIT)
        words = text[begin : found.start()].rsplit(b" ", 3)[-3:]
        yield b" ".join(words[:-1]), found[1]


def first_line(text: bytes, before: bytes, offset: int) -> int:
    """Where the first channel line of a process begins in ``text``, from ``offset`` on if there is one."""
    for start in (offset, 0):
        place = text.find(before + b" NCCL INFO ", start)
        while place >= 0:
            if text.startswith(STARTS, place + len(before) + 1):
                return text.rfind(b"\n", 0, place) + 1
            place = text.find(before + b" NCCL INFO ", place + 1)
    return text.find(b"\n") + 1
