"""``/etc/hccn.conf``: the addresses of the network ports of Ascend NPUs, by device.

Format: what hccn_tool writes, documented for HCCL's rank tables: ``address_0=10.0.0.2``, ``netmask_0=...``,
``gateway_0=...``, ``netdetect_0=...``, ``send_arp_status_0=1``, in any order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.facts.scalars import ip_address
from ncdiag.formats import basics

KIND = "hccn_conf"
COMMANDS: tuple[str, ...] = ("cat /etc/hccn.conf", "/etc/hccn.conf", "hccn.conf")
_NAMES = "address|netmask|gateway|netdetect|send_arp_status|arp|mtu|vnic|bitmap|tc|roce_port"
ANCHOR = r"[ \t]*(?:address|netmask|netdetect|gateway)_\d{1,3}[ \t]?=[ \t]?\d{1,3}\.\d"
_LINE = re.compile(rf"\s*(?P<name>(?:IPv6)?(?:{_NAMES}))_(?P<index>\d{{1,3}})\s?=\s?(?P<value>\S{{0,60}})\s*$")
_FIELDS = {"address": "ip", "netmask": "netmask", "gateway": "gateway", "netdetect": "detect_ip"}
_OTHER = re.compile(r"\s*#|\s*[A-Za-z_]{2,40}_\d{1,3}(?:_\d{1,3})?\s?=")


def continues(lines: Sequence[str], line: str) -> bool:
    """More settings with the number of a device, and comments."""
    return not line.strip() or _OTHER.match(line) is not None or basics.is_elision(line)


def parse(section: Section) -> Parsed:
    """An observation an NPU."""
    npus: dict[int, tuple[int, dict[str, Any]]] = {}
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        found = _LINE.match(line)
        if found is None:
            if line.strip() and not _OTHER.match(line) and not basics.is_elision(line):
                unread.append(index)
            continue
        fields = npus.setdefault(int(found["index"]), (index, {}))[1]
        field = _FIELDS.get(found["name"])
        if field and ip_address(found["value"]) is not None:
            fields[field] = found["value"]
        elif found["name"] == "mtu":
            fields["mtu"] = basics.number(found["value"])
    observations = (observe(section, at, "Npu", (n,), standing="conf", **fields) for n, (at, fields) in npus.items())
    return Parsed(observations=tuple(observations), unread=tuple(unread))
