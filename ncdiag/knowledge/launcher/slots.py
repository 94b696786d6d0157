"""Slots: the number of processes that a launcher may start on each host.

Open MPI refuses what exceeds them (orte/mca/rmaps/base/help-orte-rmaps-base.txt, prrte src/mca/rmaps/base), horovodrun
as well (horovod/runner/common/util/hosts.py). MPICH and Intel MPI begin again at the first host.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Job, Launch
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import HYDRA_OPTIONS, OPEN_MPI_OPTIONS
from ncdiag.facts.vocabulary.outcome import is_open_failure

_REFUSED, _HOROVOD = "mpi-not-enough-slots", "horovodrun"
_REFUSES = frozenset({"mpirun", "prterun", "mpiexec", _HOROVOD})
_HYDRA = lazy_regex(r"\[(?:mpiexec@|proxy:)|\bHYDRA\b|\bIntel\(R\) MPI\b|\bI_MPI_")
"""What MPICH's and Intel's launchers print, and variables of the latter."""
_SHARES = lazy_regex(r"(?<!no)oversubscribe", re.IGNORECASE)
_OFF = frozenset({"0", "false", "no"})
_RAN = frozenset({"program-greets", "rank-announced", "progress-step", "program-finished"})
"""Events of processes that a launcher has started."""
_WITH_GPUS = lazy_regex(r"_perf\b|python|torch|nccl|cuda|gpu|horovod|deepspeed|jax|train", re.IGNORECASE)
_MOST = 8
"""Number of hosts that a sentence names."""


@derived
def slots(launch: Launch, view: View) -> int | None:
    """The sum of the slots of the named hosts; None when one of them has none."""
    counts = [host.slots for host in launch.hosts]
    known = [count for count in counts if count is not None]
    return sum(known) if counts and len(known) == len(counts) else None


@derived
def lacking_slots(job: Job, view: View) -> str | None:
    """A sentence about ranks for which the hosts have no slots; empty for none, None if unknown."""
    refusal = next((event for event in job.events if event.event == _REFUSED and is_open_failure(event, view)), None)
    if refusal is not None:
        view.note(refusal)
        return _refusal(refusal, view)
    if job.ranks or job.benchmarks or not _RAN.isdisjoint(view.event_names()):
        return ""
    counted = False
    for launch, owner in _pairs(job):
        count = slots(owner, view)
        if count is None or launch.np is None:
            continue
        counted = True
        if launch.np > count:
            view.note(launch)
            view.note(owner)
            return f"{launch.program} is to start {launch.np} ranks, and its hosts have {count} slots: {_each(owner)}"
    return "" if counted else None


def _refusal(told: Event, view: View) -> str:
    """The message of the launcher, with the slots of its hosts where these are in the input."""
    wanted, held = told.fields.get("wanted_slots"), told.fields.get("held_slots")
    if wanted is None:
        return "The launcher was asked for more ranks than its hosts have slots for"
    for launch in view.job.launches:
        count = slots(launch, view)
        if count is not None and count < int(wanted):
            view.note(launch)
            return f"The launcher was asked for {wanted} ranks, and its hosts have {count} slots: {_each(launch)}"
    if held is not None:
        return f"The launcher was asked for {wanted} ranks, and its hosts have {held} slots"
    return f"The launcher was asked for {wanted} ranks, more than its hosts have slots for"


def _pairs(job: Job) -> Iterator[tuple[Launch, Launch]]:
    """Each launch line with what lists its hosts: itself, or a host file that it names."""
    for launch in job.launches:
        if launch.program in _REFUSES and not _may_share(launch, job) and not _begins_again(launch, job):
            yield launch, launch
            if launch.hostfile is not None:
                yield from ((launch, other) for other in job.launches if other.program == "hostfile")


def _may_share(launch: Launch, job: Job) -> bool:
    """Does an option, a parameter, or a variable such as ``PRTE_MCA_rmaps_...``, let processes share slots?"""
    if _SHARES.search(launch.text):
        return True
    given = {**launch.env, **launch.prefix_env, **{setting.name: setting.text or "" for setting in job.settings}}
    rmaps = {name: str(value) for name, value in given.items() if "_MCA_rmaps_" in name}
    return any(_SHARES.search(f"{name}={value}") and value.lower() not in _OFF for name, value in rmaps.items())


def _begins_again(launch: Launch, job: Job) -> bool:
    """Is it the launcher of MPICH or Intel MPI, which begins again at the first host when all slots are taken?"""
    if launch.program == _HOROVOD:
        return False
    if HYDRA_OPTIONS.search(launch.text) or any(map(_HYDRA.search, [launch.text, *(e.text for e in job.events)])):
        return True
    return launch.program == "mpiexec" and OPEN_MPI_OPTIONS.search(launch.text) is None


@derived
def is_started_by_horovod(job: Job, view: View) -> bool:
    """Is horovodrun the launcher whose slots count?"""
    refusals = (event for event in job.events if event.event == _REFUSED)
    return any(launch.program == _HOROVOD for launch in job.launches) or any(
        "available slots (" in e.text for e in refusals
    )


@derived
def is_without_gpus(job: Job, view: View) -> bool:
    """Do all launch lines start programs that show no sign of NCCL or of GPUs?"""
    lines = [launch.text for launch in job.launches if launch.program in _REFUSES]
    return bool(lines) and not job.ranks and not any(map(_WITH_GPUS.search, lines))


def _each(launch: Launch) -> str:
    """The slots of each host: ``n1 8, n2 0``."""
    each = [f"{host.name} {host.slots}" for host in launch.hosts[:_MOST]]
    return ", ".join([*each, *(["..."] if len(launch.hosts) > _MOST else [])])
