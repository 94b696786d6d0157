"""Runs in one input, in sequence or in separate files, and the differences between good and bad ones."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Span
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Benchmark, Job, Launch, RunLabel
from ncdiag.facts.model.told import RELEASED
from ncdiag.facts.scalars import VersionRange
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_failure, marks
from ncdiag.facts.vocabulary.places import place

_NUMBERED = lazy_regex(r"(?P<unit>[a-z]+)-(?P<number>\d+(?:\.\d+)*)")
_FASTER = 1.5
"""The ratio of bus bandwidths from which one run counts as faster; smaller differences are normal variation."""
_MARKUP = "#*:>-` "
_FEW = 20
"""The largest number of launches that are compared; an input with more is a script or a history, not a trial."""


class Run(msgspec.Struct, frozen=True):
    """A launch, or what a person calls a run, with the lines that follow it in its source: what it set, how it ended.

    ``label`` is the line that names it. ``ended``: True for a normal end, False for a failure or a table without rows,
    None if not known. ``busbw`` is in GB/s.
    """

    launch: Launch | None
    label: RunLabel | None
    span: Span
    ranks: int | None
    hosts: int | None
    version: VersionRange | None
    ended: bool | None
    busbw: float | None

    @property
    def env(self) -> dict[str, str]:
        """The variables that the launch sets, and those that the label names."""
        named = dict(c.split("=", 1) for c in self.conditions if "=" in c)
        return named if self.launch is None else {**self.launch.prefix_env, **self.launch.env, **named}

    @property
    def conditions(self) -> tuple[str, ...]:
        """What the label names, as labels of changes."""
        return self.label.conditions if self.label is not None else ()


class SeenTrial(msgspec.Struct, frozen=True):
    """Two runs that differ in one thing; ``change`` is what the better one had, with the labels of `Trial.change`."""

    change: str
    outcome: Literal["works", "faster"]
    spans: tuple[Span, ...]


@derived
def runs(job: Job, view: View) -> tuple[Run, ...]:
    """The launches and named runs of the input that are followed by output, in the order of the input."""
    starts = [
        (at, fact) for fact in (*job.launches, *job.run_labels) if (at := place(fact)) and fact.provenance.get("")
    ]
    if not 1 < len(starts) <= _FEW:
        return ()
    starts.sort(key=lambda item: item[0])
    ends = {at: after[0][1] if after[0][0] == at[0] else None for (at, _), after in pairwise(starts)}
    found: list[Run] = []
    label: RunLabel | None = None
    for at, fact in starts:
        launch = fact if isinstance(fact, Launch) else None
        label = fact if isinstance(fact, RunLabel) else label
        run = _run((launch, label), fact.provenance[""], at, ends.get(at), view)
        if launch is not None or run.ended is not None:  # a label before a launch is that of its run
            found.append(run)
            label = None
    return tuple(found)


def _run(
    named: tuple[Launch | None, RunLabel | None], span: Span, at: tuple[str, int], end: int | None, view: View
) -> Run:  # fmt: skip
    launch, label = named
    source, begin = at

    def within(found: tuple[str, int] | None) -> bool:
        return found is not None and found[0] == source and begin < found[1] and (end is None or found[1] < end)

    job = view.job
    tests = [test for test in job.benchmarks if within(place(test))]
    failed = any(is_failure(event, view) and within(place(event)) for event in job.events)
    well = any(within((source, line)) for line in marks(job, view).finished.get(source, ()))
    test = tests[0] if tests else None
    stood = test is not None and bool(test.columns) and not test.rows
    ranks = test.nranks if test is not None else None
    hosts = test.nhosts if test is not None else None
    if launch is not None:
        ranks = ranks or launch.np or launch.nproc_per_node
        hosts = hosts or launch.nnodes or len(launch.hosts) or None
    busbw = _busbw(test) if test is not None else None
    return Run(
        launch=launch, label=label, span=span, ranks=ranks, hosts=hosts,
        version=test.nccl_version if test is not None else None,
        ended=False if failed or stood else True if well or busbw is not None else None,
        busbw=busbw,
    )  # fmt: skip


def _busbw(test: Benchmark) -> float | None:
    """The average of a run; where only rows are shown, the best of them."""
    rows = [row.busbw for row in test.rows if row.busbw is not None]
    return test.average_busbw if test.average_busbw is not None else max(rows, default=None)


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
    """The labels of what the good run had and the bad run did not; the words of a person where nothing else differs."""
    found = list(_known(good, bad))
    yield from found
    if not found and good.label is not None and bad.label is not None and good.label.text != bad.label.text:
        yield f'"{good.label.text.strip(_MARKUP)}"'


def _known(good: Run, bad: Run) -> Iterator[str]:
    ours, theirs = good.env, bad.env
    for name in sorted({*ours, *theirs}):
        if ours.get(name) != theirs.get(name):
            yield f"{name}={ours[name]}" if name in ours else f"unset {name}"
    if good.hosts and bad.hosts and good.hosts != bad.hosts:
        yield _size(good.hosts, bad.hosts, "host")
    elif good.ranks and bad.ranks and good.ranks != bad.ranks:
        yield _size(good.ranks, bad.ranks, "gpu")
    if good.launch is not None and bad.launch is not None and good.launch.program != bad.launch.program:
        yield "other-launcher"
    named = list(_named(good, bad))
    yield from named
    released = any(change.endswith("-nccl") for change in named)
    if good.version and bad.version and str(good.version) != str(bad.version) and not released:
        yield f"{'older' if good.version.low < bad.version.low else 'newer'}-nccl"


def _named(good: Run, bad: Run) -> Iterator[str]:
    """What the labels of the runs say that differs, apart from variables."""
    ours, theirs = ({c for c in run.conditions if "=" not in c} for run in (good, bad))
    releases = {found["unit"]: _parts(found["number"]) for c in theirs - ours if (found := _NUMBERED.fullmatch(c))}
    for condition in sorted(ours - theirs):
        found = _NUMBERED.fullmatch(condition)
        if found is None:
            yield condition
        elif found["unit"] in {"gpu", "host"} and found["unit"] in releases:
            yield _size(_parts(found["number"])[0], releases[found["unit"]][0], found["unit"])
        elif found["unit"] in RELEASED:
            before = releases.get(found["unit"])
            number = _parts(found["number"])
            yield f"{'other' if before is None else 'older' if number < before else 'newer'}-{found['unit']}"
    missing = {unit for unit in releases if unit in RELEASED} - {c.partition("-")[0] for c in ours}
    yield from (f"other-{unit}" for unit in sorted(missing))


def _parts(number: str) -> tuple[int, ...]:
    return tuple(int(part) for part in number.split("."))


def _size(good: int, bad: int, what: str) -> str:
    if good > bad:
        return f"more-{what}s"
    return f"one-{what}" if good == 1 else f"fewer-{what}s"
