r"""``ibv_devices``: the RDMA devices that libibverbs sees, with their node GUIDs.

Source of the format: rdma-core libibverbs/examples/device_list.c (a heading, then ``    mlx5_0          \t...``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats import basics, rdma

KIND = "ibv_devices"
COMMANDS: tuple[str, ...] = ("ibv_devices",)
ANCHOR = r"[ \t]{4}device[ \t]{1,24}node GUID[ \t]*$"

_HEAD = re.compile(r"\s{1,8}(?:device\s+node GUID|-{4,8}\s+-{8,24})\s*$")
_ROW = re.compile(r"\s{1,8}(?P<name>[A-Za-z][\w.-]{0,63})\s{1,24}(?P<guid>[0-9a-f]{16})\s*$")


def continues(lines: Sequence[str], line: str) -> bool:
    """The heading and a device a line."""
    return _ROW.match(line) is not None or (_HEAD.match(line) is not None and line not in lines)


def parse(section: Section) -> Parsed:
    """The devices; complete below the heading, where none means that there is none."""
    found = []
    unread: list[int] = []
    headed = False
    for index, line in enumerate(section.lines):
        row = _ROW.match(line)
        headed = headed or _HEAD.match(line) is not None
        if row:
            found.append(observe(section, index, "Hca", (row["name"],), node_guid=rdma.guid(row["guid"])))
        elif line.strip() and not _HEAD.match(line):
            unread.append(index)
    whole = headed and not unread and basics.unfiltered(section.command, "ibv_devices")
    return Parsed(observations=tuple(found), unread=tuple(unread), complete=whole)
