"""Compare a run or a state with another one: the differences of their facts and of their findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ncdiag.base.severity import Severity, Weight
from ncdiag.comparing.changes import Changes, Pairing, changes, ranked
from ncdiag.comparing.values import Table, fill, of_hosts, of_run
from ncdiag.facts.view import View
from ncdiag.report import model
from ncdiag.report.differences import FINDING, NOT_FOUND, Beside, Change

_WEIGHTS: dict[Severity, Weight] = {"error": "high", "warning": "medium", "info": "low"}


class Judged(NamedTuple):
    """An input: its name, its facts, and the report on it."""

    source: str
    view: View
    report: model.Report


def baseline(source: str, saved: View, shown: Table, view: View) -> Beside:
    """The differences of the hosts of ``view``, whose values are ``shown``, from a saved state."""
    found = _changes(saved, of_hosts(saved), view, shown)
    return Beside(source=source, changes=found.changes, equal=found.equal, one_sided=found.one_sided)


def difference(before: Judged, after: Judged) -> model.Difference:
    """The differences between two inputs: findings first, then facts, most important first."""
    facts = _of_facts(before.view, after.view)
    found = tuple(ranked([*_of_findings(before.report, after.report), *facts.changes]))
    return model.Difference(
        tool=after.report.tool, before=_side(before), after=_side(after),
        matters=any(change.weight != "low" for change in found),
        changes=found, equal=facts.equal, one_sided=facts.one_sided,
    )  # fmt: skip


def _of_facts(before: View, after: View) -> Changes:
    old, new = (of_run(view) | of_hosts(view) for view in (before, after))
    return _changes(before, old, after, new)


def _changes(before: View, old: Table, after: View, new: Table) -> Changes:
    """Includes items that one of the two has and the other is known to lack."""
    subjects = tuple(dict.fromkeys([*old, *new]))
    fill(old, before, subjects)
    fill(new, after, subjects)
    return changes(old, new, Pairing.of(before.hosts, after.hosts))


def _of_findings(before: model.Report, after: model.Report) -> Iterator[Change]:
    """Rules that fired in only one of the two."""
    old = {found.name: found for found in before.findings}
    new = {found.name: found for found in after.findings}
    for name in dict.fromkeys([*new, *old]):
        if (name in old) != (name in new):
            found = new.get(name) or old[name]
            was, now = (text if name in held else NOT_FOUND for held, text in ((old, found.title), (new, found.title)))
            yield Change(
                what=FINDING, name=name, before=was, after=now, hosts=found.hosts, nhosts=found.nhosts,
                weight=_WEIGHTS[found.severity], why=found.why, rules=(found.code,),
            )  # fmt: skip


def _side(judged: Judged) -> model.Side:
    summary = judged.report.summary
    return model.Side(
        source=judged.source, verdict=summary.verdict, hosts=summary.hosts, nhosts=len(judged.view.hosts),
        nranks=summary.nranks, nccl_version=summary.nccl_version,
    )  # fmt: skip
