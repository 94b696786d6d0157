"""Commands that enable a disabled port, at the switch or at the card.

Sources: rdma-core infiniband-diags/ibportstate.c (``enable`` of a switch port by LID), MFT mlxlink (``-a UP``; ``-d``
takes the name of the RDMA device).
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.model import FabricNode, Host, Port
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.port_types import names_of, number_in_firmware, wrong_port
from ncdiag.fixes.values import Bindings, Value, best, bound

_DISABLED = "Disabled"
_SAFE = lazy_regex(r"[A-Za-z][\w.-]{0,40}")
_DEVICE = lazy_regex(r"[\w/:.-]{1,80}")
_TYPES = {"InfiniBand": 1, "Ethernet": 2}
_NOT_IN_NAMES = lazy_regex(r"[^\w./:; -]")
_UNLESS = "only if it was not disabled on purpose"
_ASK = ("iblinkinfo (of the switch)",)


@best
def enable_port(view: View, bindings: Bindings) -> Value:
    """The command that enables the only port of a switch that is disabled, or the port of the host that is."""
    port = bound(bindings, Port)
    if port is not None and port.physical_state == _DISABLED and _SAFE.fullmatch(port.hca):
        where = f"on {port.host}; " if port.host != UNNAMED else ""
        text = f"sudo mlxlink -d {port.hca} -p {port.number} -a UP   # {where}{_UNLESS}"
        return Value(text=text, reason="the port of the card is disabled")
    found = dict(_disabled(port.hca if port is not None else "", view))
    if len(found) != 1:
        return Value(reason="no single disabled port of a switch was seen where a cable of the card ends", ask_for=_ASK)
    (lid, number), name = found.popitem()
    told = _NOT_IN_NAMES.sub("", name).strip()
    where = f"{told} port {number}; " if told else ""
    return Value(
        text=f"sudo ibportstate {lid} {number} enable   # {where}{_UNLESS}",
        reason="the switch lists the port as disabled",
    )


def _disabled(hca: str, view: View) -> Iterator[tuple[tuple[int, int], str]]:
    """LID and number of each disabled port of a switch, and the name of the switch, the named ones last.

    It counts where the person asked about this port alone, and at a switch for the card of this name of each host.
    """
    nodes = [node for fabric in view.job.fabrics for node in fabric.nodes if node.kind == "switch" and node.lid]
    for node in sorted(nodes, key=lambda each: bool(each.name)):
        if len(node.links) > 1 and _cards(node) != {hca}:
            continue
        for link in node.links:
            if link.physical_state == _DISABLED and link.state in {None, "down"}:
                yield (node.lid or 0, link.port), node.name or ""


def _cards(node: FabricNode) -> set[str]:
    """The names of the cards at the other ends: ``mlx5_2`` of ``n3 mlx5_2``."""
    words = ((link.peer_name or "").split() for link in node.links)
    return {each[1] for each in words if len(each) == len(("host", "card"))}


@best
def link_type(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The command that gives the port of the wrong type that of the active ports of its host."""
    host = bound(bindings, Host)
    wrong = wrong_port(host) if host is not None else None
    if host is None or wrong is None:
        return Value(reason="no port was seen whose type is not that of the others")
    number, names = number_in_firmware(host, wrong), names_of(host, wrong)
    if not number:
        return Value(reason=f"which port of its card {wrong.hca} is was not seen", ask_for=("mst status -v",))
    device = next((each.rpartition(" ")[0] for each in host.port_types or () if each.rpartition(" ")[0] in names), "")
    active = {port.link_layer for each in host.hcas for port in each.ports if port.state == "active"}
    wanted = _TYPES.get(active.pop() or "") if len(active) == 1 else None
    if wanted is None or not _DEVICE.fullmatch(device):
        return Value(reason="the link type of the other ports was not seen", ask_for=("ibv_devinfo",))
    where = "then restart the host" if host.name == UNNAMED else f"on {host.name}; then restart it"
    text = f"sudo mlxconfig -d {device} set LINK_TYPE_P{number}={wanted}   # {where}"
    return Value(text=text, reason="the type of the active ports of the host")
