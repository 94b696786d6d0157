"""Plugins and the adapters of clouds: what a release refused, how many there should be."""

from __future__ import annotations

import re

from ncdiag.facts.derive.pods import EFA
from ncdiag.facts.derive.rdma import ranks_of
from ncdiag.facts.model import Event, Host, Rank
from ncdiag.facts.view import View, derived, derived_of

_COUNTED = frozenset({"p4d.24xlarge", "p4de.24xlarge"})
"""Instance types whose EFA cards all releases of the plugin count alike."""

_IBEXT = re.compile(r"IBext(?:_v\d{1,3})?")


@derived
def is_on_ibext(rank: Rank, view: View) -> bool | None:
    """True if its network is that of HPC-X's plugin, whose name has the version of the interface since v6."""
    if rank.net is None:
        return None
    view.note(rank, "net")
    return _IBEXT.fullmatch(rank.net) is not None


@derived
def refuses_plugin(host: Host, view: View) -> bool | None:
    """Did NCCL find a network plugin without an interface that it knows, so that it went on without?

    It asks for one version of the interface after the other; a plugin that loads in the end decides.
    """
    asked = view.events_on(host.name, ["plugin-symbol-missing"])
    missing = [e for e in asked if str(e.fields.get("symbol", "")).startswith("ncclNet")]
    missing += [e for e in view.events_on(host.name, ["plugin-unsupported"]) if "plugin_kind" not in e.fields]
    if not missing:
        return False
    if view.events_on(host.name, ["plugin-loaded"]) or any(r.net_plugin for r in ranks_of(host, view)):
        return False
    nets = {r.net for r in ranks_of(host, view) if r.net is not None}
    view.note(missing[-1])
    return bool(nets & {"Socket", "IB"}) if nets else None


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


@derived_of("other-plugin-not-found")
def is_named_tuner_missing(event: Event, view: View) -> bool | None:
    """Was a tuner plugin asked for by name and not found?"""
    if "TUNER/" not in event.text:
        return False
    setting = view.setting(view.job, "NCCL_TUNER_PLUGIN")
    return None if setting is None else bool(setting.is_set and setting.text) and setting.effective != "none"
