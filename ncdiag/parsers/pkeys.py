"""Partition keys of RDMA ports as a shell shows /sys: a file and its key a line, as ``grep -H .`` prints them.

Source of the format: Linux Documentation/ABI/stable/sysfs-class-infiniband (pkeys: the keys of the port's table by
index, bit 15 set for a full member); grep prints ``FILE:LINE``.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats import basics, rdma

KIND = "pkeys"
COMMANDS: tuple[str, ...] = ()
ANCHOR = r"(?:/sys/class/infiniband/)?[A-Za-z][\w.-]{0,62}/ports/\d{1,3}/pkeys/\d{1,3}:[ \t]?0x[0-9a-fA-F]{4}[ \t]*$"

_LINE = re.compile(
    r"(?:/sys/class/infiniband/)?(?P<hca>[A-Za-z][\w.-]{0,62})/ports/(?P<port>\d{1,3})/pkeys/(?P<index>\d{1,3}):\s?"
    r"(?P<key>0x[0-9a-fA-F]{4})\s*$"
)


def continues(lines: Sequence[str], line: str) -> bool:
    """One key a line; the first file again is another host's."""
    found = _LINE.match(line)
    return basics.is_elision(line) if found is None else line.partition(":")[0] != lines[0].partition(":")[0]


def parse(section: Section) -> Parsed:
    """The table of each port; below its last entry, one that is not shown (``grep -v 0x0000``) is empty."""
    tables: dict[tuple[str, int], dict[int, str]] = defaultdict(dict)
    first: dict[tuple[str, int], int] = {}
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        found = _LINE.match(line)
        if found:
            place = found["hca"], int(found["port"])
            tables[place][int(found["index"])] = found["key"]
            first.setdefault(place, index)
        elif line.strip() and not basics.is_elision(line):
            unread.append(index)
    ports = (
        observe(section, first[place], "Port", place, pkeys=rdma.pkey_table(table)) for place, table in tables.items()
    )
    return Parsed(observations=tuple(ports), unread=tuple(unread))
