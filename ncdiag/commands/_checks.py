"""The areas of the table of ``check``: their list, and reports restricted to some of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ncdiag.base.errors import UsageError, suggestion
from ncdiag.base.severity import SEVERITIES
from ncdiag.checks.book import book
from ncdiag.report.model import Finding, Report, Summary

COMPARED = "hosts"
"""The area in which hosts are compared."""


def listing() -> str:
    """All checks, one per line below their area, with the expected value of each."""
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    widest = max(len(look.what) for look in book().look)
    for area in book().area:
        yield f"{area.name:12} {area.title}"
        for look in (look for look in book().look if look.area == area.name):
            yield f"  {look.what:{widest}}  {look.expected}"


def wanted(names: Sequence[str]) -> frozenset[str]:
    """The areas with these names; empty for all. Raises UsageError for an unknown area."""
    known = [area.name for area in book().area]
    for name in names:
        if name not in known:
            hint = suggestion(name, known)
            msg = f"there is no area {name!r}{f': {hint}' if hint else ''}; `ncdiag check --list` lists the areas"
            raise UsageError(msg)
    return frozenset(names)


def restricted(report: Report, areas: frozenset[str]) -> Report:
    """The report restricted to these areas: their lines, the findings that these name, and a verdict on those."""
    if not areas:
        return report
    looks = tuple(look for look in report.looks if look.area in areas)
    names = {name for look in looks for name in look.findings}
    findings = tuple(finding for finding in report.findings if finding.name in names)
    answers = tuple(name for name in report.answers if name in names)
    if COMPARED not in areas:
        report = msgspec.structs.replace(report, comparison=(), alike=0)
    return msgspec.structs.replace(
        report, looks=looks, findings=findings, answers=answers, suspects=(), unknown=(), conflicts=(),
        summary=_summary(report.summary, findings),
    )  # fmt: skip


def _summary(summary: Summary, findings: Sequence[Finding]) -> Summary:
    errors, warnings, infos = (sum(f.severity == severity for f in findings) for severity in SEVERITIES)
    lead = findings[0] if findings else None
    causes = lead is not None and lead.role == "cause" and lead.severity != "info"
    verdict = "root-cause" if causes else "risk-only" if errors or warnings else "healthy-as-far-as-seen"
    if summary.verdict == "nothing-understood":
        return summary
    return msgspec.structs.replace(
        summary, verdict=verdict, root_cause=lead.name if lead is not None and causes else None, errors=errors,
        warnings=warnings, infos=infos, not_looked_at=(),
    )  # fmt: skip
