"""Compare the reports of many jobs: what the failed ones share that the good ones do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.fold import unfold_hosts
from ncdiag.report.differences import Jobs, Shared
from ncdiag.report.model import Report

_WELL = frozenset({"healthy-as-far-as-seen", "risk-only"})
_UNKNOWN = "nothing-understood"
_TELLING = 0.5
"""Minimum difference between the shares of failed and of good jobs with a value, if some good job has it."""
_SEVERAL = 2
"""Minimum number of failed jobs with a value, if there are so many."""


class Named(NamedTuple):
    """A report and the name of its file."""

    source: str
    report: Report


def compared(reports: Sequence[Named]) -> Jobs:
    """The failed and the good jobs, and the values that tell them apart."""
    known = [one for one in reports if one.report.summary.verdict != _UNKNOWN]
    good = [one for one in known if one.report.summary.verdict in _WELL]
    failed = [one for one in known if one not in good]
    return Jobs(
        failed=tuple(one.source for one in failed), good=tuple(one.source for one in good),
        left_out=tuple(one.source for one in reports if one not in known), shared=tuple(_shared(failed, good)),
    )  # fmt: skip


def _shared(failed: Sequence[Named], good: Sequence[Named]) -> list[Shared]:
    """Values of failed jobs, those with the greatest difference first."""
    bad, well = ([dict(_values(one.report)) for one in some] for some in (failed, good))
    found = []
    for kind in dict.fromkeys(kind for values in bad for kind in values):
        ill, fine = ([values[kind] for values in some if kind in values] for some in (bad, well))
        counts, others = (Counter(value for values in some for value in values) for some in (ill, fine))
        found += [
            Shared(kind=kind, value=value, failed=n, of_failed=len(ill), good=others[value], of_good=len(fine))
            for value, n in counts.items()
        ]  # fmt: skip
    telling = [one for one in found if one.of_good and one.failed >= min(_SEVERAL, one.of_failed) and _is_telling(one)]
    return sorted(telling, key=lambda one: (-_gap(one), -one.failed))


def _gap(one: Shared) -> float:
    return one.failed / one.of_failed - one.good / one.of_good


def _is_telling(one: Shared) -> bool:
    return one.good == 0 or _gap(one) >= _TELLING


def _values(report: Report) -> Iterator[tuple[str, frozenset[str]]]:
    hosts = frozenset(unfold_hosts((report.summary.hosts or "").replace(" ", ""))) - {UNNAMED, ""}
    if hosts:
        yield "host", hosts
    for kind, values in report.traits.items():
        yield kind, frozenset(values)
