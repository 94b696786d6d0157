"""Plugins and the adapters of clouds: what a release refused, how many there should be."""

from __future__ import annotations

from ncdiag.facts.derive.pods import EFA
from ncdiag.facts.model import Host, Rank
from ncdiag.facts.view import View, derived

_COUNTED = frozenset({"p4d.24xlarge", "p4de.24xlarge"})
"""Instance types whose EFA cards all releases of the plugin count alike."""


@derived
def efa_nics_expected(host: Host, view: View) -> int | None:
    """How many EFA cards this type of instance has."""
    told = next(iter(view.events_on(host.name, ["ofi-platform"])), None)
    name = host.instance_type or (str(told.fields.get("instance_type")) if told is not None else None)
    return EFA[name][0] if name in _COUNTED else None


@derived
def efa_nics_found(host: Host, view: View) -> int | None:
    """How many the plugin found, or libfabric lists."""
    for event in view.events_on(host.name, ["ofi-provider"]):
        nics = event.fields.get("nics")
        if isinstance(nics, int) and event.fields.get("provider") == "efa":
            view.note(event)
            return nics
    if (host.libfabric_providers or {}).get("efa"):
        view.note(host, "libfabric_providers")
        return sum(hca.driver == "efa" for hca in host.hcas)
    return None


@derived
def lacks_efa_nics(host: Host, view: View) -> bool | None:
    """Were fewer EFA devices found than the instance type has?"""
    expected, found = view.get(host, "efa_nics_expected"), view.get(host, "efa_nics_found")
    return None if expected is None or found is None else found < expected


@derived
def includes_frontend_nic(rank: Rank, view: View) -> bool | None:
    """Does NCCL use Azure's Ethernet adapter (``mlx5_an0``) beside the InfiniBand ones?"""
    if not rank.net_devices:
        return None
    names = [part for device in rank.net_devices for part in device.name.split("+")]
    front = [name for name in names if name.startswith("mlx5_an")]
    return bool(front) and len(front) < len(names)
