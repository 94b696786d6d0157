"""The report as annotations of a GitHub workflow run: one workflow command per finding.

The form and its escapes are those of docs.github.com, "Workflow commands for GitHub Actions", and of actions/toolkit
(packages/core/src/command.ts). GitHub shows at most ten errors and ten warnings of a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypedDict

from ncdiag.base.severity import Severity
from ncdiag.report import digest
from ncdiag.report.in_short import told
from ncdiag.report.levels import levels
from ncdiag.report.model import Evidence, Finding, Report
from ncdiag.report.sanitize import one_line

Level = Literal["error", "warning", "notice"]
LEVELS: dict[Severity, Level] = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report, **_: object) -> str:
    """One line per finding, suspect and fault of ncdiag; if there is none, one line with the verdict."""
    lines = [*_lines(report)] or [command("notice", digest.headline(report), title="ncdiag")]
    return "".join(f"{line}\n" for line in lines)


def command(  # noqa: PLR0913  (each is a property of the command)
    level: Level, message: str, *, title: str = "", file: str = "", line: int = 0, column: int = 0
) -> str:
    """``::error file=a.log,line=3,title=NCD101::message``; an empty text and a 0 are left out.

    Line breaks of the message are kept in the annotation; the command is one line.
    """
    place = {"file": _property(file), "line": line, "col": column, "title": _property(title)}
    given = ",".join(f"{name}={value}" for name, value in place.items() if value)
    return one_line(f"::{level} {given}::{_escaped(message)}")


def _lines(report: Report) -> Iterator[str]:
    found = levels(report)
    for place, finding in enumerate(report.findings):
        yield command(
            LEVELS[found[place]], _message(report, finding), title=f"{finding.code} {finding.name}",
            **_at(finding.evidence),
        )  # fmt: skip
    for suspect in report.suspects:
        shown = next((sign.evidence for sign in suspect.supporting if sign.evidence), ())
        text = f"{suspect.likelihood}, not proved: {suspect.title}"
        yield command("notice", text, title=f"{suspect.code} {suspect.name}", **_at(shown))
    for fault in report.faults:
        yield command("warning", digest.failed(fault), title="ncdiag failed")
    if report.summary.verdict == "nothing-understood":
        yield command("warning", f"{digest.headline(report)}\n{digest.HELP_WHEN_NOTHING}", title="ncdiag")


def _message(report: Report, finding: Finding) -> str:
    place = digest.where(finding, report)
    return "\n".join([f"{finding.title}{f' ({place})' if place else ''}", *told(report, finding)])


class _Place(TypedDict, total=False):
    file: str
    line: int


def _at(evidence: tuple[Evidence, ...]) -> _Place:
    """File and line of the first piece of evidence that is a line of a file."""
    return next((_Place(file=item.source, line=item.line) for item in evidence if item.line), _Place())


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
