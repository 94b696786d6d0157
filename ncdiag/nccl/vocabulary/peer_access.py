"""Peer access that is offered but does not work: signs that copies between GPUs over PCIe do not arrive."""

from __future__ import annotations

from typing import Literal

from ncdiag.base.products import product_of
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Benchmark, Gpu, Host, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.failures import has_failed
from ncdiag.facts.vocabulary.gpus import has_nvlink, spins, uses_p2p
from ncdiag.facts.vocabulary.job import is_multi_host, stalled_at_start
from ncdiag.facts.vocabulary.outcome import marks, outcome
from ncdiag.nccl.vocabulary.levels import p2p_switch_told

_STALLED_US = 1000.0
"""The time of a small copy with peer access in microseconds from which it stalls; normal is 1 to 20 (CUDA samples)."""
_STALLED_GB_PER_S = 0.2
"""Large copies below this rate in GB/s do not work: even one lane of the first PCIe generation carries more."""


@derived
def has_no_nvlink(gpu: Gpu, view: View) -> bool | None:
    """Is this a GPU model without NVLink? None where the model does not decide."""
    product = product_of(gpu.model)
    return True if product is not None and product.nvlink is False else None


@derived
def lacks_nvlink(host: Host, view: View) -> bool | None:
    """Are the GPUs of the host without NVLink, by their topology, else by their models?"""
    joined = has_nvlink(host, view)
    if joined is not None:
        return not joined
    if host.gpus and all(has_no_nvlink(gpu, view) for gpu in host.gpus):
        view.note(host.gpus[0], "model")
        return True
    return None


PeerStall = Literal["", "copies", "first-collective", "first-size", "first-step", "waiting", "switch"]
"""The kind of sign that peer access does not work: stalled copies, a job that hangs, or that it is switched off."""


@derived
def stalled_copies(job: Job, view: View) -> str:
    """A pair whose copies stall with peer access and work without, ``GPU0 and GPU1 (49207 us)``; empty for none."""
    for link in (link for host in job.hosts for link in host.links):
        rate, without = link.peer_gb_per_s, link.staged_gb_per_s
        if rate is not None and rate < _STALLED_GB_PER_S and (without is None or without > _STALLED_GB_PER_S):
            view.note(link, "peer_gb_per_s")
            return f"{link.a} and {link.b} ({rate:g} GB/s)"
        slow, staged = link.peer_latency_us, link.staged_latency_us
        if slow is not None and slow >= _STALLED_US and (staged is None or staged < _STALLED_US):
            view.note(link, "peer_latency_us")
            return f"{link.a} and {link.b} ({slow:.0f} us)"
    return ""


@derived
def peer_stall(job: Job, view: View) -> PeerStall | None:
    """The sign that peer access does not work; empty for none.

    None if it cannot be determined: it was not shown how the GPUs are connected, or how far the job got.
    """
    if stalled_copies(job, view):
        return "copies"
    bare = [lacks_nvlink(host, view) for host in job.hosts]
    if False in bare:
        return ""
    alone = not is_multi_host(job, view)
    if stalled_at_start(job, view):
        return _of_first_collective(job, view, known=bool(bare) and None not in bare) if alone else ""
    return "" if has_failed(job, view) else _of_silence(job, view, known=True in bare, alone=alone)


def _of_silence(job: Job, view: View, *, known: bool, alone: bool) -> PeerStall | None:
    """The sign where no message reports a failure.

    None for a job on one host without anything that shows progress.
    """
    if p2p_switch_told(job, view):
        return _of_switch(job, view, known=known)
    if alone and known and any(stands_at_first_size(run, view) for run in job.benchmarks):
        return "first-size"
    if alone and known and waiting_gpus(job, view):
        return "waiting"
    if alone and stands_at_first_step(job, view):
        return "first-step"
    return "" if not alone or _is_at_work(job, view) else None


def _is_at_work(job: Job, view: View) -> bool:
    """Did the job make a step or a measurement, or was the load of its GPUs or copies between them shown?"""
    loads = (gpu.load_percent for host in job.hosts for gpu in host.gpus)
    copies = (link.peer_gb_per_s or link.peer_latency_us for host in job.hosts for link in host.links)
    moved = any(event.event == "progress-bar" and event.fields.get("done") for event in job.events)
    shown = any(value is not None for value in (*loads, *copies))
    return shown or moved or _went_on(job, view) or outcome(job, view) in {"finished", "running"}


def _went_on(job: Job, view: View) -> bool:
    return any(run.rows for run in job.benchmarks) or bool(marks(job, view).stepped)


@derived
def waiting_gpus(job: Job, view: View) -> str:
    """GPUs whose kernels run all the time and do little, ``GPU 0 and GPU 1``, in a job that NCCL has set up.

    Empty for fewer than two.
    """
    if not any(rank.state == "ready" or rank.transports for rank in job.ranks):
        return ""
    found = [f"GPU {gpu.index}" for host in job.hosts for gpu in host.gpus if spins(gpu, view)]
    return " and ".join(found) if len(found) > 1 else ""


def _of_first_collective(job: Job, view: View, *, known: bool) -> PeerStall | None:
    """The sign that the first collective of ranks that use peer access never ended."""
    direct = [rank for rank in job.ranks if uses_p2p(rank, view)]
    for rank in direct[:1]:
        view.note(rank, "transports")
    if not direct:
        return ""
    return "first-collective" if known else None


def _of_switch(job: Job, view: View, *, known: bool) -> PeerStall | None:
    """The sign that peer access is switched off on GPUs that are known to have no NVLink."""
    if _went_on(job, view):
        return ""  # a complete run shows what the setting costs, not why it was made
    return "switch" if known else None


@derived
def stands_at_first_size(benchmark: Benchmark, view: View) -> bool:
    """Does the table of nccl-tests have a header and nothing below it, not even its end?"""
    nothing = not benchmark.rows and not benchmark.unreadable_rows and benchmark.out_of_bounds is None
    stands = bool(benchmark.columns) and nothing and benchmark.average_busbw is None
    if stands:
        view.note(benchmark)
    return stands


@derived
def stands_at_first_step(job: Job, view: View) -> bool:
    """Does the input end with a progress bar at zero, after ranks that are ready and use no P2P?"""
    bars = [event for event in job.events if event.event == "progress-bar"]
    if not bars or bars[-1].fields.get("done") != 0 or bars[-1].order < max(event.order for event in job.events):
        return False
    ready = [rank for rank in job.ranks if rank.state == "ready" or rank.transports]
    shared = any(name.startswith("SHM") for rank in ready for name in rank.transports or ())
    view.note(bars[-1])
    return shared and not any(uses_p2p(rank, view) for rank in ready)
