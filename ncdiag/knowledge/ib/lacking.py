"""Hosts that NCCL leaves without RDMA while the other hosts of the job use it."""

from __future__ import annotations

from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View

_TCP = "Socket"


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
