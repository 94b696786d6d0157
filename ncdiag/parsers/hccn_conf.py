"""``/etc/hccn.conf``: the addresses of the network ports of Ascend NPUs, by device.

Format: what hccn_tool writes, documented for HCCL's rank tables: ``address_0=10.0.0.2``, ``netmask_0=...``,
``gateway_0=...``, ``netdetect_0=...``, ``send_arp_status_0=1``, in any order.
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.scalars import ip_address
from ncdiag.formats import basics
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows

KIND = "hccn_conf"
COMMANDS: tuple[str, ...] = ("cat /etc/hccn.conf", "/etc/hccn.conf", "hccn.conf")
_NAMES = "address|netmask|gateway|netdetect|send_arp_status|arp|mtu|vnic|bitmap|tc|roce_port"
ANCHOR = r"[ \t]*(?:address|netmask|netdetect|gateway)_\d{1,3}[ \t]?=[ \t]?\d{1,3}\.\d"
_LINE = rf"\s*(?P<name>(?:IPv6)?(?:{_NAMES}))_(?P<index>\d{{1,3}})\s?=\s?(?P<value>\S{{0,60}})\s*$"
_FIELDS = {"address": "ip", "netmask": "netmask", "gateway": "gateway", "netdetect": "detect_ip"}


class _Npus(Reading):
    """An observation an NPU."""

    def __init__(self, section: Section) -> None:
        """No setting was read yet."""
        super().__init__(section)
        self.npus: dict[int, tuple[int, dict[str, Any]]] = {}

    def setting(self, found: re.Match[str]) -> None:
        """A setting of an NPU."""
        fields = self.npus.setdefault(int(found["index"]), (self.index, {}))[1]
        field = _FIELDS.get(found["name"])
        if field and ip_address(found["value"]) is not None:
            fields[field] = found["value"]
        elif found["name"] == "mtu":
            fields["mtu"] = basics.number(found["value"])

    def end(self) -> None:
        """All NPUs."""
        for npu, (at, fields) in self.npus.items():
            self.observe("Npu", (npu,), at=at, standing="conf", **fields)


ROWS = Rows(
    _Npus,
    Row(_LINE, _Npus.setting, belongs=lambda _, line: not line.lstrip().startswith("IPv6")),
    Row(r"\s*#|\s*[A-Za-z_]{2,40}_\d{1,3}(?:_\d{1,3})?\s?="),
    Row(basics.is_elision),
    BLANK,
)
