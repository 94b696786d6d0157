"""The lines of NCCL's collective trace, added up: ``AllReduce: opCount 1f sendbuff .. count 1024 datatype 7 ..``.

Printed with NCCL_DEBUG_SUBSYS=COLL for each call of each rank (src/enqueue.cc, since 2.4.2; in 2.3.7 by the files of
the functions; 2.3.5 does not name the function and is not read). There may be hundreds of millions: they are counted by
process, communicator, function, count and datatype, and of each process and communicator the last one is kept, for the
rank that is behind when a job hangs.
"""

from __future__ import annotations

import functools
import operator
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from ncdiag.parsers.nccl_log.lines import prefixed

SIGN = b": opCount "
COUNT_LIMIT = 1 << 16
"""Different calls that are counted before they are added up."""
_DENSE = 3
"""With fewer calls than one in so many lines it is faster to look at them one by one."""
SUM_LIMIT = 1 << 18
"""Sums that are kept (processes times communicators, functions and datatypes)."""

DATATYPES = (
    ("int8", 1), ("uint8", 1), ("int32", 4), ("uint32", 4), ("int64", 8), ("uint64", 8), ("float16", 2), ("float32", 4),
    ("float64", 8), ("bfloat16", 2), ("float8e4m3", 1), ("float8e5m2", 1),
)  # fmt: skip
"""By ncclDataType_t (src/nccl.h.in): its name and its bytes."""

_CALL = (
    r"([^ ]*): opCount [^ ]* sendbuff [^ ]* recvbuff [^ ]* count ([^ ]* datatype [^ ]*) op [^ ]* root [^ ]* "
    r"comm ([^ ]* \[nranks=[^ ]*) .*"
)
"""Inner words may be anything but a blank, which is the fastest to match; the words around them hold it together."""
_DIGITS = 19
_OP_COUNT = re.compile(rb": opCount ([0-9a-f]{1,16}) ")
_KEY = operator.itemgetter(1, 2, 3, 4)
_PLACE = operator.itemgetter(1, 4)
_join = b"\n".join


class Place(NamedTuple):
    """Who called: ``host:pid:tid [dev]`` as printed, the communicator's pointer and its number of ranks."""

    before: bytes
    pointer: str
    nranks: int


class Sum(msgspec.Struct):
    """Calls of one function on one datatype: how many, of how many bytes, and how many of which size.

    ``sizes`` are powers of two: calls of at least so many bytes and less than twice as many.
    """

    calls: int = 0
    size: int = 0
    sizes: dict[int, int] = {}

    def add(self, other: Sum) -> None:
        """Add the calls of another one."""
        self.calls += other.calls
        self.size += other.size
        for power, count in other.sizes.items():
            self.sizes[power] = self.sizes.get(power, 0) + count


class Last(NamedTuple):
    """The last call of a process on a communicator, with its line."""

    number: int
    line: bytes
    function: str
    op_count: int
    elements: int
    datatype: str


@functools.cache
def _pattern(words: int) -> re.Pattern[bytes]:
    """Every line, so that an index is a line number; the groups are empty where it is no call."""
    before = prefixed(words)
    own = before.rindex(r"\S* \[")
    return re.compile(rf"\n(?:{before[:own]}(({before[own:]}) NCCL INFO {_CALL})|.*)".encode())


def places(text: bytes) -> Iterator[tuple[int, int]]:
    """Where the lines that are calls begin and end."""
    place = text.find(SIGN)
    while place >= 0:
        end = text.find(b"\n", place)
        end = end if end >= 0 else len(text)
        yield text.rfind(b"\n", 0, place) + 1, end
        place = text.find(SIGN, end)


def _one_by_one(text: bytes, numbers: Sequence[int], words: int) -> tuple[list[tuple[bytes, ...]], list[int]]:
    """The same groups of the lines that are calls alone, and the numbers of these lines."""
    found, theirs = [], []
    index, seen = -1, 0
    for start, _ in places(text):
        index += text.count(b"\n", seen, start)
        seen = start
        hit = _pattern(words).match(text, start - 1)
        if hit is not None:
            found.append(hit.groups(b""))
            theirs.append(numbers[index])
    return found, theirs


class Calls:
    """All calls of a source."""

    def __init__(self) -> None:
        """None yet."""
        self._counts: Counter[bytes] = Counter()
        self._last: dict[bytes, tuple[int, bytes]] = {}
        self._sums: dict[tuple[Place, str, str], Sum] = {}

    def count(self, text: bytes, numbers: Sequence[int], words: int) -> int:
        """Take the calls of ``text`` and tell how many there are.

        Each line stands behind a line end and has its number in ``numbers``; ``words`` stand before its prefix.
        """
        calls = text.count(SIGN)
        if not calls:
            return 0
        if calls * _DENSE > len(numbers):
            found = _pattern(words).findall(text)
        else:
            found, numbers = _one_by_one(text, numbers, words)
        self._counts.update(map(_join, map(_KEY, found)))
        latest = dict(zip(map(_join, map(_PLACE, found)), range(len(found)), strict=True))
        for place, index in latest.items():
            self._last[place] = numbers[index], found[index][0]
        if len(self._counts) > COUNT_LIMIT:
            self.add_up()
        return calls

    def merge(self, later: Calls) -> None:
        """Add the calls of a later part of the log."""
        self.add_up()
        later.add_up()
        for key, added in later._sums.items():
            self._add(key, added)
        self._last |= later._last

    def add_up(self) -> None:
        """Make sums of what was counted: what is left is small."""
        for key, calls in self._counts.items():
            before, function, what, comm = key.split(b"\n")
            if comm:
                count, datatype, size = _sized(what)
                power = 1 << (count * size).bit_length() - 1 if count * size else 0
                added = Sum(calls, calls * count * size, {power: calls})
                self._add((_place(before, comm), function.decode(), datatype), added)
        self._counts.clear()
        self._last.pop(b"\n", None)

    def _add(self, key: tuple[Place, str, str], added: Sum) -> None:
        held = self._sums.get(key)
        if held is not None:
            held.add(added)
        elif len(self._sums) < SUM_LIMIT:
            self._sums[key] = added

    def sums(self) -> dict[tuple[Place, str, str], Sum]:
        """By process and communicator, function and datatype."""
        self.add_up()
        return self._sums

    def last(self) -> dict[Place, Last]:
        """The last call of each process on each of its communicators."""
        self.add_up()
        return {_place(*key.split(b"\n")): _last(*told) for key, told in self._last.items()}


def _place(before: bytes, comm: bytes) -> Place:
    pointer, _, nranks = comm.partition(b" [nranks=")
    return Place(before, pointer.decode("utf-8", "replace"), _number(nranks.rstrip(b"]")))


def _sized(what: bytes) -> tuple[int, str, int]:
    """``1024 datatype 7`` to the count, the name of the datatype and its bytes (0 when there is no such type)."""
    count, _, number = what.partition(b" datatype ")
    index = _number(number)
    name, size = DATATYPES[index] if index < len(DATATYPES) else (f"datatype {index}", 0)
    return _number(count), name, size


def _number(digits: bytes) -> int:
    """Digits that were printed; 0 for anything else."""
    return int(digits) if digits.isdigit() and len(digits) < _DIGITS else 0  # bytes: ASCII digits alone


def _last(number: int, line: bytes) -> Last:
    found: Any = re.search(_CALL.encode(), line)
    op_count = _OP_COUNT.search(line)
    count, datatype, _ = _sized(found[2])
    return Last(number, line, found[1].decode(), int(op_count[1], 16) if op_count else 0, count, datatype)
