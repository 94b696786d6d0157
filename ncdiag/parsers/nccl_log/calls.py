"""The lines of NCCL's collective trace, added up: ``AllReduce: opCount 1f sendbuff .. count 1024 datatype 7 ..``.

Printed with NCCL_DEBUG_SUBSYS=COLL for each call of each rank (src/enqueue.cc, since 2.4.2; in 2.3.7 by the files of
the functions; 2.3.5 does not name the function: ``opCount 1f sendbuff .. count 1024 size 4 datatype 7 ..``). There may
be hundreds of millions: they are counted by process, communicator, function, count and datatype, and of each process
and communicator the last one is kept, for the rank that is behind when a job hangs.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from ncdiag.base.patterns import lazy_regex

SIGN = b"opCount "
NAMELESS = "collective"
"""What stands for the function that 2.3.5 does not name."""
SUM_LIMIT = 1 << 18
"""Sums that are kept (processes times communicators, functions and datatypes)."""

DATATYPES = (
    ("int8", 1), ("uint8", 1), ("int32", 4), ("uint32", 4), ("int64", 8), ("uint64", 8), ("float16", 2), ("float32", 4),
    ("float64", 8), ("bfloat16", 2), ("float8e4m3", 1), ("float8e5m2", 1),
)  # fmt: skip
"""By ncclDataType_t (src/nccl.h.in): its name and its bytes."""

CALL = (
    r"([^ ]*): opCount [^ ]* sendbuff [^ ]* recvbuff [^ ]* count ([^ ]* datatype [^ ]*) op [^ ]* root [^ ]* "
    r"comm ([^ ]* \[nranks=[^ ]*) .*"
)
"""Inner words may be anything but a blank, which is the fastest to match; the words around them hold it together.

Its groups are the function, the count with the datatype, and the communicator.
"""
ANY_CALL = (
    r"(?:([^ ]*): )?opCount [^ ]* sendbuff [^ ]* recvbuff [^ ]* count ([^ ]*(?: size [^ ]*)? datatype [^ ]*) op [^ ]* "
    r"(?:root [^ ]* )?comm ([^ ]* \[nranks=[^ ]*) .*"
)
"""The same, with the forms of 2.3.5: too slow for all lines of a log."""
_CALL = lazy_regex(ANY_CALL.encode())
_DIGITS = 19
_OP_COUNT = lazy_regex(rb"opCount ([0-9a-f]{1,16}) ")
_PLACE = operator.itemgetter(0, 4)


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


class Calls:
    """All calls of a source."""

    def __init__(self) -> None:
        """None yet."""
        self._last: dict[tuple[bytes, bytes], tuple[int, bytes]] = {}
        self._sums: dict[tuple[Place, str, str], Sum] = {}

    def latest(self, found: Sequence[tuple[bytes, ...]], lines: Sequence[bytes], numbers: Sequence[int]) -> None:
        """Note the last call of each process and communicator; ``found`` are the `bulk.Fields` of the lines."""
        for place, index in dict(zip(map(_PLACE, found), range(len(found)), strict=True)).items():
            if place[1]:
                self._last[place] = numbers[index], lines[index]

    def add(self, before: bytes, function: bytes, what: bytes, comm: bytes, calls: int) -> None:
        """Add so many equal calls of one process."""
        count, datatype, size = _sized(what)
        power = 1 << (count * size).bit_length() - 1 if count * size else 0
        added = Sum(calls, calls * count * size, {power: calls})
        self._add((_place(before, comm), function.decode() or NAMELESS, datatype), added)

    def merge(self, later: Calls) -> None:
        """Add the calls of a later part of the log."""
        for key, added in later._sums.items():
            self._add(key, added)
        self._last |= later._last

    def _add(self, key: tuple[Place, str, str], added: Sum) -> None:
        held = self._sums.get(key)
        if held is not None:
            held.add(added)
        elif len(self._sums) < SUM_LIMIT:
            self._sums[key] = added

    def sums(self) -> dict[tuple[Place, str, str], Sum]:
        """By process and communicator, function and datatype."""
        return self._sums

    def last(self) -> dict[Place, Last]:
        """The last call of each process on each of its communicators."""
        return {_place(*place): _last(*told) for place, told in self._last.items()}


@functools.lru_cache(1 << 14)
def _place(before: bytes, comm: bytes) -> Place:
    pointer, _, nranks = comm.partition(b" [nranks=")
    return Place(before, pointer.decode("utf-8", "replace"), _number(nranks.rstrip(b"]")))


@functools.lru_cache(1 << 12)
def _sized(what: bytes) -> tuple[int, str, int]:
    """``1024 datatype 7`` to the count, the name of the datatype and its bytes (0 when there is no such type)."""
    count, _, number = what.partition(b" datatype ")
    count = count.partition(b" ")[0]
    index = _number(number)
    name, size = DATATYPES[index] if index < len(DATATYPES) else (f"datatype {index}", 0)
    return _number(count), name, size


def _number(digits: bytes) -> int:
    """Digits that were printed; 0 for anything else."""
    return int(digits) if digits.isdigit() and len(digits) < _DIGITS else 0  # bytes: ASCII digits alone


def _last(number: int, line: bytes) -> Last:
    found: Any = _CALL.search(line, max(line.find(b"NCCL INFO "), 0))
    op_count = _OP_COUNT.search(line)
    count, datatype, _ = _sized(found[2])
    function = (found[1] or b"").decode() or NAMELESS
    return Last(number, line, function, int(op_count[1], 16) if op_count else 0, count, datatype)
