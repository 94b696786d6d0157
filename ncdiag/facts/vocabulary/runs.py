"""Runs in one input, in sequence or in separate files, and the differences between good and bad ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

import msgspec

from ncdiag.base.spans import Span
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Benchmark, Job, Launch
from ncdiag.facts.scalars import VersionRange
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_failure, marks, place

_FASTER = 1.5
"""The ratio of bus bandwidths from which one run counts as faster; smaller differences are normal variation."""
_FEW = 20
"""The largest number of launches that are compared; an input with more is a script or a history, not a trial."""


class Run(msgspec.Struct, frozen=True):
    """A launch with the lines that follow it in its source: what it set, its size, and how it ended.

    ``ended``: True for a normal end, False for a failure or a table without rows, None if not known. ``busbw`` is in
    GB/s.
    """

    launch: Launch
    span: Span
    ranks: int | None
    hosts: int | None
    version: VersionRange | None
    ended: bool | None
    busbw: float | None


class SeenTrial(msgspec.Struct, frozen=True):
    """Two runs that differ in one thing; ``change`` is what the better one had, with the labels of `Trial.change`."""

    change: str
    outcome: Literal["works", "faster"]
    spans: tuple[Span, ...]


@derived
def runs(job: Job, view: View) -> tuple[Run, ...]:
    """The launches of the input that are followed by output, in the order of the input."""
    placed = [(at, launch) for launch in job.launches if (at := place(launch)) and launch.provenance.get("")]
    if not 1 < len(placed) <= _FEW:
        return ()
    placed.sort(key=lambda item: item[0])
    ends = {at: after[0][1] if after[0][0] == at[0] else None for (at, _), after in pairwise(placed)}
    return tuple(_run(launch, at, ends.get(at), view) for at, launch in placed)


def _run(launch: Launch, at: tuple[str, int], end: int | None, view: View) -> Run:
    source, begin = at

    def within(found: tuple[str, int] | None) -> bool:
        return found is not None and found[0] == source and begin < found[1] and (end is None or found[1] < end)

    job = view.job
    tests = [test for test in job.benchmarks if within(place(test))]
    failed = any(is_failure(event, view) and within(place(event)) for event in job.events)
    well = any(within((source, line)) for line in marks(job, view).finished.get(source, ()))
    test = tests[0] if tests else None
    stood = test is not None and bool(test.columns) and not test.rows
    ranks = test.nranks if test is not None and test.nranks else launch.np or launch.nproc_per_node
    return Run(
        launch=launch, span=launch.provenance[""], ranks=ranks,
        hosts=test.nhosts if test is not None and test.nhosts else launch.nnodes or len(launch.hosts) or None,
        version=test.nccl_version if test is not None else None,
        ended=False if failed or stood else True if well or _has_result(test) else None,
        busbw=test.average_busbw if test is not None else None,
    )  # fmt: skip


def _has_result(test: Benchmark | None) -> bool:
    return test is not None and test.average_busbw is not None


@derived
def seen_trials(job: Job, view: View) -> tuple[SeenTrial, ...]:
    """Pairs of runs that differ in one thing only, of which one ended normally or was faster, and the other did not."""
    found: dict[SeenTrial, None] = {}
    held = runs(job, view)
    for good in held:
        for bad in held:
            outcome = _compared(good, bad)
            changes = list(_changes(good, bad)) if outcome else []
            if outcome and len(changes) == 1:
                found[SeenTrial(changes[0], outcome, (good.span, bad.span))] = None
    return tuple(found)


def _compared(good: Run, bad: Run) -> Literal["works", "faster"] | None:
    if good.ended and bad.ended is False:
        return "works"
    if good.ended and bad.ended and good.busbw and bad.busbw and good.busbw >= _FASTER * bad.busbw:
        return "faster"
    return None


def _changes(good: Run, bad: Run) -> Iterator[str]:
    """The labels of what the good run had and the bad run did not."""
    ours, theirs = ({**run.launch.prefix_env, **run.launch.env} for run in (good, bad))
    for name in sorted({*ours, *theirs}):
        if ours.get(name) != theirs.get(name):
            yield f"{name}={ours[name]}" if name in ours else f"unset {name}"
    if good.hosts and bad.hosts and good.hosts != bad.hosts:
        yield _size(good.hosts, bad.hosts, "host")
    elif good.ranks and bad.ranks and good.ranks != bad.ranks:
        yield _size(good.ranks, bad.ranks, "gpu")
    if good.launch.program != bad.launch.program:
        yield "other-launcher"
    if good.version is not None and bad.version is not None and str(good.version) != str(bad.version):
        yield "other-nccl"


def _size(good: int, bad: int, what: str) -> str:
    if good > bad:
        return f"more-{what}s"
    return f"one-{what}" if good == 1 else f"fewer-{what}s"
