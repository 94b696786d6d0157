"""AMD's AI network cards (AINIC, Pollara: devices ``ionic_0``), which RCCL reaches by a transport of their own.

The transport is the plugin librccl-anp.so (ROCm/amd-anp, README), or part of a later RCCL and then off unless
RCCL_AINIC_ROCE is 1 (AMD-AGI/Primus, pull request 966). Without it RCCL goes over plain verbs or over sockets.
"""

from __future__ import annotations

from typing import Literal

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View

_DEVICE = lazy_regex(r"ionic_\d|roce_ai\d")
_NAMED = "ainic"
_OWN = "anp"
_SWITCH, _PLUGIN = "RCCL_AINIC_ROCE", "NCCL_NET_PLUGIN"


@derived
def ainic_path(job: Job, view: View) -> Literal["", "sockets", "verbs"] | None:
    """What carries the data beside the transport of these cards; empty if there are none, or if theirs is in use.

    None where the network in use is not known.
    """
    if not _has_cards(job, view):
        return ""
    nets = {rank.net for rank in job.ranks if rank.net is not None}
    for rank in job.ranks:
        if rank.net is not None:
            view.note(rank, "net")
            break
    if not nets:
        return None
    if "Socket" in nets:
        return "sockets"
    loaded = any(_OWN in (rank.net_plugin or "").lower() for rank in job.ranks)
    if loaded or nets != {"IB"}:
        return ""
    switch = view.setting(job, _SWITCH)
    return "" if switch is not None and switch.is_set and switch.text not in {None, "", "0"} else "verbs"


def _has_cards(job: Job, view: View) -> bool:
    told = next((context for context in job.contexts if context.kind == "network" and context.value == _NAMED), None)
    if told is not None:
        view.note(told)
        return True
    for rank in job.ranks:
        if any(_DEVICE.match(device.name) for device in rank.net_devices or ()):
            view.note(rank, "net_devices")
            return True
    return any(_DEVICE.match(hca.name) for host in job.hosts for hca in host.hcas)
