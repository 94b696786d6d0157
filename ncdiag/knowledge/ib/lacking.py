"""What a host lacks for RDMA: a driver, or a device or library that NCCL finds on the other hosts of the job."""

from __future__ import annotations

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Job
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.view import View

_TCP = "Socket"
_NOT_LOADED = "verbs-driver-not-loaded"
_MODULES = ("mlx5_core", "mlx5_ib")
_OLDER = ("ConnectX-3", "ConnectX-2", "ConnectX EN", "ConnectX VPI", "MT27500", "MT26428", "BlueField-3 SoC Management")
"""Cards of the driver mlx4, and a function that has no RDMA (pci.ids)."""


@derived_of("libibverbs-missing", "ib-no-device")
def peers_use_rdma(event: Event, view: View) -> bool:
    """Do the ranks on its host use TCP sockets while ranks of the job on other hosts use RDMA?"""
    here = [rank for rank in view.ranks_on(event.host) if rank.net is not None] if event.host else []
    if not here or any(rank.net != _TCP for rank in here):
        return False
    there = next((rank for rank in view.job.ranks if rank.net not in {None, _TCP} and rank.host != event.host), None)
    if there is not None:
        view.note(here[0], "net")
        view.note(there, "net")
    return there is not None


@derived
def unloaded_verbs(job: Job, view: View) -> tuple[Event, ...]:
    """Signs that the part of a card's driver for verbs is not loaded: what libraries say, and lists of modules.

    A card of NVIDIA needs mlx5_core and mlx5_ib from ConnectX-4 on (drivers/infiniband/hw/mlx5/main.c). A card for
    Ethernet works without the second: it counts where somebody misses RDMA or speed.
    """
    told = [event for event in job.events if event.event == _NOT_LOADED]
    missed = any(complaint.what in {"not-used", "slow"} for complaint in job.complaints)
    for host in job.hosts:
        loaded = {each.name for each in host.modules}
        absent = set(_MODULES) - loaded if is_closed(host, "modules") else set(host.absent_modules or ())
        module = next((name for name in _MODULES if name in absent), None)
        span = host.provenance.get("absent_modules") or host.provenance.get("complete:lsmod")
        card = any(_needs_verbs(each.description or "", missed=missed) for each in host.pci)
        if module is not None and card and span is not None and not host.hcas:
            text = f"{module} is not loaded"
            told.append(
                Event(
                    event=_NOT_LOADED, origin="kernel", kind="cause", text=text, host=host.name, provenance={"": span}
                )
            )
    return tuple(told)


def _needs_verbs(description: str, *, missed: bool) -> bool:
    if "Mellanox" not in description or any(old in description for old in _OLDER):
        return False
    return missed or "Infiniband controller" in description
