"""Lines of an NCCL log that were pasted without what NCCL prints before them, read by the log scanner all the same.

Only lines whose beginning no person writes, such as ``NET/Socket : Using [0]eth0:10.0.0.1<0>`` or
``0[1b] -> 8[3e] [send]``.
"""

from __future__ import annotations

import re

import msgspec

from ncdiag.facts.observe import Observation
from ncdiag.parsers.nccl_log import Scanner
from ncdiag.spans import Section

_BARE = re.compile(
    r"(?:\S{1,80}:\d+:\d+ )?(?:\[\d{1,3}\] )?(?:(?P<level>INFO|WARN) )?(?P<text>"
    r"Bootstrap ?: Using |NET/(?:IB|Socket) ?: (?:Using |GPU Direct RDMA |No device found|Made virtual device)"
    r"|NET/OFI (?:Using|Selected|No eligible|Initializing)|Using (?:internal )?[Nn]etwork \S"
    r"|GPU Direct RDMA (?:En|Dis)abled for |NCCL_[A-Z0-9_]+ set (?:by environment )?to \S"
    r"|(?:Channel|Ring) \d[\d/]* : \d+(?:\[\w+\])? -> \d|\d+\[\w+\] -> \d+\[\w+\] "
    r"|Initialized NET plugin |comm 0x[0-9a-f]+ rank \d"
    r"|(?:socketPollConnect|socketStartConnect|socketProgress|socketProgressOpt): \S)"
)
_PAIR = re.compile(r"\d+\[\w+\] -> ")


def take(section: Section) -> tuple[tuple[Observation, ...], frozenset[int]]:
    """What the bare lines of a section tell, and the indices of these lines."""
    taken = {index: line for index, line in enumerate(section.lines) if _BARE.match(line)}
    if not taken:
        return (), frozenset()
    scanner = Scanner(section.source, host=section.host)
    for index, line in taken.items():
        scanner.feed(_with_mark(line).encode("utf-8", "replace") + b"\n", section.number(index))
    shown = {section.number(index): section.span(index) for index in taken}
    found = scanner.finish().observations
    return tuple(msgspec.structs.replace(o, span=shown.get(o.span.line, o.span)) for o in found), frozenset(taken)


def _with_mark(line: str) -> str:
    """The line with ``NCCL INFO`` (or its own level) before its message."""
    found = _BARE.match(line)
    if found is None:
        return line
    start = found.start("level") if found["level"] else found.start("text")
    rest = line[found.start("text") :]
    pair = "Channel 00/0 : " if _PAIR.match(rest) else ""
    return f"{line[:start]}NCCL {found['level'] or 'INFO'} {pair}{rest}"
