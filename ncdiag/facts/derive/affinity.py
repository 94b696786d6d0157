"""Processes that may not use the processors near their GPU: NCCL's threads and staging buffers are at the far ones.

NCCL takes of the processors near a GPU those that its process may use, and none of them where there is no such one
(src/graph/topo.cc, ncclTopoGetCpuAffinity); since 2.28 it says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.model import Gpu, Host, Rank
from ncdiag.facts.scalars import bus_id
from ncdiag.facts.view import View, derived

_CPUS = 1 << 13
_SHOWN = 3

Binding = tuple[str, str, str]
"""What is bound (``GPU 3``), the processors of its process, those near it."""


@derived
def far_bindings(host: Host, view: View) -> str | None:
    """``GPU 0 (its process may use 64-95, near it are 0-31)``; empty for none, None where nothing tells.

    A log tells of those that are bound wrongly alone.
    """
    found = dict.fromkeys(_told_by_nccl(host, view))
    compared = list(_compared(host, view))
    found |= dict.fromkeys(binding for binding, far in compared if far)
    if not found:
        return "" if compared else None
    texts = [f"{what} (its process may use {own}, near it are {near})" for what, own, near in found]
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more


def _told_by_nccl(host: Host, view: View) -> Iterator[Binding]:
    for event in view.events_on(host.name, ["cpu-affinity-empty"]):
        view.note(event)
        yield f"GPU {event.fields.get('gpu')}", str(event.fields.get("process_cpus")), str(event.fields.get("gpu_cpus"))


def _compared(host: Host, view: View) -> Iterator[tuple[Binding, bool]]:
    """Ranks whose processors and whose GPU's are known, and whether these have none in common."""
    processes = {process.pid: process.cpus for process in host.process_cpus or ()}
    for rank in view.ranks_on(host.name) if processes else ():
        own, gpu = processes.get(rank.pid or 0), _gpu(rank, host)
        near = gpu.cpu_affinity if gpu is not None else None
        mine, there = cpu_numbers(own or ""), cpu_numbers(near or "")
        if gpu is not None and mine and there:
            view.note(host, "process_cpus")
            view.note(gpu, "cpu_affinity")
            yield (f"GPU {gpu.index if gpu.index is not None else gpu.bus_id}", own or "", near or ""), not mine & there


def _gpu(rank: Rank, host: Host) -> Gpu | None:
    """The GPU of a rank by its bus id; where the host's have none, by CUDA's number."""
    where = bus_id(rank.bus_id or "")
    by_bus = next((gpu for gpu in host.gpus if where and gpu.bus_id == where), None)
    if by_bus is not None or any(gpu.bus_id for gpu in host.gpus):
        return by_bus
    return next((gpu for gpu in host.gpus if rank.cuda_dev is not None and gpu.index == rank.cuda_dev), None)


def cpu_numbers(text: str) -> frozenset[int]:
    """The numbers of a list such as ``0-31,64-95``; empty for anything else."""
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        if not first.isdecimal() or not (last or first).isdecimal() or len(first) > 5 or len(last) > 5:  # noqa: PLR2004
            return frozenset()
        found |= set(range(int(first), min(int(last or first) + 1, _CPUS)))
    return frozenset(found)
