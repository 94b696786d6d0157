"""GUIDs of InfiniBand devices that nobody set."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host
from ncdiag.facts.view import View

_NO_GUID = "0000:0000:0000:0000"


@derived
def device_without_guid(host: Host, view: View) -> str | None:
    """An InfiniBand device with a node GUID of zeros on a host without an active port; None if its ports are not shown.

    Empty beside an active port: what the job uses is then another device.
    """
    bare = [hca for hca in host.hcas if hca.node_guid == _NO_GUID]
    if not bare or any(port.state == "active" for hca in host.hcas for port in hca.ports):
        return ""
    shown = [hca for hca in bare if any(port.state is not None and port.link_layer is not None for port in hca.ports)]
    found = next((hca for hca in shown if any(port.link_layer == "InfiniBand" for port in hca.ports)), None)
    if found is not None:
        view.note(found, "node_guid")
        return found.name
    return "" if shown else None
