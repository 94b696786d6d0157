"""Derived fields of events and limits: what an error's words say about its reason."""

from __future__ import annotations

from ncdiag.facts.derive.rdma import ranks_of
from ncdiag.facts.model import Event, Host, Rank
from ncdiag.facts.view import View, derived

MEMLOCK_ENOUGH = 64 << 20
"""Bytes of locked memory below which even a small RDMA job fails."""

_NO_SPACE = "No space left on device"


@derived
def is_out_of_space(event: Event, view: View) -> bool:
    """Is lack of space the reason?

    Releases up to 2.21 print no errno when they cannot extend a file: only space is missing then. A segment that
    failed without errno counts only beside such a line, as CUDA's refusal to register it reads the same
    (src/misc/shmutils.cc, v2.12.7-1 to v2.22.3-1).
    """
    error = event.fields.get("error")
    if error is not None:
        return error == _NO_SPACE
    if event.event == "shm-segment-failed":
        return any(_lacks_space(e) for e in view.events_on(event.host, ["shm-extend-failed"]) if e.host == event.host)
    return event.event in {"shm-extend-failed", "container-shm-small"}


def _lacks_space(event: Event) -> bool:
    error = event.fields.get("error")
    return event.event == "shm-extend-failed" and error in {None, _NO_SPACE}


@derived
def because(event: Event, view: View) -> str:
    """``: Bad address``, or nothing where the line gives no reason."""
    error = event.fields.get("error")
    return f": {error}" if error else ""


@derived
def memlock_too_low(host: Host, view: View) -> bool | None:
    """Is the limit on locked memory below ``MEMLOCK_ENOUGH``?"""
    if view.get(host, "memlock_unlimited"):
        return False
    for limit in host.limits:
        if limit.name == "memlock":
            view.note(limit)
    size = view.get(host, "memlock_bytes")
    return None if size is None else bool(size < MEMLOCK_ENOUGH)


@derived
def memlock_text(host: Host, view: View) -> str:
    """The limit on locked memory for people: ``64 KiB``."""
    limit = view.get(host, "memlock_bytes")
    if limit is None:
        return "an unknown size"
    return f"{limit >> 20} MiB" if limit >= 1 << 20 else f"{limit >> 10} KiB"


@derived
def uses_rdma(host: Host, view: View) -> bool | None:
    """Do ranks of this host use verbs, or do messages of verbs calls come from it?"""
    verbs = [name for name in view.event_names() if name.startswith("ib-") and name != "ib-no-device"]
    if view.events_on(host.name, verbs):
        return True
    nets = {r.net for r in ranks_of(host, view)} - {None}
    if nets:
        return nets != {"Socket"}
    return True if host.hcas else view.get(host, "has_rdma_hardware")


@derived
def mixes_link_layers(rank: Rank, view: View) -> bool | None:
    """Does the rank's list of RDMA ports hold InfiniBand and RoCE ports?"""
    if rank.net_devices is None:
        return None
    return {"IB", "RoCE"} <= {d.link_layer for d in rank.net_devices}


@derived
def device_list(rank: Rank, view: View) -> str:
    """``mlx5_0 (IB), mlx5_bond_0 (RoCE)``."""
    return ", ".join(f"{d.name} ({d.link_layer or 'link layer unknown'})" for d in rank.net_devices or ())


@derived
def other_side(event: Event, view: View) -> str:
    """The peer that the message names, or ``its peer``."""
    return event.peer or "its peer"
