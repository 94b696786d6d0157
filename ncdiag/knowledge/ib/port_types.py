"""Is a port of a card for InfiniBand and Ethernet set to the type that its siblings do not have?"""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.port_types import wrong_port


@derived
def port_of_wrong_type(host: Host, view: View) -> str | None:
    """``mlx5_2 1``: a port that is down, of a type in its firmware that no active port of the host has; empty: none.

    None if the types in the firmware, or the states of the ports, were not shown.
    """
    if host.port_types is None or all(port.state is None for hca in host.hcas for port in hca.ports):
        return None
    port = wrong_port(host)
    if port is None:
        return ""
    view.note(host, "port_types")
    return f"{port.hca} {port.number}"
