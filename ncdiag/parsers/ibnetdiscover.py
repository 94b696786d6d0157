"""``ibnetdiscover``: the switches and adapters of an InfiniBand subnet and the links between them.

Source of the format: rdma-core infiniband-diags/ibnetdiscover.c (out_switch, out_ca, out_switch_port, out_ca_port),
with ``-l``, ``-H``, ``-S`` and ``-R`` a list of nodes (list_node), with ``-p`` a line a port (dump_ports);
``ibswitches`` and ``ibhosts`` (scripts of the same package) print the list from the topology.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe

KIND = "ibnetdiscover"
COMMANDS: tuple[str, ...] = ("ibnetdiscover", "ibswitches", "ibhosts", "ibrouters")
_ID = r"\"[SHR]-[0-9a-f]{16}\""
_BEGIN = rf"(?:Switch|Ca|Rt)[ \t]{{1,8}}\d{{1,4}}[ \t]{{1,8}}{_ID}"
ANCHOR = rf"# Topology file: generated on |vendid=0x[0-9a-f]{{1,8}}[ \t]*$|{_BEGIN}"
ANCHOR += (
    r"|(?:Switch|Ca|Router)[ \t]{1,3}: 0x[0-9a-f]{16} ports \d|(?:SW|CA|RT) {1,8}\d{1,6} {1,3}\d{1,4} 0x[0-9a-f]{16} "
)

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
_LISTED = re.compile(
    r"(?P<kind>Switch|Ca|Router)\s{1,3}: 0x(?P<guid>[0-9a-f]{16}) ports (?P<ports>\d{1,4})"
    r"(?: devid (?P<device>0x[0-9a-f]{1,8}) vendid (?P<vendor>0x[0-9a-f]{1,8}))?"
    r" \"(?P<name>[^\"]{0,200})\"(?P<rest>.{0,200})$"
)
_END = r"(?:SW|CA|RT) {1,8}\d{1,6} {1,3}\d{1,4} 0x[0-9a-f]{16}"
_PORT = re.compile(
    r"(?P<kind>SW|CA|RT) {1,8}(?P<lid>\d{1,6}) {1,3}(?P<port>\d{1,4}) 0x(?P<guid>[0-9a-f]{16})"
    r" (?P<width>\d{1,2}x|\?\?x?) (?P<speed>\S{1,8}) "
    rf"(?:- (?P<peer>{_END}) \( '(?P<name>.{{0,120}}?)' - '(?P<peer_name>.{{0,120}})' \)|'(?P<alone>.{{0,120}})')\s*$"
)
_KINDS = {
    "Switch": "switch", "Ca": "ca", "Rt": "router", "Router": "router", "SW": "switch", "CA": "ca", "RT": "router",
}  # fmt: skip


def continues(lines: Sequence[str], line: str) -> bool:
    """Numbers, nodes, links, comments and the blank lines between them."""
    return not line.strip() or any(pattern.match(line) for pattern in (_KEY, _LINK, _NODE, _COMMENT, _LISTED, _PORT))


def parse(section: Section) -> Parsed:
    """One Fabric with its nodes and their links."""
    nodes: list[dict[str, Any]] = []
    known: dict[str, dict[str, Any]] = {}
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
        elif listed := _LISTED.match(line):
            first = first if nodes else index
            nodes.append(_listed(listed))
        elif port := _PORT.match(line):
            first = first if nodes else index
            _add_port(port, known, nodes)
        elif link and nodes:
            nodes[-1].setdefault("links", []).append(_link(link))
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


def _listed(found: re.Match[str]) -> dict[str, Any]:
    """A node of the list, which shows no links."""
    lid = _LID.search(found["rest"])
    fields = {
        "kind": _KINDS[found["kind"]], "guid": found["guid"], "name": found["name"], "nports": int(found["ports"]),
        "lid": int(lid[1]) if lid else None, "vendor_id": found["vendor"], "device_id": found["device"],
    }  # fmt: skip
    return {name: value for name, value in fields.items() if value is not None}


def _add_port(found: re.Match[str], known: dict[str, dict[str, Any]], nodes: list[dict[str, Any]]) -> None:
    """A line of ``-p``: a port of a node, which may be known from an earlier one, and the other end of its link."""
    node = known.get(found["guid"])
    if node is None:
        name = found["name"] or found["alone"] or None
        node = {"links": [], "kind": _KINDS[found["kind"]], "guid": found["guid"], "lid": int(found["lid"])}
        node |= {"name": name} if name else {}
        known[found["guid"]] = node
        nodes.append(node)
    if found["peer"]:
        _, lid, port, guid = found["peer"].split()
        link: dict[str, Any] = {"port": int(found["port"]), "peer": guid.removeprefix("0x"), "peer_port": int(port)}
        link |= {"peer_name": found["peer_name"], "peer_lid": int(lid)}
        if found["width"][:1].isdigit() and "?" not in found["speed"]:
            link |= {"width": int(found["width"].rstrip("x")), "speed": found["speed"]}
        node["links"].append(link)


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
