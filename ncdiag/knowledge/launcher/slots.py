"""Slots: the number of processes that a launcher may start on each host.

Open MPI refuses what exceeds them (orte/mca/rmaps/base/help-orte-rmaps-base.txt, prrte src/mca/rmaps/base), horovodrun
as well (horovod/runner/common/util/hosts.py). MPICH and Intel MPI begin again at the first host.
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Job, Launch
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure

_REFUSED = "mpi-not-enough-slots"
_REFUSES = frozenset({"mpirun", "prterun", "mpiexec", "horovodrun"})
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
    if any(rank.state == "ready" for rank in job.ranks):
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
        if launch.program in _REFUSES and "oversubscribe" not in launch.text.lower():
            yield launch, launch
            if launch.hostfile is not None:
                yield from ((launch, other) for other in job.launches if other.program == "hostfile")


def _each(launch: Launch) -> str:
    """The slots of each host: ``n1 8, n2 0``."""
    each = [f"{host.name} {host.slots}" for host in launch.hosts[:_MOST]]
    return ", ".join([*each, *(["..."] if len(launch.hosts) > _MOST else [])])
