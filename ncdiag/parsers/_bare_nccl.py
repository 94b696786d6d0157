"""Lines of an NCCL log that were pasted without what NCCL prints before them, read by the log scanner all the same.

Only lines whose beginning no person writes, such as ``NET/Socket : Using [0]eth0:10.0.0.1<0>`` or
``0[1b] -> 8[3e] [send]``. Before 2.3 NCCL printed no ``NCCL`` itself, and ``0 -> 1 via P2P/IPC``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation
from ncdiag.parsers import _program
from ncdiag.parsers.nccl_log import Scanner
from ncdiag.parsers.nccl_log.transports import parse_link

_BARE = lazy_regex(
    r"(?:\S{1,80}:\d+:\d+ )?(?:\[\d{1,3}\] )?(?:(?P<level>INFO|WARN) )?(?P<text>"
    r"Bootstrap ?: Using |NET/(?:IB|Socket) ?: (?:Using |GPU Direct RDMA |No device found|Made virtual device)"
    r"|NET/OFI (?:Using|Selected|No eligible|Initializing)|Using (?:internal )?[Nn]etwork \S"
    r"|GPU Direct RDMA (?:En|Dis)abled for |NCCL_[A-Z0-9_]+ set (?:by environment )?to \S"
    r"|(?:Channel|Ring) \d[\d/]* : \d+(?:\[\w+\])? -> \d|\d+\[\w+\] -> \d+\[\w+\] "
    r"|\d{1,5} -> \d{1,5} (?:\[(?:send|receive)\] )?via (?:P2P/|NET/|direct shared memory)"
    r"|Initialized NET plugin |comm 0x[0-9a-f]+ rank \d)"
)
_PAIR = lazy_regex(r"\d+(?P<device>\[\w+\])? -> ")
_LINK = lazy_regex(r"(?:(?:Channel|Ring) \d[\d/]* : )?(\d.*)")


def take(section: Section) -> tuple[tuple[Observation, ...], frozenset[int]]:
    """What the bare lines of a section tell, and the indices of these lines.

    A channel line without a process tells the rank that printed it: each rank is read on its own.
    """
    printers: dict[int | None, list[int]] = defaultdict(list)
    before = ""
    for index, line in enumerate(section.lines):
        if is_bare(line) and not _program.expects(before):
            printers[_printer(line)].append(index)
        before = line
    found = tuple(observation for rank, indices in printers.items() for observation in _scanned(section, indices, rank))
    return found, frozenset(index for indices in printers.values() for index in indices)


def is_bare(line: str) -> bool:
    """Is this a line of NCCL without what NCCL prints before it?"""
    return _BARE.match(line) is not None


def _scanned(section: Section, indices: list[int], rank: int | None) -> Iterator[Observation]:
    scanner = Scanner(section.source, host=section.host)
    for index in indices:
        scanner.feed(_with_mark(section.lines[index]).encode("utf-8", "replace") + b"\n", section.number(index))
    shown = {section.number(index): section.span(index) for index in indices}
    for observation in scanner.finish().observations:
        where = observation.span
        key = (*observation.key, rank) if observation.entity == "Rank" and rank is not None else observation.key
        yield msgspec.structs.replace(observation, span=shown.get(where.line, where), key=key)


def _printer(line: str) -> int | None:
    """The rank that printed a channel line with nothing before it; None for all other lines."""
    found = _LINK.match(line)
    link = parse_link(found[1][:300]) if found else None
    return link.rank if link else None


def _with_mark(line: str) -> str:
    """The line with ``NCCL INFO`` (or its own level) before its message."""
    found = _BARE.match(line)
    if found is None:
        return line
    start = found.start("level") if found["level"] else found.start("text")
    rest = line[found.start("text") :]
    ends = _PAIR.match(rest)
    pair = "" if ends is None else "Channel 00/0 : " if ends["device"] else "Ring 00 : "
    return f"{line[:start]}NCCL {found['level'] or 'INFO'} {pair}{rest}"
