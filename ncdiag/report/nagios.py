"""The report as the output of a monitoring plugin: a status line with performance data, then one line per finding.

States, exit codes and the form of the output are those of the Monitoring Plugins Development Guidelines
(monitoring-plugins.org/doc/guidelines.html, "Plugin Output for Nagios", "Plugin Return Codes", "Performance data").
"""

from __future__ import annotations

import enum
from collections.abc import Iterator

from ncdiag.base.severity import SEVERITIES
from ncdiag.report import digest
from ncdiag.report.in_short import told
from ncdiag.report.levels import levels
from ncdiag.report.model import Report
from ncdiag.report.sanitize import one_line

LINE_LIMIT = 300
"""Maximum length of a line: many monitoring systems keep 4 KiB of an output, some show only its first line."""
SHOWN_FINDINGS = 10
_STATUSES = ("PASS", "WARN", "FAIL", "SKIP")


class State(enum.IntEnum):
    """The results of a plugin; the value is its exit code."""

    OK = 0
    WARNING = 1
    CRITICAL = 2
    UNKNOWN = 3


def state(report: Report, fail_on: str = "error") -> State:
    """CRITICAL for a finding at least as severe as ``fail_on`` (``never``: none), WARNING for another except notes.

    Without either, UNKNOWN if ncdiag failed in part, understood nothing or could compare nothing.
    """
    summary = report.summary
    counts = {"error": summary.errors, "warning": summary.warnings, "info": summary.infos}
    critical = SEVERITIES[: SEVERITIES.index(fail_on) + 1] if fail_on in counts else ()
    if any(counts[severity] for severity in critical):
        return State.CRITICAL
    if summary.errors or summary.warnings:
        return State.WARNING
    blind = bool(report.looks) and all(look.status == "SKIP" for look in report.looks)
    if report.faults or blind or summary.verdict == "nothing-understood":
        return State.UNKNOWN
    return State.OK


def render(report: Report, *, fail_on: str = "error", **_: object) -> str:
    """``NCDIAG CRITICAL: ... | errors=1;;;0 ...``, then the findings, worst first."""
    lines = [f"{status_line(state(report, fail_on), _said(report))} | {_performance(report)}", *_details(report)]
    return "".join(f"{line}\n" for line in lines)


def status_line(reached: State, text: str) -> str:
    """``NCDIAG CRITICAL: text`` on one line, without performance data."""
    return f"NCDIAG {reached.name}: {_plain(text)}"


def _said(report: Report) -> str:
    found = levels(report)
    shown = [finding for place, finding in enumerate(report.findings) if found[place] != "info"]
    if shown:
        more = f" (and {len(shown) - 1} more)" if len(shown) > 1 else ""
        place = digest.where(shown[0], report)
        return f"{shown[0].name} ({shown[0].code}){f' on {place}' if place else ''}: {shown[0].title}{more}"
    if report.faults:
        return f"ncdiag failed: {report.faults[0]}"
    if report.looks and all(look.status == "SKIP" for look in report.looks):
        return "nothing could be compared"
    return digest.headline(report)


def _details(report: Report) -> Iterator[str]:
    found = levels(report)
    for number, finding in enumerate(report.findings[:SHOWN_FINDINGS]):
        place = digest.where(finding, report)
        at = f" on {place}" if place else ""
        yield _plain(f"{found[number]}: {finding.code} {finding.name}{at}: {finding.title}")
        heads = (line for line in told(report, finding) if line != finding.why and not line.startswith(" "))
        yield from (f"  {_plain(line)}" for line in heads)  # a line to paste may contain a bar, which must be removed
    if len(report.findings) > SHOWN_FINDINGS:
        yield f"and {len(report.findings) - SHOWN_FINDINGS} more"
    for suspect in report.suspects:
        yield _plain(f"{suspect.likelihood}: {suspect.code} {suspect.name}: {suspect.title}")
    for fault in report.faults:
        yield _plain(f"ncdiag failed: {fault}")


def _performance(report: Report) -> str:
    """``label=value;warn;crit;min``: counts, with minimum 0."""
    summary = report.summary
    counts = {"errors": summary.errors, "warnings": summary.warnings, "notes": summary.infos}
    if report.looks:
        counts |= {name.lower(): sum(look.status == name for look in report.looks) for name in _STATUSES}
    return " ".join(f"{label}={count};;;0" for label, count in counts.items())


def _plain(text: str) -> str:
    """Text of one line without the bar that begins performance data, cut if it is too long."""
    text = one_line(text).replace("|", "/").strip()
    return text if len(text) <= LINE_LIMIT else f"{text[: LINE_LIMIT - 4].rstrip()} ..."
