"""Data loader workers against the processors of a host."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Context, Fact, Job, Launch, Relation
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.probes import lines_of

_WORKERS = lazy_regex(r"[\s._-](?:num[_-]workers|workers[_-]per[_-]gpu)[= ](\d{1,3})(?![\w.])")
"""The option of a training script for the number of worker processes that each rank's DataLoader starts."""
_TIMES = 2
"""Workers for each processor that a host still bears: they wait for storage for a part of the time."""


def loaders_over_cpus(job: Job, _view: View) -> Iterator[Relation]:
    """The ranks of a host start more than `_TIMES` as many loader workers as it has processors."""
    cpus = _cpus(job)
    if cpus is None:
        return
    for launch in job.launches:
        ranks, workers = launch.nproc_per_node, _workers(launch, job)
        if ranks is None or workers is None or ranks * workers[0] <= _TIMES * cpus[0]:
            continue
        text = f"{ranks} processes of a host start {workers[0]} data loader workers each, on {cpus[0]:g} processors"
        yield Relation(what="loaders-over-cpus", text=text, provenance=lines_of([launch, workers[1], cpus[1]]))
        return


def _cpus(job: Job) -> tuple[float, Fact] | None:
    """The largest number of processors that is known of a host: a smaller one may be another host's or a part."""
    found: list[tuple[float, Fact]] = [(host.cpu_limit, host) for host in job.hosts if host.cpu_limit is not None]
    found += [(float(each.value.split()[0]), each) for each in _said(job, "cpu-count")]
    return max(found, key=lambda each: each[0], default=None)


def _workers(launch: Launch, job: Job) -> tuple[int, Fact] | None:
    """The workers of each rank: those of the line, or the fewest that somebody says, who may try several."""
    if (found := _WORKERS.search(launch.text)) is not None:
        return int(found[1]), launch
    said = [(int(each.value.split()[0]), each) for each in _said(job, "loader-count")]
    return min(said, key=lambda each: each[0], default=None)


def _said(job: Job, kind: str) -> list[Context]:
    return [context for context in job.contexts if context.kind == kind]
