"""``rdma statistic`` (``rdma statistic show link``): the hardware counters of RDMA ports.

Source of the format: iproute2 rdma/stat.c (res_get_hwcounters): ``link mlx5_0/1`` and pairs of name and value, which
terminals wrap.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe

KIND = "rdma_statistic"
COMMANDS: tuple[str, ...] = ("rdma statistic", "rdma stat", "rdma stats")
_PAIR = r"[a-z][a-z0-9_]{2,60} \d{1,20}"
ANCHOR = rf"link [\w.-]{{1,64}}/\d{{1,4}} {_PAIR} {_PAIR}(?:\s|$)"

_LINK = re.compile(r"link (?P<hca>[\w.-]{1,64})/(?P<port>\d{1,4})(?P<rest>(?:\s.*)?)$")
_PAIRS = re.compile(r"(?<!\S)([a-z][a-z0-9_]{2,60})\s{1,4}(\d{1,20})(?!\S)")
_WRAPPED = re.compile(rf"\s{{0,8}}{_PAIR}(?:\s|$)")
_LONGEST = 65536


def continues(lines: Sequence[str], line: str) -> bool:
    """A line for each port, and what a terminal wrapped."""
    return not line.strip() or bool(_WRAPPED.match(line)) or re.match(ANCHOR, line) is not None


def parse(section: Section) -> Parsed:
    """The counters of each port."""
    ports: dict[tuple[str, int], tuple[int, dict[str, int]]] = {}
    unread: list[int] = []
    current: dict[str, int] | None = None
    for index, line in enumerate(section.lines):
        link = _LINK.match(line)
        if link:
            current = ports.setdefault((link["hca"], int(link["port"])), (index, {}))[1]
        if current is None or (not link and not _WRAPPED.match(line)):
            if line.strip():
                unread.append(index)
            continue
        current.update(
            (name, int(value)) for name, value in _PAIRS.findall((link["rest"] if link else line)[:_LONGEST])
        )
    found = [observe(section, line, "Port", key, counters=told) for key, (line, told) in ports.items() if told]
    return Parsed(observations=tuple(found), unread=tuple(unread))
