"""Partition keys of RDMA ports as a shell shows /sys: a file and its key a line, as ``grep -H .`` prints them.

Source of the format: Linux Documentation/ABI/stable/sysfs-class-infiniband (pkeys: the keys of the port's table by
index, bit 15 set for a full member); grep prints ``FILE:LINE``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.formats import basics, rdma
from ncdiag.parsers._rows import Reading, Row, Rows

KIND = "pkeys"
COMMANDS: tuple[str, ...] = ()
ANCHOR = r"(?:/sys/class/infiniband/)?[A-Za-z][\w.-]{0,62}/ports/\d{1,3}/pkeys/\d{1,3}:[ \t]?0x[0-9a-fA-F]{4}[ \t]*$"

_LINE = (
    r"(?:/sys/class/infiniband/)?(?P<hca>[A-Za-z][\w.-]{0,62})/ports/(?P<port>\d{1,3})/pkeys/(?P<index>\d{1,3}):\s?"
    r"(?P<key>0x[0-9a-fA-F]{4})\s*$"
)


class _Tables(Reading):
    """The table of each port; below its last entry, one that is not shown (``grep -v 0x0000``) is empty."""

    def __init__(self, section: Section) -> None:
        """No entry was read yet."""
        super().__init__(section)
        self.tables: dict[tuple[str, int], dict[int, str]] = defaultdict(dict)
        self.first: dict[tuple[str, int], int] = {}

    def entry(self, found: re.Match[str]) -> None:
        """One key a line."""
        place = found["hca"], int(found["port"])
        self.tables[place][int(found["index"])] = found["key"]
        self.first.setdefault(place, self.index)

    def end(self) -> None:
        """An observation for each port."""
        for place, table in self.tables.items():
            self.observe("Port", place, at=self.first[place], pkeys=rdma.pkey_table(table))


def _other_file(lines: Sequence[str], line: str) -> bool:
    """The first file again is that of another host."""
    return line.partition(":")[0] != lines[0].partition(":")[0]


ROWS = Rows(_Tables, Row(_LINE, _Tables.entry, belongs=_other_file), Row(basics.is_elision))
