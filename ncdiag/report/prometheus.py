"""The report as metrics for the textfile collector of Prometheus' node_exporter.

The form is the text exposition format (prometheus.io/docs/instrumenting/exposition_formats). The collector rejects
samples with a time, so the time of the run is a separate metric. Host names are the only text of the input in labels,
and the number of samples is limited for any input.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import get_args

from ncdiag.facts.fold import unfold_hosts
from ncdiag.report.model import Finding, Report, Status, Verdict
from ncdiag.report.sanitize import one_line

HOSTS = 64
"""Maximum number of hosts of a finding with one sample each; for more, there is one sample without a host."""
SAMPLES = 1000
"""Maximum number of samples of `ncdiag_findings`; if there were more, none of them names a host."""
NAME_LIMIT = 128
"""Maximum length of a host name."""

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
Labels = tuple[tuple[str, str], ...]
Samples = Mapping[Labels, float]


def render(report: Report, *, now: float | None = None, **_: object) -> str:
    """Gauges; ``now`` is the time of the run in seconds since the epoch, None for the current time."""
    summary = report.summary
    counts = {"error": summary.errors, "warning": summary.warnings, "info": summary.infos}
    severities: Samples = {(("severity", name),): count for name, count in counts.items()}
    verdicts: Samples = {(("verdict", name),): int(name == summary.verdict) for name in get_args(Verdict)}
    parts = [
        _metric("ncdiag_info", "Version of ncdiag.", {(("version", report.tool.version),): 1}),
        _metric("ncdiag_run_timestamp_seconds", "Unix time of this run.", {(): time.time() if now is None else now}),
        _metric("ncdiag_verdict", "1 for the verdict of this run, 0 for all others.", verdicts),
        _metric("ncdiag_severity_findings", "Findings by severity.", severities),
        _metric("ncdiag_findings", "Findings by rule and host; host is empty if the finding has no host or very many.",
                _findings(report.findings)),
        _metric("ncdiag_suspects", "Causes that are likely but not proved.", {(): len(report.suspects)}),
        _metric("ncdiag_faults", "Internal errors of ncdiag during this run.", {(): len(report.faults)}),
    ]  # fmt: skip
    if report.looks:
        looks = Counter(look.status for look in report.looks)
        told: Samples = {(("status", status.lower()),): looks[status] for status in get_args(Status)}
        parts.append(_metric("ncdiag_checks", "Checks by result.", told))
    return "".join(parts)


def _metric(name: str, told: str, samples: Samples) -> str:
    lines = [f"# HELP {name} {told}", f"# TYPE {name} gauge"]
    lines += [f"{name}{_written(labels)} {value:.15g}" for labels, value in samples.items()]
    return "".join(f"{line}\n" for line in lines)


def _written(labels: Labels) -> str:
    pairs = ",".join(f'{name}="{one_line(value).translate(_ESCAPES)}"' for name, value in labels)
    return f"{{{pairs}}}" if pairs else ""


def _findings(findings: Iterable[Finding]) -> Mapping[Labels, int]:
    found = list(findings)
    named = Counter(_labels(finding, host) for finding in found for host in _hosts(finding))
    return named if len(named) <= SAMPLES else Counter(_labels(finding, "") for finding in found)


def _labels(finding: Finding, host: str) -> Labels:
    return (
        ("code", finding.code), ("name", finding.name), ("severity", finding.severity), ("host", host[:NAME_LIMIT]),
    )  # fmt: skip


def _hosts(finding: Finding) -> list[str]:
    """The hosts of a finding; one empty name if there is none, or more than `HOSTS`."""
    if finding.nhosts == 1:
        return [finding.hosts]
    if not 0 < finding.nhosts <= HOSTS:
        return [""]
    names = [*unfold_hosts(finding.hosts, HOSTS + 1)]
    return names if len(set(names)) == finding.nhosts else [""]  # a name contains a comma or a bracket
