"""The answer in one glance: the verdict, what was read, and what was not looked at."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.report import digest
from ncdiag.report.html.context import Context
from ncdiag.report.html.element import Child, Element, element
from ncdiag.report.model import Report

_SHOWN_INPUTS = 3
"""Inputs that are named without being asked for."""


def summary(context: Context) -> Element:
    """The first section."""
    report = context.report
    heading = context.fresh("summary")
    worst = report.findings[0].severity if report.findings else "none"
    return element(
        "section",
        element("h2", digest.headline(report), id=heading, class_="verdict"),
        *(element("p", line, class_="complaint") for line in digest.complained(report)),
        element("p", digest.HELP_WHEN_NOTHING) if report.summary.verdict == "nothing-understood" else None,
        element("dl", *(_fact(label, text) for label, text in _facts(report)), class_="facts"),
        _read(report),
        class_=f"card summary {worst}",
        aria_labelledby=heading,
    )


def _fact(label: str, text: str) -> Element:
    return element("div", element("dt", label), element("dd", text))


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    known = report.summary
    if known.verdict != "nothing-understood":
        hosts = digest.cut(known.hosts, digest.LIST_LIMIT)
        if known.nhosts and hosts:
            yield "Hosts", f"{known.nhosts}: {hosts}"
        elif known.nhosts or hosts:
            yield "Hosts", str(known.nhosts or hosts)
        if known.nranks:
            yield "Ranks", str(known.nranks)
        yield "NCCL", known.nccl_version or "version unknown"
    counts = ((known.errors, "error"), (known.warnings, "warning"), (known.infos, "note"))
    yield "Findings", ", ".join(digest.counted(n, noun) for n, noun in counts if n) or "none"
    if not_understood := digest.not_understood(report):
        yield "Read", not_understood
    elif lines := sum(item.lines for item in report.inputs):
        yield "Read", digest.counted(lines, "line")
    if known.not_looked_at:
        yield "Not looked at", "; ".join(known.not_looked_at)


def _read(report: Report) -> Child:
    """What was read, folded where it is much."""
    lines = [line for line in digest.was_read(report) if line != digest.job_read(report)]
    if not lines:
        return None
    shown = element("ul", *(element("li", line) for line in lines))
    return element(
        "details", element("summary", f"What was read ({digest.counted(len(report.inputs), 'input')})"), shown,
        open=len(report.inputs) <= _SHOWN_INPUTS,
    )  # fmt: skip
