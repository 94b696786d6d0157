"""Short plain lines on a finding besides its title, for the formats of other programs."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.language import say
from ncdiag.report import digest
from ncdiag.report.model import Finding, Report

_LINES_TO_PASTE = 1
"""Number of launchers whose line is given: one is enough in an annotation, the report has all."""


def told(report: Report, finding: Finding) -> Iterator[str]:
    """The reason, then what explains it or else its fixes, each with a line to paste."""
    if finding.why:
        yield finding.why
    if finding.explained_by:
        yield say("Explained by: {names}", names=", ".join(finding.explained_by))
        return
    fixes, not_offered = digest.remedies(report, finding)
    for fix in fixes:
        yield say("{label}: {text}", label=say("Fix"), text=digest.fix_in_short(fix))
        yield from (f"    {line}" for _, line in digest.paste_lines(fix)[:_LINES_TO_PASTE])
    yield from (say("{label}: {text}", label=say("Does not help"), text=text) for text in not_offered)


def shown(finding: Finding) -> Iterator[str]:
    """The lines of evidence, each with its place, and the number of the rest."""
    for item in finding.evidence:
        yield f"{digest.place(item)}: {item.text}"
    if more := digest.more_evidence(finding):
        yield more
