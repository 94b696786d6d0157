"""``/proc/net/bonding/<bond>``: mode, members and their links.

Format: Linux, drivers/net/bonding/bond_procfs.c. The file does not name its own bond: the name comes from the command
that printed it (``cat /proc/net/bonding/bond0``) or from what ``grep`` put before the lines, else the bond is called
after its first member. MII status ``up`` is a live link; a member's permanent address is not the one that it uses, so
it is not read.
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.formats import basics
from ncdiag.formats.rdma import UNNAMED
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows, never

KIND = "bonding"
COMMANDS = ("cat /proc/net/bonding",)
ANCHOR = r"Ethernet Channel Bonding Driver: v\d|Bonding Mode: \S|Slave Interface: \S"
_NAME = lazy_regex(r"/proc/net/bonding/([\w.-]{1,64})")
_TITLE = r"\s*(?:802\.3ad info|details (?:actor|partner) lacp pdu:|bond \S+ has no active aggregator)"
_KNOWN = "|".join(map(re.escape, (
    "Primary Slave", "Currently Active Slave", "Transmit Hash Policy", "MII Status", "Up Delay (ms)",
    "MII Polling Interval (ms)", "Down Delay (ms)", "Peer Notification Delay (ms)", "ARP Polling Interval (ms)",
    "ARP IP target/s (n.n.n.n form)", "NS IPv6 target/s (xx::xx form)", "ARP Missed Max", "LACP rate",
    "LACP active", "Min links", "System priority",
    "Aggregator selection policy (ad_select)", "System MAC address", "Active Aggregator Info", "Aggregator ID",
    "Number of ports", "Actor Key", "Partner Key", "Partner Mac Address", "Slave Interface", "Speed", "Duplex",
    "Link Failure Count", "Permanent HW addr", "Slave queue ID", "Actor Churn State", "Partner Churn State",
    "Actor Churned Count", "Partner Churned Count", "system priority", "system mac address", "port key",
    "port priority", "port number", "port state", "oper key",
)))  # fmt: skip
_HEAD = 3
"""Lines within which the mode of a bond is; further down it is that of the next one."""


class _Bond(Reading):
    """An observation of the bond and one a member."""

    def __init__(self, section: Section) -> None:
        """No value was read yet."""
        super().__init__(section)
        self.bond: dict[str, Any] = {}
        self.members: list[tuple[int, str, dict[str, Any]]] = []

    def value(self, found: re.Match[str]) -> None:
        """A name and its value, of the bond or of the member above."""
        name, value = found[1], (found[2] or "").strip()
        fields = self.members[-1][2] if self.members else self.bond
        if name == "Slave Interface" and value:
            self.members.append((self.index, value, {}))
        elif name == "Bonding Mode":
            fields.setdefault("bond_mode", value)
        elif name == "MII Status":
            fields.setdefault("running", value == "up")
        elif name == "Partner Mac Address" and not self.members:
            fields.setdefault("lacp_partner", value.lower() or None)
        elif name == "Speed":
            speed = basics.quantity(value)
            fields.setdefault("speed_mbps", int(speed) if speed else None)

    def end(self) -> None:
        """The bond, then its members."""
        if "bond_mode" not in self.bond and not self.members:
            return
        named = _NAME.search(self.section.command or self.section.prefix)
        name, slaves = named[1] if named else None, [member for _, member, _ in self.members]
        key = name or (f"bond of {slaves[0]}" if slaves else UNNAMED)
        self.observe("Interface", (key,), at=0, kind="bond", slaves=slaves or None, **self.bond)
        for index, slave, fields in self.members:
            self.observe("Interface", (slave,), at=index, master=name, **fields)


ROWS = Rows(
    _Bond,
    Row(_TITLE),
    Row(r"\s*(Bonding Mode):(?:\s(.*))?$", _Bond.value, belongs=lambda lines, _: len(lines) < _HEAD),
    Row(rf"\s*({_KNOWN}):(?:\s(.*))?$", _Bond.value),
    Row(rf"\s*(?:Bonding Mode|{_KNOWN})\s*$"),  # its value is cut off
    Row(r"\s*[A-Za-z0-9][\w ()/.:]{1,48}?:(?:\s|$)", belongs=never),
    BLANK,
    longest=511,
)
