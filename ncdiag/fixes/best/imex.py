"""The line that puts the present address of a node into the list of an IMEX domain, or starts a node's service.

Source: NVIDIA IMEX service guide: every node has the same /etc/nvidia-imex/nodes_config.cfg, one address a line, and
nvidia-imex reads it as it starts.
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.model import Address, Host
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.fixes.values import Bindings, Value, best
from ncdiag.nccl.on_host import seen

_LOST = lazy_regex(r"(?P<node>\S{1,64}) \((?:UNAVAILABLE|DOWN|INVALID|UNREACHABLE|NOT_READY|[A-Z_ ]{4,30})\)$")
_FILE = "/etc/nvidia-imex/nodes_config.cfg"
_RESTART = "sudo systemctl restart nvidia-imex"
_UNIT = "nvidia-imex"
_ENDS = "this ends jobs over NVLink between hosts"
_ASK = ("cat /etc/nvidia-imex/nodes_config.cfg", "ip -br addr (on the node that is not ready)")


@best
def imex_node(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """For the only node that is not ready: its new address in the list, or the start of its service."""
    lost = {found["node"] for host in view.job.hosts for text in host.imex_lost or () if (found := _LOST.match(text))}
    if len(lost) != 1:
        return Value(reason="no single node was shown that is not ready", ask_for=_ASK)
    node = lost.pop()
    owner = next((host for host in view.job.hosts if node in {host.name, *(a.ip for _, a in _addresses(host))}), None)
    if owner is not None:
        if owner.name == UNNAMED or not any(s.name == _UNIT and s.active is False for s in owner.services):
            return Value(reason=f"the service of {owner.name} was not shown to be down", ask_for=_ASK)
        return Value(text=f"{_RESTART}   # on {owner.name}", reason="its service does not run")
    listed = {address for host in view.job.hosts for address in host.imex_addresses or ()}
    moved = [(host, address.ip) for host in view.job.hosts for address in _new(host, node, listed)]
    if _answers(node, view):
        asked = ("systemctl status nvidia-imex (on that node)",)
        return Value(reason=f"{node} answers, so the node has that address", ask_for=asked)
    if ip_address(node) is None or len(moved) != 1 or not _is_node(moved[0][0]):
        return Value(reason=f"the node whose address was {node} was not seen", ask_for=_ASK)
    host, new = moved.pop()
    pattern = node.replace(".", "\\.")
    text = f"sudo sed -i 's/^{pattern}$/{new}/' {_FILE} && {_RESTART}   # on every node of the domain; {_ENDS}"
    return Value(text=text, reason=f"{host.name} has {new}, which the list lacks, and no host seen has {node}")


def _is_node(host: Host) -> bool:
    """Does the host have a GPU or the service? Others have addresses in the network of the nodes as well."""
    return bool(host.gpus or host.imex_domain or any(each.name == _UNIT for each in host.services))


def _answers(node: str, view: View) -> bool:
    """Did a ping of the address arrive?"""
    tried = (each.fields for each in view.job.events if each.event == "ping-tried")
    return any(str(each.get("address")) == node and each.get("received") for each in tried)


def _addresses(host: Host) -> Iterator[tuple[str, Address]]:
    return ((each.name, address) for each in host.interfaces for address in each.addresses or ())


def _new(host: Host, node: str, listed: set[str]) -> list[Address]:
    """The addresses in the network of the listed one, of a host that the list does not name."""
    held = [address for _, address in _addresses(host)]
    if any(address.ip in listed for address in held):
        return []
    return [each for each in held if each.prefix_len is not None and seen.same_network(each, Address(node))]
