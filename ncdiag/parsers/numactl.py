"""``numactl --hardware`` (``-H``): the NUMA nodes with their processors and memory.

Source of the format: numactl 2.0.18 numactl.c (hardware, print_distances).
"""

from __future__ import annotations

import re

from ncdiag.base.spans import Section
from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows, not_again

KIND = "numactl"
COMMANDS: tuple[str, ...] = ("numactl -H", "numactl --hardware")
ANCHOR = r"available: \d{1,4} nodes? \(\d{1,4}"


class _Nodes(Reading):
    """The memory of each node that has processors: GPUs have nodes too, which are empty without their driver's use."""

    def __init__(self, section: Section) -> None:
        """No node was read."""
        super().__init__(section)
        self.bare: set[int] = set()
        self.empty: list[int] = []
        self.at: int | None = None

    def bare_node(self, found: re.Match[str]) -> None:
        """``node 2 cpus:`` with none."""
        self.bare.add(int(found["node"]))

    def size(self, found: re.Match[str]) -> None:
        """``node 1 size: 0 MB``; a node without memory is the line to show."""
        is_empty = not int(found["size"]) and int(found["node"]) not in self.bare
        if self.at is None or (is_empty and not self.empty):
            self.at = self.index
        if is_empty:
            self.empty.append(int(found["node"]))

    def end(self) -> None:
        """The nodes without memory."""
        if self.at is not None:
            self.observe("Host", at=self.at, numa_without_memory=self.empty)


ROWS = Rows(
    _Nodes,
    Row(ANCHOR, belongs=not_again),
    Row(r"node (?P<node>\d{1,4}) size: (?P<size>\d{1,9}) MB\s*$", _Nodes.size),
    Row(r"node (?P<node>\d{1,4}) cpus:\s*$", _Nodes.bare_node),
    Row(r"node \d{1,4} (?:cpus|free):"),
    Row(r"node distances:\s*$"),
    Row(r"node(?:\s{1,6}\d{1,4}){1,64}\s*$"),
    Row(r"\s{0,6}\d{1,4}:(?:\s{1,6}\d{1,4}){1,64}\s*$"),
    BLANK,
    ELISION,
)
