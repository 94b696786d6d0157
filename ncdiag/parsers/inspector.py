"""What NCCL's inspector plugin writes: a JSON object for each collective or point-to-point operation, summed up.

Source of the format: NCCL plugins/profiler/inspector/inspector_json.cc (2.28 to 2.30; format version v4.0). Busy jobs
write hundreds of megabytes, so that only sums are kept: by rank, communicator, operation and power of two of the size.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe

KIND = "inspector"
COMMANDS: tuple[str, ...] = ()
ANCHOR = r'\s{0,8}(?:\{\s{0,8})?"header"\s?:\s?\{(?:\s{0,8}"id"\s?:\s?"0x|\s*$)'

_BEGIN = lazy_regex(ANCHOR)
_LIKE_JSON = lazy_regex(r'\s*(?:[{}\[\],]|"\w{1,60}"\s?:)')
_MEMBERS = lazy_regex(r'\s*"(?:id|comm_name|rank|n_ranks|nnodes)"\s?:')
_MAX_GROUPS = 10_000
"""Ranks and communicators of one section; a file has those of one process."""
_DECODER = json.JSONDecoder()
_SIZE_LIMIT = 4 << 20


class _Header(msgspec.Struct):
    """``header``: the communicator and the rank in it."""

    id: str
    rank: int
    n_ranks: int | None = None
    nnodes: int | None = None
    comm_name: str | None = None


class _Metadata(msgspec.Struct):
    """``metadata``: who wrote it."""

    inspector_output_format_version: str | None = None
    hostname: str | None = None
    pid: int | None = None


class _Collective(msgspec.Struct):
    """``coll_perf``."""

    coll: str
    coll_sn: int
    coll_msg_size_bytes: int
    coll_exec_time_us: float
    coll_timing_source: str | None = None
    coll_algobw_gbs: float | None = None
    coll_busbw_gbs: float | None = None


class _PointToPoint(msgspec.Struct):
    """``p2p_perf`` (2.30)."""

    p2p: str
    p2p_sn: int
    p2p_msg_size_bytes: int
    p2p_exec_time_us: float
    p2p_timing_source: str | None = None
    p2p_algobw_gbs: float | None = None
    p2p_busbw_gbs: float | None = None


class _Record(msgspec.Struct):
    """One object of the file."""

    header: _Header
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    coll_perf: _Collective | None = None
    p2p_perf: _PointToPoint | None = None


_LINE = msgspec.json.Decoder(_Record)


def continues(lines: Sequence[str], line: str) -> bool:
    """Objects one a line; where they are printed over several lines, all that looks like JSON."""
    if not line.strip() or _BEGIN.match(line):
        return True
    if lines[0].rstrip().endswith("}"):
        return False
    if len(lines) == 1:
        return _MEMBERS.match(line) is not None
    return _LIKE_JSON.match(line) is not None


def parse(section: Section) -> Parsed:
    """An OperationProfile for each rank in each communicator."""
    profiles: dict[tuple[Any, ...], _Profile] = {}
    unread: list[int] = []
    for index, record in _records(section):
        if record is None:
            unread.append(index)
            continue
        who = record.metadata.hostname, record.metadata.pid, record.header.id, record.header.rank
        if who not in profiles:
            if len(profiles) >= _MAX_GROUPS:
                unread.append(index)
                continue
            profiles[who] = _Profile(index, record)
        profiles[who].add(record)
    found = [
        observe(section, p.index, "OperationProfile", host=p.record.metadata.hostname, **p.fields())
        for p in profiles.values()
        if p.measured
    ]
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _records(section: Section) -> Iterator[tuple[int, _Record | None]]:
    """The objects with their lines; None for a line that is none (cut off, edited)."""
    if section.lines and not section.lines[0].rstrip().endswith("}"):
        yield from _spread(section)
        return
    for index, line in enumerate(section.lines):
        if line.strip():
            yield index, _decoded(line)


def _spread(section: Section) -> Iterator[tuple[int, _Record | None]]:
    """Objects that are printed over several lines; the first may lack its brace, which is above the section."""
    text = section.text[:_SIZE_LIMIT].strip()
    if not text.startswith("{"):
        text = "{" + text
    at = line = 0
    while at < len(text):
        try:
            value, end = _DECODER.raw_decode(text, at)
            record = msgspec.convert(value, _Record)
        except (ValueError, RecursionError):  # msgspec's ValidationError among them
            yield min(line, len(section.lines) - 1), None
            return
        yield min(line, len(section.lines) - 1), record
        following = text.find("{", end)
        following = len(text) if following < 0 else following
        line += text.count("\n", at, following)
        at = following


def _decoded(line: str) -> _Record | None:
    try:
        return _LINE.decode(line)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None


class _Profile:
    """The sums of one rank in one communicator."""

    def __init__(self, index: int, record: _Record) -> None:
        self.index, self.record = index, record
        self._sums: dict[tuple[str, int], _Sum] = {}

    def add(self, record: _Record) -> None:
        """Count one operation."""
        done, p2p = record.coll_perf, record.p2p_perf
        if done is not None:
            self._add(
                done.coll[:40], done.coll_msg_size_bytes, done.coll_exec_time_us, done.coll_sn,
                (done.coll_busbw_gbs, done.coll_algobw_gbs), done.coll_timing_source,
            )  # fmt: skip
        if p2p is not None:
            self._add(
                p2p.p2p[:40], p2p.p2p_msg_size_bytes, p2p.p2p_exec_time_us, p2p.p2p_sn,
                (p2p.p2p_busbw_gbs, p2p.p2p_algobw_gbs), p2p.p2p_timing_source,
            )  # fmt: skip

    def _add(  # noqa: PLR0913, PLR0917  (what one record tells)
        self, operation: str, size: int, time: float, number: int, rates: tuple[float | None, float | None],
        timing: str | None,
    ) -> None:  # fmt: skip
        key = operation, size.bit_length()
        if key not in self._sums and len(self._sums) < _MAX_GROUPS:
            self._sums[key] = _Sum()
        if key in self._sums:
            self._sums[key].add(size, time, number, rates, timing)

    @property
    def measured(self) -> bool:
        """Was any operation in it?"""
        return bool(self._sums)

    def fields(self) -> dict[str, Any]:
        """The fields of the OperationProfile, operations in order of name and size."""
        header, metadata = self.record.header, self.record.metadata
        name = header.comm_name if header.comm_name != "unknown" else None
        rows = [{"operation": key[0], **self._sums[key].fields()} for key in sorted(self._sums)]
        return {
            "pid": metadata.pid, "communicator": header.id, "name": name or None, "rank": header.rank,
            "nranks": header.n_ranks, "nnodes": header.nnodes, "operations": rows,
            "format_version": metadata.inspector_output_format_version,
        }  # fmt: skip


class _Sum:
    """The sums of one operation in sizes of one power of two."""

    def __init__(self) -> None:
        self.count = self.bytes = 0
        self.time = 0.0
        self.sizes: list[int] = []
        self.times: list[float] = []
        self.numbers: list[int] = []
        self.busbw: list[float] = []
        self.busbw_sum = self.algbw_sum = 0.0
        self.algbw_count = self.busbw_count = 0
        self.timings: set[str] = set()

    def add(
        self, size: int, time: float, number: int, rates: tuple[float | None, float | None], timing: str | None
    ) -> None:
        """Count one operation."""
        busbw, algbw = rates
        self.count += 1
        self.bytes += size
        self.time += time
        self.sizes, self.times, self.numbers = (
            _ends(self.sizes, size),
            _ends(self.times, time),
            _ends(self.numbers, number),
        )
        if busbw is not None:
            self.busbw = _ends(self.busbw, busbw)
            self.busbw_sum += busbw
            self.busbw_count += 1
        if algbw is not None:
            self.algbw_sum += algbw
            self.algbw_count += 1
        if timing and len(self.timings) < 8:  # noqa: PLR2004  (there are three kinds of clock)
            self.timings.add(timing[:40])

    def fields(self) -> dict[str, Any]:
        """The fields of an OperationSummary."""
        fields = {
            "size_min": self.sizes[0], "size_max": self.sizes[1], "count": self.count, "bytes": self.bytes,
            "time_us": self.time, "time_us_min": self.times[0], "time_us_max": self.times[1],
            "first": self.numbers[0], "last": self.numbers[1], "timings": sorted(self.timings),
        }  # fmt: skip
        if self.busbw_count:
            fields |= {
                "busbw_min": self.busbw[0], "busbw_max": self.busbw[1],
                "busbw_mean": round(self.busbw_sum / self.busbw_count, 6),
            }  # fmt: skip
        if self.algbw_count:
            fields["algbw_mean"] = round(self.algbw_sum / self.algbw_count, 6)
        return fields


def _ends(held: list[Any], value: Any) -> list[Any]:  # noqa: ANN401  (numbers of one type)
    """The least and the greatest."""
    return [min(held[0], value), max(held[1], value)] if held else [value, value]
