"""GPUs that wait in a collective, and those whose rank did not enter it, by load, memory activity and power."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_ranks
from ncdiag.facts.model import Gpu, Host, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.communicators import is_said_to_hang
from ncdiag.facts.vocabulary.gpus import spins
from ncdiag.facts.vocabulary.outcome import outcome
from ncdiag.knowledge.collective.taken_turns import has_other_cause, may_be_anothers, may_take_turns

_HELD_MIB = 300
"""MiB that a GPU has in use at least where a process of a job is on it: a context of CUDA alone takes as much."""
_FEW, _MANY = 2, 3
"""GPUs that wait at least, and those beside which a single idle GPU is part of the job without memory in use."""
_LATE_SHARE = 3
"""GPUs that wait for each one that computes: with fewer, the ranks may take turns, as the stages of a pipeline do."""
_IDLE_PERCENT, _IDLE_SHARE = 2, 0.3
"""The largest load of a GPU on which no kernel runs, and the share of its power limit that it stays below."""

_SHOWS = {True: "memory_activity_percent", False: "power_watts"}
"""What shows that a GPU computes, by whether the use of its memory is known."""
_ACTIVE_PERCENT, _POWER_SHARE = 15, 0.6
"""The use of the memory, or without it the share of its power limit, from which a GPU surely computes."""


@derived
def rests(gpu: Gpu, view: View) -> bool | None:
    """Is the GPU idle: does no kernel run on it, and does it draw little power? None where its load is not known."""
    if gpu.load_percent is None:
        return None
    power, limit = gpu.power_watts, gpu.power_limit_watts
    return gpu.load_percent <= _IDLE_PERCENT and not (power and limit and power >= limit * _IDLE_SHARE)


@derived
def gpus_spinning(job: Job, view: View) -> int:
    """The number of GPUs, of all hosts, on which a collective waits."""
    return sum(bool(spins(gpu, view)) for gpu in _gpus(job))


@derived
def gpus_not_entered(host: Host, view: View) -> str | None:
    """The idle GPUs of the host while most others of the job wait in a collective, ``5`` or ``3,5``; empty for none.

    Empty also where a GPU computes, since the others may wait for that one, and for GPUs on which no process of the job
    is: without memory in use, a GPU counts only where it is the single one beside several that wait. None where nothing
    shows whether busy GPUs wait or compute.
    """
    every = _gpus(view.job)
    idle = [gpu for gpu in every if rests(gpu, view)]
    own = [gpu for gpu in idle if gpu in host.gpus and gpu.index is not None]
    for gpu in own:  # their lines are the first evidence
        view.note(gpu, "load_percent")
    waiting = gpus_spinning(view.job, view)
    if idle and any(spins(gpu, view) is None for gpu in every):
        return None
    if waiting < _FEW or waiting + len(idle) < len(every) or not 0 < len(idle) < waiting:
        return ""
    if not all((gpu.memory_used_mib or 0) >= _HELD_MIB for gpu in idle) and (len(idle) > 1 or waiting < _MANY):
        return ""
    return fold_ranks(gpu.index for gpu in own if gpu.index is not None) if own else ""


@derived
def gpus_computing(host: Host, view: View) -> str | None:
    """The GPUs of the host that compute while the others of the job wait for them, ``5`` or ``3,5``; empty for none.

    Empty also where the text says nothing of a job that is slow or hangs: in a job that is well, somebody is always the
    last to enter a collective. None where nothing shows whether busy GPUs wait or compute.
    """
    for gpu in (one for one in host.gpus if _uses_memory(one)):  # their lines are the first evidence
        view.note(gpu, _SHOWS[gpu.memory_activity_percent is not None])
    late = late_gpus(view.job, view)
    if late is None:
        return None
    own = [gpu for gpu in host.gpus if gpu in late and gpu.index is not None]
    for gpu in own:
        view.note(gpu, _SHOWS[gpu.memory_activity_percent is not None])
    return fold_ranks(gpu.index for gpu in own if gpu.index is not None)


@derived
def late_gpus(job: Job, view: View) -> tuple[Gpu, ...] | None:
    """The few GPUs that compute while all others of a job that is slow or hangs wait; None where that is unknown."""
    every = _gpus(job)
    busy = [gpu for gpu in every if not rests(gpu, view)]
    if not is_said_to_hang(job) and not any(told.what == "slow" for told in job.complaints):
        return ()
    if may_take_turns(job, view) or has_other_cause(job, view):
        return ()
    if any(spins(gpu, view) is None for gpu in busy):
        return None
    late = [gpu for gpu in busy if not spins(gpu, view)]
    if not late or len(late) * _LATE_SHARE > gpus_spinning(job, view) or len(busy) < len(every):
        return ()
    return () if may_be_anothers(late, busy, job) else tuple(late)


@derived
def all_spin(job: Job, view: View) -> bool:
    """Do all GPUs with a known load wait, in a job that is not known to make progress?

    Without any memory activity, or, in a job that is said to hang, by their power alone.
    """
    every = _gpus(job)
    told = is_said_to_hang(job)
    shown = all((told or gpu.memory_activity_percent is not None) and spins(gpu, view) for gpu in every)
    went_on = "finished" if is_said_to_hang(job) else "running"  # steps before a hang say nothing of it
    return len(every) >= _FEW and shown and outcome(job, view) not in {"finished", went_on}


@derived
def all_compute(job: Job, view: View) -> bool:
    """Do all GPUs that are busy compute: they use their memory, or draw much power? No where none is busy."""
    busy = [gpu for gpu in _gpus(job) if not rests(gpu, view)]
    computing = [gpu for gpu in busy if spins(gpu, view) is False and _uses_memory(gpu)]
    for gpu in computing[:1]:
        view.note(gpu, _SHOWS[gpu.memory_activity_percent is not None])
    return bool(busy) and len(computing) == len(busy)


def _uses_memory(gpu: Gpu) -> bool:
    """Does the GPU read and write its memory, or else draw much of its power?"""
    if gpu.memory_activity_percent is not None:
        return gpu.memory_activity_percent >= _ACTIVE_PERCENT
    power, limit = gpu.power_watts, gpu.power_limit_watts
    return bool(power and limit and power >= limit * _POWER_SHARE)


def _gpus(job: Job) -> list[Gpu]:
    """The GPUs of all hosts whose load is known."""
    return [gpu for host in job.hosts for gpu in host.gpus if gpu.load_percent is not None]
