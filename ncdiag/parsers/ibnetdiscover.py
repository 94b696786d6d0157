"""``ibnetdiscover``: the switches and adapters of an InfiniBand subnet and the links between them.

Source of the format: rdma-core infiniband-diags/ibnetdiscover.c (out_switch, out_ca, out_switch_port, out_ca_port).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.facts.observe import Parsed, observe
from ncdiag.spans import Section

KIND = "ibnetdiscover"
COMMANDS: tuple[str, ...] = ("ibnetdiscover",)
_ID = r"\"[SHR]-[0-9a-f]{16}\""
_BEGIN = rf"(?:Switch|Ca|Rt)[ \t]{{1,8}}\d{{1,4}}[ \t]{{1,8}}{_ID}"
ANCHOR = rf"# Topology file: generated on |vendid=0x[0-9a-f]{{1,8}}[ \t]*$|{_BEGIN}"

_NODE = re.compile(
    r"(?P<kind>Switch|Ca|Rt)\s{1,8}(?P<ports>\d{1,4})\s{1,8}\"[SHR]-(?P<guid>[0-9a-f]{16})\""
    r"(?:\s{1,16}# \"(?P<name>[^\"]{0,200})\"(?P<rest>.{0,200}))?"
)
_LID = re.compile(r"\blid (\d{1,6})")
_LINK = re.compile(
    r"\[(?P<port>\d{1,4})\](?:\([0-9a-f]{1,16}\))?\s{1,8}\"[SHR]-(?P<peer>[0-9a-f]{16})\"\[(?P<peer_port>\d{1,4})\]"
    r"(?:\([0-9a-f]{1,16}\))?(?:\s{1,24}#(?P<comment>.{0,400}))?"
)
_PEER = re.compile(r"\"(?P<name>[^\"]{0,200})\" lid (?P<lid>\d{1,6})")
_RATE = re.compile(r"\s(?P<width>\d{1,2})x(?P<speed>[A-Z]{2,4}\d{0,3})\b")
_KEY = re.compile(r"(?P<key>vendid|devid|sysimgguid|switchguid|caguid|rtguid)=(?P<value>0x[0-9a-f]{1,16})")
_COMMENT = re.compile(r"#(?:\s|$)|Chassis \d|\s*DDR\b")
_KINDS = {"Switch": "switch", "Ca": "ca", "Rt": "router"}


def continues(lines: Sequence[str], line: str) -> bool:
    """Numbers, nodes, links, comments and the blank lines between them."""
    return not line.strip() or any(pattern.match(line) for pattern in (_KEY, _LINK, _NODE, _COMMENT))


def parse(section: Section) -> Parsed:
    """One Fabric with its nodes and their links."""
    nodes: list[dict[str, Any]] = []
    above: dict[str, str] = {}
    unread: list[int] = []
    first = 0
    for index, line in enumerate(section.lines):
        key, node, link = _KEY.match(line), _NODE.match(line), _LINK.match(line)
        if key:
            above[key["key"]] = key["value"]
        elif node:
            first = first if nodes else index
            nodes.append(_node(node, above))
            above = {}
        elif link and nodes:
            nodes[-1]["links"].append(_link(link))
        elif line.strip() and not _COMMENT.match(line):
            unread.append(index)
    found = (observe(section, first, "Fabric", nodes=nodes),) if nodes else ()
    return Parsed(observations=found, unread=tuple(unread))


def _node(found: re.Match[str], above: dict[str, str]) -> dict[str, Any]:
    lid = _LID.search(found["rest"] or "")
    fields = {
        "kind": _KINDS[found["kind"]], "guid": found["guid"], "name": found["name"], "nports": int(found["ports"]),
        "lid": int(lid[1]) if lid else None, "vendor_id": above.get("vendid"), "device_id": above.get("devid"),
    }  # fmt: skip
    return {"links": [], **{name: value for name, value in fields.items() if value is not None}}


def _link(found: re.Match[str]) -> dict[str, Any]:
    comment = found["comment"] or ""
    peer, rate = _PEER.search(comment), _RATE.search(comment)
    fields: dict[str, Any] = {
        "port": int(found["port"]), "peer": found["peer"], "peer_port": int(found["peer_port"]),
    }  # fmt: skip
    if peer:
        fields |= {"peer_name": peer["name"], "peer_lid": int(peer["lid"])}
    if rate:
        fields |= {"width": int(rate["width"]), "speed": rate["speed"]}
    return fields
