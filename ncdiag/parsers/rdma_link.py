"""``rdma link``: the ports of all RDMA devices with state and net device.

Format: iproute2, rdma/link.c: ``link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev eth0``; InfiniBand ports have
``subnet_prefix``, ``lid``, ``sm_lid`` and ``lmc`` in front of the state. Older releases begin with ``0/1: mlx5_0/1:``.
``-d`` adds lines of capabilities, which are not read; ``-j`` prints the same words as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import basics, decoded, rdma

KIND = "rdma_link"
COMMANDS = ("rdma link", "rdma -d link", "rdma -dd link", "rdma -j link", "rdma -jp link", "rdma -j -p link")
_HEAD = r"(?:link |\d{1,5}/\d{1,3}: )[A-Za-z][\w.-]{0,63}/\d{1,3}:? "
ANCHOR = (
    _HEAD + r"(?:subnet_prefix|state) \S|\[\s?\{\s?\"ifindex\":\s?\d+,\s?\"ifname\":\s?\"[^\"]{1,64}\",\s?\"port\":"
)
_ROW = re.compile(r"\s*(?:link |\d{1,5}/\d{1,3}: )([A-Za-z][\w.-]{0,63})/(\d{1,3}):? ((?:subnet_prefix|state) .*)$")
_DETAIL = re.compile(r"\s+(?:caps: <|netdev_index |sm_lid |lmc )")
_LINE_LIMIT = 1024


def continues(lines: Sequence[str], line: str) -> bool:
    """Further links and the capabilities that ``-d`` prints; the first link again is another host's output."""
    return rdma.more(lines, line, _ROW, _DETAIL)


def parse(section: Section) -> Parsed:
    """An observation a port, and the device of its net device."""
    if section.lines and decoded.begins(section.lines[0]):
        ports = [
            item for item in decoded.listed(section.text) if isinstance(item.get("port"), int) and "ifname" in item
        ]
        read = [
            o for item in ports for o in _port(section, 0, str(item["ifname"]).partition("/")[0], item["port"], item)
        ]
        return Parsed(observations=tuple(read), unread=() if ports else tuple(range(len(section.lines))))
    found: list[Observation] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        row = _ROW.match(line) if len(line) < _LINE_LIMIT else None
        if row:
            words = row[3].split()
            found += _port(section, index, row[1], int(row[2]), dict(zip(words[::2], words[1::2], strict=False)))
        elif line.strip() and not _DETAIL.match(line):
            unread.append(index)
    bare = section.command is None or re.search(r"\blink( show)?\s*$", section.command) is not None
    return Parsed(observations=tuple(found), unread=tuple(unread), complete=bool(found) and not unread and bare)


def _port(section: Section, index: int, device: str, port: int, values: Mapping[str, Any]) -> list[Observation]:
    def get(name: str, default: str | None = None) -> Any:  # noqa: ANN401
        value = values.get(name)
        return default if value is None else str(value)

    found = [
        observe(
            section,
            index,
            "Port",
            (device, port),
            state=rdma.port_state(get("state", "")),
            physical_state=rdma.physical_state(get("physical_state", "")),
            netdev=get("netdev"),
            lid=basics.number(get("lid", "")),
            sm_lid=basics.number(get("sm_lid", "")),
            link_layer="InfiniBand" if "subnet_prefix" in values else None,
        )
    ]
    if "netdev" in values:
        found.append(observe(section, index, "Interface", (str(values["netdev"]),), hca=device))
    return found
