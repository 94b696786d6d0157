"""``iblinkinfo``: every link of an InfiniBand subnet with its state, width and speed, and what it could be.

Source of the format: rdma-core infiniband-diags/iblinkinfo.c (print_port, get_msg); of the other end of a link it tells
LID and name, of an adapter the GUID of the port alone. Down ports have no other end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats import rdma

KIND = "iblinkinfo"
COMMANDS: tuple[str, ...] = ("iblinkinfo",)
_BEGIN = r"(?:Switch: 0x[0-9a-f]{16} |(?:CA|Router): )[^\n]{1,200}:[ \t]*$"
_PORT = r"[ \t]{0,20}(?:0x[0-9a-f]{16}[ \t]{1,20}(?:\"[^\"]{0,200}\"[ \t]{1,20})?)?\d{1,6}[ \t]{1,8}\d{1,4}\["
ANCHOR = rf"{_BEGIN}|{_PORT}[ \d]{{1,8}}\][ \t]==\("

_NODE = re.compile(r"(?:(?P<kind>CA|Router): |Switch: 0x(?P<guid>[0-9a-f]{16}) )(?P<name>.{0,200}?):\s*$")
_LINK = re.compile(
    r"\s{0,20}(?:0x(?P<guid>[0-9a-f]{16})\s{1,20}(?:\"[^\"]{0,200}\"\s{1,20})?)?(?P<lid>\d{1,6})\s{1,8}(?P<port>\d{1,4})"
    r"\[[ \d]{1,8}\]\s==\((?P<rate>[^/()]{0,60}?)(?P<state>[A-Za-z]{1,20})/\s{0,12}(?P<physical>[A-Za-z ]{1,30})\)==>"
    r"(?P<other>[^\n]{0,600})$"
)
_OTHER = re.compile(
    r"\s{0,20}(?:0x[0-9a-f]{16}\s{1,20})?(?P<lid>\d{1,6})\s{1,8}(?P<port>\d{1,4})\[[ \d]{1,8}\]\s"
    r"\"(?P<name>[^\"]{0,200})\"\s\((?P<remark>[^()]{0,200})\)"
)
_RATE = re.compile(r"\s{0,12}(?P<width>\d{1,2})X\s{1,24}(?P<speed>\d{1,4}(?:\.\d{1,6})?) Gbps")
_SPEEDS = {
    2.5: "SDR", 5.0: "DDR", 10.0: "QDR", 14.0625: "FDR", 25.78125: "EDR", 53.125: "HDR", 106.25: "NDR", 212.5: "XDR",
}  # fmt: skip
_KINDS = {None: "switch", "CA": "ca", "Router": "router"}


def continues(lines: Sequence[str], line: str) -> bool:
    """Nodes and their links."""
    return _NODE.match(line) is not None or _LINK.match(line) is not None


def parse(section: Section) -> Parsed:
    """One Fabric with its nodes and their links."""
    nodes: list[dict[str, Any]] = []
    unread: list[int] = []
    first = 0
    for index, line in enumerate(section.lines):
        node, link = _NODE.match(line), _LINK.match(line)
        if node:
            first = first if nodes else index
            fields = {"kind": _KINDS[node["kind"]], "guid": node["guid"] or "", "name": node["name"].strip()}
            nodes.append({**fields, "links": []})
        elif link and nodes:
            nodes[-1]["guid"] = nodes[-1]["guid"] or link["guid"] or ""
            nodes[-1].setdefault("lid", int(link["lid"]))
            nodes[-1]["links"].append(_link(link))
        elif line.strip():
            unread.append(index)
    found = (observe(section, first, "Fabric", nodes=nodes),) if nodes else ()
    return Parsed(observations=found, unread=tuple(unread))


def _link(found: re.Match[str]) -> dict[str, Any]:
    rate, other = _RATE.match(found["rate"]), _OTHER.match(found["other"])
    fields: dict[str, Any] = {
        "port": int(found["port"]), "state": rdma.port_state(found["state"]),
        "physical_state": rdma.physical_state(found["physical"]),
    }  # fmt: skip
    if rate:
        fields |= {"width": int(rate["width"]), "speed": _SPEEDS.get(float(rate["speed"]))}
    if other:
        fields |= {"peer_port": int(other["port"]), "peer_name": other["name"], "peer_lid": int(other["lid"])}
        fields["could_be"] = other["remark"].strip() or None
    return {name: value for name, value in fields.items() if value is not None}
