"""GUIDs of InfiniBand devices that nobody set, or that two devices have."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Hca, Host, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.mounts import is_in_container

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


@derived
def shows_guid_twice(job: Job, view: View) -> bool:
    """Do two hosts show a device with the same node GUID? Containers of one machine may see the same device.

    A host that is named once with its domain and once without is one.
    """
    if is_in_container(job, view) or any(host.in_container for host in job.hosts):
        return False
    first: dict[str, Hca] = {}
    for hca in (hca for host in job.hosts for hca in host.hcas if hca.node_guid not in {None, _NO_GUID}):
        other = first.setdefault(hca.node_guid or "", hca)
        if _machine(other) != _machine(hca):
            view.note(other, "node_guid")
            view.note(hca, "node_guid")
            return True
    return False


def _machine(hca: Hca) -> str:
    return (hca.host or "").partition(".")[0].lower()
