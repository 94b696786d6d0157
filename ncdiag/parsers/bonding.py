"""``/proc/net/bonding/<bond>``: mode, members and their links.

Format: Linux, drivers/net/bonding/bond_procfs.c. The file does not name its own bond: the name comes from the command
that printed it (``cat /proc/net/bonding/bond0``) or from what ``grep`` put before the lines, else the bond is called
after its first member. MII status ``up`` is a live link; a member's permanent address is not the one that it uses, so
it is not read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import basics
from ncdiag.formats.rdma import UNNAMED

KIND = "bonding"
COMMANDS = ("cat /proc/net/bonding",)
ANCHOR = r"Ethernet Channel Bonding Driver: v\d|Bonding Mode: \S|Slave Interface: \S"
_VALUE = re.compile(r"\s*([A-Za-z0-9][\w ()/.:]{1,48}?):(?:\s(.*))?$")
_TITLE = re.compile(r"\s*(?:802\.3ad info|details (?:actor|partner) lacp pdu:|bond \S+ has no active aggregator)")
_NAME = re.compile(r"/proc/net/bonding/([\w.-]{1,64})")
_KNOWN = frozenset({
    "Bonding Mode", "Primary Slave", "Currently Active Slave", "Transmit Hash Policy", "MII Status", "Up Delay (ms)",
    "MII Polling Interval (ms)", "Down Delay (ms)", "Peer Notification Delay (ms)", "ARP Polling Interval (ms)",
    "ARP IP target/s (n.n.n.n form)", "NS IPv6 target/s (xx::xx form)", "ARP Missed Max", "LACP rate",
    "LACP active", "Min links", "System priority",
    "Aggregator selection policy (ad_select)", "System MAC address", "Active Aggregator Info", "Aggregator ID",
    "Number of ports", "Actor Key", "Partner Key", "Partner Mac Address", "Slave Interface", "Speed", "Duplex",
    "Link Failure Count", "Permanent HW addr", "Slave queue ID", "Actor Churn State", "Partner Churn State",
    "Actor Churned Count", "Partner Churned Count", "system priority", "system mac address", "port key",
    "port priority", "port number", "port state", "oper key",
})  # fmt: skip
_LINE_LIMIT = 512


def continues(lines: Sequence[str], line: str) -> bool:
    """The names that the file has; a further driver line is the next bond."""
    if not line.strip() or _TITLE.match(line):
        return True
    if line.strip() in _KNOWN:
        return True  # its value is cut off
    found = _VALUE.match(line) if len(line) < _LINE_LIMIT else None
    return found is not None and found[1] in _KNOWN and (found[1] != "Bonding Mode" or len(lines) < 3)  # noqa: PLR2004


def parse(section: Section) -> Parsed:
    """An observation of the bond and one a member."""
    named = _NAME.search(section.command or section.prefix)
    bond: dict[str, Any] = {}
    members: list[tuple[int, str, dict[str, Any]]] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        found = _VALUE.match(line) if len(line) < _LINE_LIMIT else None
        if found:
            name, value = found[1], (found[2] or "").strip()
            if name == "Slave Interface" and value:
                members.append((index, value, {}))
            else:
                _put(members[-1][2] if members else bond, name, value)
        elif line.strip() and not _TITLE.match(line) and line.strip() not in _KNOWN:
            unread.append(index)
    if "bond_mode" not in bond and not members:
        return Parsed(unread=tuple(unread))
    return _result(section, named[1] if named else None, bond, members, unread)


def _put(fields: dict[str, Any], name: str, value: str) -> None:
    if name == "Bonding Mode":
        fields.setdefault("bond_mode", value)
    elif name == "MII Status":
        fields.setdefault("running", value == "up")
    elif name == "Speed":
        speed = basics.quantity(value)
        fields.setdefault("speed_mbps", int(speed) if speed else None)


def _result(
    section: Section, name: str | None, bond: dict[str, Any], members: list[tuple[int, str, dict[str, Any]]],
    unread: list[int],
) -> Parsed:  # fmt: skip
    slaves = [member for _, member, _ in members]
    key = name or (f"bond of {slaves[0]}" if slaves else UNNAMED)
    found: list[Observation] = [observe(section, 0, "Interface", (key,), kind="bond", slaves=slaves or None, **bond)]
    found += [observe(section, index, "Interface", (slave,), master=name, **own) for index, slave, own in members]
    return Parsed(observations=tuple(found), unread=tuple(unread))
