"""How the steps of a batch job start its launcher: on the first node only, or in each task."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Event, Job, Launch, Relation
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import EACH_ON_ITS_HOST, MPI_PROGRAMS, tasks_on_each
from ncdiag.facts.vocabulary.outcome import went_on
from ncdiag.facts.vocabulary.probes import lines_of

_WAITED = frozenset({"torch-store-timeout", "coordination-start-timeout"})
_STARTS_SEVERAL = (*MPI_PROGRAMS, "srun")
_ONCE_FOR_ALL = (*MPI_PROGRAMS, "horovodrun")
"""Launchers that start the processes of all hosts from one of them."""
_OTHERS = ("horovodrun", "deepspeed", "ray")
"""Launchers that reach the other nodes by themselves."""
_SEVERAL = 2
_TASKS_LEFT_OPEN = lazy_regex(r"\s(?:-n|--ntasks(?:-per-node)?|--tasks-per-node|-np?|--npernode|-ppn)[ =]?[\"']?[$<{]")
"""A number of tasks that the shell fills in."""
_TASKS_ARE_NODES = lazy_regex(
    r"--nnodes[= ][\"']?\$\{?(?:SLURM_(?:NTASKS|NPROCS|STEP_NUM_TASKS)|OMPI_COMM_WORLD_SIZE)\b"
)
"""Each task is a node for the launcher, as its line says."""


def batch_alone(job: Job, view: View) -> Iterator[Relation]:
    """One process came to the rendezvous of a batch job of several nodes, in which nothing starts others."""
    batch = _batch(job)
    if batch is None or (batch.nnodes or 1) < _SEVERAL or any(_spreads(launch) for launch in job.launches):
        return
    waits = [event for event in job.events if event.event in _WAITED and not went_on(event, view)]
    alone = [event for event in waits if _is_alone(event)]
    unseen = [launch for launch in job.launches if launch.program in EACH_ON_ITS_HOST]
    found = alone or (waits if unseen else [])
    if found:
        text = (
            f"the batch job has {batch.nnodes} nodes, no line of it starts a step, and one process waits for the others"
        )
        yield Relation(what="batch-alone", text=text, provenance=lines_of([batch, *unseen[:1], found[0]]))


def _batch(job: Job) -> Launch | None:
    return next((launch for launch in job.launches if launch.program == "sbatch"), None)


def _spreads(launch: Launch) -> bool:
    """Does the line start processes on other nodes?"""
    return launch.program.endswith(_STARTS_SEVERAL) or launch.program.startswith(_OTHERS) or launch.agent is not None


def _is_alone(event: Event) -> bool:
    """Did one process come, and are others expected?"""
    joined, expected = event.fields.get("joined"), event.fields.get("expected", event.fields.get("world_size"))
    return joined == 1 and isinstance(expected, int) and expected > joined


def in_each_task(job: Job, _view: View) -> Iterator[Relation]:
    """A launcher that starts all processes of a host, or of the job, is itself started several times on each host."""
    batch = _batch(job)
    for launch in job.launches:
        started = _starts_by_itself(launch)
        if started < _SEVERAL:
            continue
        outer = next((each for each in job.launches if _starts(each, launch)), None)
        tasks = None if outer is None else _tasks(outer, batch)
        if outer is None or tasks is None or tasks < _SEVERAL or _TASKS_ARE_NODES.search(launch.text):
            continue
        if launch.nnodes is not None and launch.nnodes == (outer.np or tasks * ((batch and batch.nnodes) or 1)):
            continue
        text = f"{outer.program} starts {tasks} copies of {launch.program} on each host, and each starts"
        text += f" {started} processes"
        yield Relation(what="in-each-task", text=text, provenance=lines_of([launch, *([batch] if batch else [])]))


def _starts_by_itself(launch: Launch) -> int:
    """The processes that a launcher starts, which is itself to be started once on a host, or once for the job."""
    if launch.program in EACH_ON_ITS_HOST:
        return launch.nproc_per_node or 1
    return launch.np or 1 if launch.program.endswith(_ONCE_FOR_ALL) else 1


def _starts(outer: Launch, launch: Launch) -> bool:
    """Is the second command on the line of the first, which starts it in its tasks?"""
    if launch.program.endswith(_ONCE_FOR_ALL) and outer.program != "srun":
        return False
    return outer.program.endswith(_STARTS_SEVERAL) and outer.text == launch.text and outer.host == launch.host


def _tasks(outer: Launch, batch: Launch | None) -> int | None:
    """Tasks on each host: as the line says, or for srun the batch job; None where that is not known."""
    each = outer.nproc_per_node
    if each is None and _TASKS_LEFT_OPEN.search(outer.text):
        return None
    asked = batch if outer.program == "srun" else None
    named = len({host.name for host in outer.hosts})
    hosts = outer.nnodes or named or (asked.nnodes if asked is not None else None)
    total = outer.np
    if each is None and total is None and asked is not None:  # a step has the tasks of its job
        each, total = asked.nproc_per_node, asked.np
    return tasks_on_each(each, total, hosts)
