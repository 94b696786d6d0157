"""``rdma statistic`` (``rdma statistic show link``): the hardware counters of RDMA ports.

Source of the format: iproute2 rdma/stat.c (res_get_hwcounters): ``link mlx5_0/1`` and pairs of name and value, which
terminals wrap.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows
from ncdiag.parsers._traffic import keep_traffic

KIND = "rdma_statistic"
COMMANDS: tuple[str, ...] = ("rdma statistic", "rdma stat", "rdma stats")
_PAIR = r"[a-z][a-z0-9_]{2,60} \d{1,20}"
ANCHOR = rf"link [\w.-]{{1,64}}/\d{{1,4}} {_PAIR} {_PAIR}(?:\s|$)"

_LINK = r"link (?P<hca>[\w.-]{1,64})/(?P<port>\d{1,4})(?:\s|$)"
_FIRST = lazy_regex(ANCHOR)
_PAIRS = lazy_regex(r"(?<!\S)([a-z][a-z0-9_]{2,60})\s{1,4}(\d{1,20})(?!\S)")
_LONGEST = 65536


class _Counters(Reading):
    """The counters of each port."""

    def __init__(self, section: Section) -> None:
        """No port has begun."""
        super().__init__(section)
        self.ports: dict[tuple[str, int], tuple[int, dict[str, int]]] = {}
        self.current: dict[str, int] | None = None

    def link(self, found: re.Match[str]) -> None:
        """A port with its counters."""
        self.current = self.ports.setdefault((found["hca"], int(found["port"])), (self.index, {}))[1]
        self.counters(found)

    def counters(self, _: re.Match[str]) -> bool:
        """Counters of the port that has begun; what a terminal wrapped is a line by itself."""
        if self.current is not None:
            self.current.update((name, int(value)) for name, value in _PAIRS.findall(self.line[:_LONGEST]))
        return self.current is not None

    def end(self) -> None:
        """An observation for each port that has counters."""
        for key, (at, counters) in self.ports.items():
            if counters:
                self.observe("Port", key, at=at, counters=counters)
                keep_traffic(self, f"{key[0]}/{key[1]}", counters, at)


ROWS = Rows(
    _Counters,
    Row(_LINK, _Counters.link, belongs=lambda _, line: _FIRST.match(line) is not None),
    Row(rf"\s{{0,8}}{_PAIR}(?:\s|$)", _Counters.counters),
    BLANK,
)
