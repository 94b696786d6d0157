"""``ibqueryerrors``: the ports of an InfiniBand subnet whose error counters are above a threshold.

Source of the format: rdma-core infiniband-diags/ibqueryerrors.c (print_errors, print_port_config, print_summary). The
name of an adapter is its node description, usually host and device.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats import rdma
from ncdiag.parsers._fabric import FabricReading
from ncdiag.parsers._rows import BLANK, Row, Rows

KIND = "ibqueryerrors"
COMMANDS: tuple[str, ...] = ("ibqueryerrors",)
ANCHOR = r"Errors for (?:0x[0-9a-f]{1,16} )?\"[^\"\n]{1,200}\"[ \t]*$|## Summary: \d{1,9} nodes checked"

_HEAD = r"Errors for (?:0x(?P<guid>[0-9a-f]{1,16}) )?\"(?P<name>[^\"]{1,200})\"\s*$"
_PORT = (
    r"\s{1,12}GUID 0x(?P<guid>[0-9a-f]{1,16}) port (?P<port>\d{1,4}|ALL):"
    r"(?P<counters>(?: \[[^\]]{1,120}\]){1,60})\s*$"
)
_INFO = (
    r"\s{1,12}Link info:\s{1,12}(?P<lid>\d{1,6})\s{1,8}(?P<port>\d{1,4})\[[ \d]{1,8}\] ==\((?P<link>[^()]{0,80})\)==>"
    r"(?P<other>[^\n]{0,600})$"
)
_COUNTER = lazy_regex(r"\[(?P<name>\w{2,60}) == (?P<value>\d{1,20})")
_OTHER = lazy_regex(
    r"\s{0,20}(?:0x[0-9a-f]{1,16}\s{1,20})?(?P<lid>\d{1,6})\s{1,8}(?P<port>\d{1,4})\[[ \d]{1,8}\] "
    r"\"(?P<name>[^\"]{0,200})\""
)
_STATE = lazy_regex(
    r"(?:(?P<width>\d{1,2})X\s)?.{0,40}?(?P<state>[A-Z]\w{1,20})/\s{0,12}(?P<physical>[A-Za-z ]{1,20})$"
)
_SUMMARY = r"## (?:Summary: \d|\s{1,12}\d|Thresholds:|Suppressed:|$)"


class _Errors(FabricReading):
    """The ports that the output lists."""

    def node(self, found: re.Match[str]) -> None:
        """A switch, or the adapter of a host; the output does not say which."""
        self.begin(kind="switch" if found["guid"] else "ca", guid=_guid(found["guid"]), name=found["name"])

    def port(self, found: re.Match[str]) -> bool:
        """The counters of a port of the node above; those of all its ports together are no link's."""
        if not self.nodes:
            return False
        node = self.nodes[-1]
        node["guid"] = node["guid"] or _guid(found["guid"])
        if found["port"] != "ALL":
            errors = {each["name"]: int(each["value"]) for each in _COUNTER.finditer(found["counters"])}
            node["links"].append({"port": int(found["port"]), "errors": errors})
        return True

    def info(self, found: re.Match[str]) -> bool:
        """State and other end of the port above."""
        if not self.nodes or not self.nodes[-1]["links"]:
            return False
        link = self.nodes[-1]["links"][-1]
        state, other = _STATE.match(found["link"].strip()), _OTHER.match(found["other"])
        if state:
            link["state"] = rdma.port_state(state["state"])
            link["physical_state"] = rdma.physical_state(state["physical"].strip())
        if state and state["width"]:
            link["width"] = int(state["width"])
        if other:
            link |= {"peer_lid": int(other["lid"]), "peer_port": int(other["port"]), "peer_name": other["name"]}
        return True


ROWS = Rows(
    _Errors,
    Row(_HEAD, _Errors.node),
    Row(_PORT, _Errors.port),
    Row(_INFO, _Errors.info),
    Row(_SUMMARY),
    Row(r"ibwarn: \[\d{1,9}\] "),
    BLANK,
)


def _guid(text: str | None) -> str:
    """A GUID in 16 digits: this tool leaves out leading zeros."""
    return text.zfill(16) if text else ""
