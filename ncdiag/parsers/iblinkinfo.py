"""``iblinkinfo``: every link of an InfiniBand subnet with its state, width and speed, and what it could be.

Source of the format: rdma-core infiniband-diags/iblinkinfo.c (print_port, get_msg); of the other end of a link it tells
LID and name, of an adapter the GUID of the port alone. Down ports have no other end.
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats import rdma
from ncdiag.parsers._fabric import FabricReading
from ncdiag.parsers._rows import Row, Rows

KIND = "iblinkinfo"
COMMANDS: tuple[str, ...] = ("iblinkinfo",)
_BEGIN = r"(?:Switch: 0x[0-9a-f]{16} |(?:CA|Router): )[^\n]{1,200}:[ \t]*$"
_PORT = r"[ \t]{0,20}(?:0x[0-9a-f]{16}[ \t]{1,20}(?:\"[^\"]{0,200}\"[ \t]{1,20})?)?\d{1,6}[ \t]{1,8}\d{1,4}\["
ANCHOR = rf"{_BEGIN}|{_PORT}[ \d]{{1,8}}\][ \t]==\("

_NODE = r"(?:(?P<kind>CA|Router): |Switch: 0x(?P<guid>[0-9a-f]{16}) )(?P<name>.{0,200}?):\s*$"
_LINK = (
    r"\s{0,20}(?:0x(?P<guid>[0-9a-f]{16})\s{1,20}(?:\"[^\"]{0,200}\"\s{1,20})?)?(?P<lid>\d{1,6})\s{1,8}(?P<port>\d{1,4})"
    r"\[[ \d]{1,8}\]\s==\((?P<rate>[^/()]{0,60}?)(?P<state>[A-Za-z]{1,20})/\s{0,12}(?P<physical>[A-Za-z ]{1,30})\)==>"
    r"(?P<other>[^\n]{0,600})$"
)
_OTHER = lazy_regex(
    r"\s{0,20}(?:0x[0-9a-f]{16}\s{1,20})?(?P<lid>\d{1,6})\s{1,8}(?P<port>\d{1,4})\[[ \d]{1,8}\]\s"
    r"\"(?P<name>[^\"]{0,200})\"\s\((?P<remark>[^()]{0,200})\)"
)
_RATE = lazy_regex(r"\s{0,12}(?P<width>\d{1,2})X\s{1,24}(?P<speed>\d{1,4}(?:\.\d{1,6})?) Gbps")
_SPEEDS = {
    2.5: "SDR", 5.0: "DDR", 10.0: "QDR", 14.0625: "FDR", 25.78125: "EDR", 53.125: "HDR", 106.25: "NDR", 212.5: "XDR",
}  # fmt: skip
_KINDS = {None: "switch", "CA": "ca", "Router": "router"}


class _Links(FabricReading):
    """The nodes and their links."""

    def node(self, found: re.Match[str]) -> None:
        """A switch, an adapter or a router."""
        self.begin(kind=_KINDS[found["kind"]], guid=found["guid"] or "", name=found["name"].strip())

    def link(self, found: re.Match[str]) -> bool:
        """A port of the node above."""
        if not self.nodes:
            return False
        node = self.nodes[-1]
        node["guid"] = node["guid"] or found["guid"] or ""
        node.setdefault("lid", int(found["lid"]))
        node["links"].append(_link(found))
        return True


ROWS = Rows(_Links, Row(_NODE, _Links.node), Row(_LINK, _Links.link))


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
