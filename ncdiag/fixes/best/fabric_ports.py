"""Commands that enable a disabled port, at the switch or at the card.

Sources: rdma-core infiniband-diags/ibportstate.c (``enable`` of a switch port by LID), MFT mlxlink (``-a UP``; ``-d``
takes the name of the RDMA device).
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.model import Port
from ncdiag.facts.view import View
from ncdiag.fixes.values import Bindings, Value, best, bound

_DISABLED = "Disabled"
_SAFE = lazy_regex(r"[A-Za-z][\w.-]{0,40}")
_NOT_IN_NAMES = lazy_regex(r"[^\w./:; -]")
_ASK = ("iblinkinfo (of the switch)",)


@best
def enable_port(view: View, bindings: Bindings) -> Value:
    """The command that enables the only port of a switch that is disabled, or the port of the host that is."""
    port = bound(bindings, Port)
    if port is not None and port.physical_state == _DISABLED and _SAFE.fullmatch(port.hca):
        where = f"   # on {port.host}" if port.host != UNNAMED else ""
        text = f"sudo mlxlink -d {port.hca} -a UP{where}"
        return Value(text=text, reason="the port of the card is disabled")
    found = dict(_disabled(view))
    if len(found) != 1:
        return Value(reason="no single disabled port of a switch was seen", ask_for=_ASK)
    (lid, number), name = found.popitem()
    told = _NOT_IN_NAMES.sub("", name).strip()
    where = f"   # {told} port {number}" if told else ""
    return Value(text=f"sudo ibportstate {lid} {number} enable{where}", reason="the switch lists the port as disabled")


def _disabled(view: View) -> Iterator[tuple[tuple[int, int], str]]:
    """LID and number of each disabled port of a switch, and the name of the switch, the named ones last."""
    nodes = [node for fabric in view.job.fabrics for node in fabric.nodes if node.kind == "switch" and node.lid]
    for node in sorted(nodes, key=lambda each: bool(each.name)):
        for link in node.links:
            if link.physical_state == _DISABLED and link.state in {None, "down"}:
                yield (node.lid or 0, link.port), node.name or ""
