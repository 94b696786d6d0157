"""Megatrace's logs of NCCL calls: when each rank called which collective, sampled so that long logs stay small.

Source of the format: sii-research/Megatrace trace/analysis/README.md and doc/LOG_FORMAT_AND_PARSING.md. First form:
``[save_count 1] [1755275536.335349923] [Rank 0] Fun AllReduce Data 4096 stream 0x564f06ff8bd0 opCount 7``; second, with
the address and the name of the host before it: ``[10.0.0.4] [srv1] [save_count 1] [1768121799.08] [Rank 0] [PCI
0000:18:00.0] [Func ncclAllGather] [Data 4096] [stream (nil)] [opCount 7] [groupHash 0x8e59]``. ``opCount`` counts the
calls of a communicator, whose stream has another address on each rank.
"""

from __future__ import annotations

import itertools
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex

LINE = (
    r"(?:\[[^\]\n]{1,200}\] ?){0,12}\[save_count \d{1,12}\] \[\d{9,12}\.\d{1,9}\] \[Rank \d{1,7}\]"
    r" \[?(?:Fun |PCI |Func )"
)
"""The beginning of a line."""
_LINE = lazy_regex(
    r"(?:\[[^\]\n]{1,200}\] ?){0,10}?(?:\[[^\]\n]{1,200}\] ?\[(?P<host>[^\]\n]{1,200})\] ?)?\[save_count \d{1,12}\]"
    r" \[(?P<time>\d{9,12}\.\d{1,9})\] \[Rank (?P<rank>\d{1,7})\](?: \[PCI [^\]]{0,40}\])?"
    r" \[?Func? (?:nccl)?(?P<name>\w{1,40})\]? \[?Data (?P<size>\d{1,19})\]?"
    r" \[?stream (?P<stream>[\w()]{1,40})\]? \[?opCount (?P<number>\d{1,15})\]?"
    r"(?: \[?groupHash (?P<group>-?\w{1,40})\]?)?"
)
_PAIRS = frozenset({"Send", "Recv"})
_KEPT = 2048
"""Calls that are kept of a communicator of a rank, or up to twice as many: a line stays below 64 KiB."""
_HELD = 1 << 20
"""Calls that are kept of all."""
_RANKS, _STREAMS, _KINDS = 4096, 32, 52
FIELDS = (
    "rank", "on_host", "stream", "group", "pairs", "stride", "kinds", "calls", "numbers", "begin", "times",
)  # fmt: skip
"""The fields of a summary, in their order in a line."""
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


class _Stream(msgspec.Struct):
    """Every ``stride``-th call by its number: its kind, and microseconds since the epoch."""

    order: int
    group: str | None
    stride: int = 1
    kinds: dict[str, str] = {}
    calls: dict[int, tuple[str, int]] = {}


class Megatrace:
    """The calls of the ranks of one or several logs."""

    def __init__(self) -> None:
        """No line was read."""
        self._ranks: dict[int, dict[str, _Stream]] = {}
        self._hosts: dict[int, str | None] = {}
        self._pairs: set[int] = set()
        self._held = 0

    def read(self, line: str) -> bool:
        """Read a line; False for one that is none of a log."""
        found = _LINE.match(line)
        if found is None:
            return False
        rank = int(found["rank"])
        if rank not in self._ranks and len(self._ranks) >= _RANKS:
            return True
        streams = self._ranks.setdefault(rank, {})
        self._hosts.setdefault(rank, found["host"])
        if found["name"] in _PAIRS:
            self._pairs.add(rank)
            return True
        key = found["group"] or found["stream"]
        stream = streams.get(key)
        if stream is None:
            if len(streams) >= _STREAMS:
                return True
            stream = streams[key] = _Stream(len(streams), found["group"])
        seconds, _, part = found["time"].partition(".")
        self._held += _add(
            stream, int(found["number"]), f"{found['name']} {found['size']}", int(seconds + part[:6].ljust(6, "0"))
        )
        if self._held > _HELD:
            self._held = sum(_thin(one) for streams in self._ranks.values() for one in streams.values())
        return True

    def summaries(self) -> list[dict[str, Any]]:
        """The fields of a `CallTimes` for the communicator of each rank that has most calls."""
        busiest = (
            (rank, max(streams.values(), key=lambda one: len(one.calls) * one.stride))
            for rank, streams in self._ranks.items()
            if streams
        )
        return [self._summary(rank, stream) for rank, stream in busiest if stream.calls]

    def _summary(self, rank: int, stream: _Stream) -> dict[str, Any]:
        calls = sorted(stream.calls.items())
        begin = calls[0][1][1] // 10**6
        times = [begin * 10**6, *(time for _, (_, time) in calls)]
        return {
            "rank": rank, "on_host": self._hosts[rank], "stream": stream.order, "group": stream.group,
            "pairs": rank in self._pairs, "stride": stream.stride, "kinds": list(stream.kinds),
            "calls": "".join(letter for _, (letter, _) in calls), "numbers": [number for number, _ in calls],
            "begin": begin, "times": [own - before for before, own in itertools.pairwise(times)],
        }  # fmt: skip


def _add(stream: _Stream, number: int, kind: str, time: int) -> int:
    """Keep a call, and return by how many more calls are kept."""
    before = len(stream.calls)
    if number % stream.stride:
        return 0
    letter = stream.kinds.get(kind)
    if letter is None:
        letter = _LETTERS[min(len(stream.kinds), _KINDS - 1)]
        if len(stream.kinds) < _KINDS:
            stream.kinds[kind] = letter
    stream.calls.setdefault(number, (letter, time))
    if len(stream.calls) >= 2 * _KEPT:
        _thin(stream)
    return len(stream.calls) - before


def _thin(stream: _Stream) -> int:
    """Keep every other call, and return how many are left."""
    stream.stride *= 2
    stream.calls = {at: call for at, call in stream.calls.items() if at % stream.stride == 0}
    return len(stream.calls)
