"""``ibnetdiscover``: the switches and adapters of an InfiniBand subnet and the links between them.

Source of the format: rdma-core infiniband-diags/ibnetdiscover.c (out_switch, out_ca, out_switch_port, out_ca_port),
with ``-l``, ``-H``, ``-S`` and ``-R`` a list of nodes (list_node), with ``-p`` a line a port (dump_ports);
``ibswitches`` and ``ibhosts`` (scripts of the same package) print the list from the topology.
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows

KIND = "ibnetdiscover"
COMMANDS: tuple[str, ...] = ("ibnetdiscover", "ibswitches", "ibhosts", "ibrouters")
_ID = r"\"[SHR]-[0-9a-f]{16}\""
_BEGIN = rf"(?:Switch|Ca|Rt)[ \t]{{1,8}}\d{{1,4}}[ \t]{{1,8}}{_ID}"
ANCHOR = rf"# Topology file: generated on |vendid=0x[0-9a-f]{{1,8}}[ \t]*$|{_BEGIN}"
ANCHOR += (
    r"|(?:Switch|Ca|Router)[ \t]{1,3}: 0x[0-9a-f]{16} ports \d|(?:SW|CA|RT) {1,8}\d{1,6} {1,3}\d{1,4} 0x[0-9a-f]{16} "
)

_NODE = (
    r"(?P<kind>Switch|Ca|Rt)\s{1,8}(?P<ports>\d{1,4})\s{1,8}\"[SHR]-(?P<guid>[0-9a-f]{16})\""
    r"(?:\s{1,16}# \"(?P<name>[^\"]{0,200})\"(?P<rest>.{0,200}))?"
)
_LID = lazy_regex(r"\blid (\d{1,6})")
_LINK = (
    r"\[(?P<port>\d{1,4})\](?:\([0-9a-f]{1,16}\))?\s{1,8}\"[SHR]-(?P<peer>[0-9a-f]{16})\"\[(?P<peer_port>\d{1,4})\]"
    r"(?:\([0-9a-f]{1,16}\))?(?:\s{1,24}#(?P<comment>.{0,400}))?"
)
_PEER = lazy_regex(r"\"(?P<name>[^\"]{0,200})\" lid (?P<lid>\d{1,6})")
_RATE = lazy_regex(r"\s(?P<width>\d{1,2})x(?P<speed>[A-Z]{2,4}\d{0,3})\b")
_KEY = r"(?P<key>vendid|devid|sysimgguid|switchguid|caguid|rtguid)=(?P<value>0x[0-9a-f]{1,16})"
_COMMENT = r"#(?:\s|$)|Chassis \d|\s*DDR\b"
_LISTED = (
    r"(?P<kind>Switch|Ca|Router)\s{1,3}: 0x(?P<guid>[0-9a-f]{16}) ports (?P<ports>\d{1,4})"
    r"(?: devid (?P<device>0x[0-9a-f]{1,8}) vendid (?P<vendor>0x[0-9a-f]{1,8}))?"
    r" \"(?P<name>[^\"]{0,200})\"(?P<rest>.{0,200})$"
)
_END = r"(?:SW|CA|RT) {1,8}\d{1,6} {1,3}\d{1,4} 0x[0-9a-f]{16}"
_PORT = (
    r"(?P<kind>SW|CA|RT) {1,8}(?P<lid>\d{1,6}) {1,3}(?P<port>\d{1,4}) 0x(?P<guid>[0-9a-f]{16})"
    r" (?P<width>\d{1,2}x|\?\?x?) (?P<speed>\S{1,8}) "
    rf"(?:- (?P<peer>{_END}) \( '(?P<name>.{{0,120}}?)' - '(?P<peer_name>.{{0,120}})' \)|'(?P<alone>.{{0,120}})')\s*$"
)
_KINDS = {
    "Switch": "switch", "Ca": "ca", "Rt": "router", "Router": "router", "SW": "switch", "CA": "ca", "RT": "router",
}  # fmt: skip


class _Fabric(Reading):
    """One Fabric with its nodes and their links."""

    def __init__(self, section: Section) -> None:
        """No node has begun."""
        super().__init__(section)
        self.nodes: list[dict[str, Any]] = []
        self.known: dict[str, dict[str, Any]] = {}
        self.above: dict[str, str] = {}
        self.first = 0

    def key(self, found: re.Match[str]) -> None:
        """A number of the node below."""
        self.above[found["key"]] = found["value"]

    def node(self, found: re.Match[str]) -> None:
        """A node, whose links are below."""
        self._add({"links": []} | _node(found, found["rest"] or "", self.above.get("vendid"), self.above.get("devid")))
        self.above = {}

    def listed(self, found: re.Match[str]) -> None:
        """A node of the list, which shows no links."""
        self._add(_node(found, found["rest"], found["vendor"], found["device"]))

    def _add(self, node: dict[str, Any]) -> None:
        self.first = self.first if self.nodes else self.index
        self.nodes.append(node)

    def link(self, found: re.Match[str]) -> bool:
        """A link of the node above."""
        if self.nodes:
            self.nodes[-1].setdefault("links", []).append(_link(found))
        return bool(self.nodes)

    def port(self, found: re.Match[str]) -> None:
        """A line of ``-p``: a port of a node, which may be known from an earlier one, and the other end of its link."""
        node = self.known.get(found["guid"])
        if node is None:
            name = found["name"] or found["alone"] or None
            node = {"links": [], "kind": _KINDS[found["kind"]], "guid": found["guid"], "lid": int(found["lid"])}
            node |= {"name": name} if name else {}
            self.known[found["guid"]] = node
            self._add(node)
        if found["peer"]:
            _, lid, port, guid = found["peer"].split()
            link: dict[str, Any] = {"port": int(found["port"]), "peer": guid.removeprefix("0x"), "peer_port": int(port)}
            link |= {"peer_name": found["peer_name"], "peer_lid": int(lid)}
            if found["width"][:1].isdigit() and "?" not in found["speed"]:
                link |= {"width": int(found["width"].rstrip("x")), "speed": found["speed"]}
            node["links"].append(link)

    def end(self) -> None:
        """All of them as one observation."""
        if self.nodes:
            self.observe("Fabric", at=self.first, nodes=self.nodes)


ROWS = Rows(
    _Fabric,
    Row(_KEY, _Fabric.key),
    Row(_NODE, _Fabric.node),
    Row(_LISTED, _Fabric.listed),
    Row(_PORT, _Fabric.port),
    Row(_LINK, _Fabric.link),
    Row(_COMMENT),
    BLANK,
)


def _node(found: re.Match[str], rest: str, vendor: str | None, device: str | None) -> dict[str, Any]:
    lid = _LID.search(rest)
    fields = {
        "kind": _KINDS[found["kind"]], "guid": found["guid"], "name": found["name"], "nports": int(found["ports"]),
        "lid": int(lid[1]) if lid else None, "vendor_id": vendor, "device_id": device,
    }  # fmt: skip
    return {name: value for name, value in fields.items() if value is not None}


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
