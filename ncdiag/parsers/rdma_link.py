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
from ncdiag.facts.observe import Parsed
from ncdiag.formats import basics, decoded, rdma
from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows, not_again

KIND = "rdma_link"
COMMANDS = ("rdma link", "rdma -d link", "rdma -dd link", "rdma -j link", "rdma -jp link", "rdma -j -p link")
_HEAD = r"(?:link |\d{1,5}/\d{1,3}: )[A-Za-z][\w.-]{0,63}/\d{1,3}:? "
ANCHOR = (
    _HEAD + r"(?:subnet_prefix|state) \S|\[\s?\{\s?\"ifindex\":\s?\d+,\s?\"ifname\":\s?\"[^\"]{1,64}\",\s?\"port\":"
)
_ROW = r"\s*(?:link |\d{1,5}/\d{1,3}: )([A-Za-z][\w.-]{0,63})/(\d{1,3}):? ((?:subnet_prefix|state) .*)$"
_DETAIL = r"\s+(?:caps: <|netdev_index |sm_lid |lmc )"


class _Ports(Reading):
    """A port a line; complete where no port was asked for by its name."""

    def row(self, found: re.Match[str]) -> None:
        """A port, with words and their values in turn."""
        words = found[3].split()
        self.port(found[1], int(found[2]), dict(zip(words[::2], words[1::2], strict=False)))

    def port(self, device: str, port: int, values: Mapping[str, Any]) -> None:
        """A port by the words that ``rdma`` prints, and the device of its net device."""
        words = {name: str(value) for name, value in values.items() if value is not None}
        self.observe(
            "Port",
            (device, port),
            state=rdma.port_state(words.get("state", "")),
            physical_state=rdma.physical_state(words.get("physical_state", "")),
            netdev=words.get("netdev"),
            lid=basics.number(words.get("lid", "")),
            sm_lid=basics.number(words.get("sm_lid", "")),
            link_layer="InfiniBand" if "subnet_prefix" in values else None,
        )
        if "netdev" in values:
            self.observe("Interface", (str(values["netdev"]),), hca=device)

    def complete(self) -> bool:
        """All ports are there."""
        bare = self.section.command is None or re.search(r"\blink( show)?\s*$", self.section.command) is not None
        return bool(self.found) and not self.unread and bare


ROWS = Rows(_Ports, Row(_ROW, _Ports.row, belongs=not_again), Row(_DETAIL), BLANK, ELISION, longest=1023)


def continues(lines: Sequence[str], line: str) -> bool:
    """Further links and the capabilities that ``-d`` prints, or a list in JSON."""
    return decoded.more(lines[-1], line) if decoded.begins(lines[0] or line) else ROWS.continues(lines, line)


def parse(section: Section) -> Parsed:
    """An observation a port, and the device of its net device."""
    if not section.lines or not decoded.begins(section.lines[0]):
        return ROWS.parse(section)
    reading = _Ports(section)
    for item in decoded.listed(section.text):
        if isinstance(item.get("port"), int) and "ifname" in item:
            reading.port(str(item["ifname"]).partition("/")[0], item["port"], item)
    found = tuple(reading.found)
    return Parsed(observations=found, unread=() if found else tuple(range(len(section.lines))))
