"""The verdict, and below the cause the job and how much was found and read."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.language import phrase, say
from ncdiag.report import digest, labelled
from ncdiag.report.html.context import Context
from ncdiag.report.html.element import Element, element
from ncdiag.report.model import Report
from ncdiag.report.unnamed import named, number_of_hosts


def summary(context: Context) -> Element:
    """The first section."""
    report = context.report
    heading = context.fresh("summary")
    worst = report.findings[0].severity if report.findings else "none"
    return element(
        "section",
        element("h2", digest.headline(report), id=heading, class_="verdict"),
        *(element("p", line, class_="complaint") for line in digest.complained(report)),
        element("p", labelled.help_when_nothing(report)) if report.summary.verdict == "nothing-understood" else None,
        class_=f"card summary {worst}",
        aria_labelledby=heading,
    )


def about(context: Context) -> Element:
    """The section on the job: its hosts and ranks, NCCL, the numbers of findings and of lines."""
    facts = element("dl", *(_fact(label, text) for label, text in _facts(context.report)), class_="facts")
    return element("section", facts, class_="card about")


def _fact(label: str, text: str) -> Element:
    return element("div", element("dt", label), element("dd", text))


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    known = report.summary
    if known.verdict != "nothing-understood":
        hosts = digest.cut(named(known.hosts, report), digest.LIST_LIMIT)
        if known.nhosts and hosts:
            yield say("Hosts"), say("{label}: {text}", label=number_of_hosts(report), text=hosts)
        elif known.nhosts or hosts:
            yield say("Hosts"), str(known.nhosts or hosts)
        if known.nranks:
            yield say("Ranks"), str(known.nranks)
        version = known.nccl_version and phrase(f"NCCL {known.nccl_version}").removeprefix("NCCL ")
        yield "NCCL", version or say("version unknown")
    counts = ((known.errors, "error"), (known.warnings, "warning"), (known.infos, "note"))
    yield say("Findings"), say(", ").join(digest.counted(n, noun) for n, noun in counts if n) or say("none")
    yield from labelled.lines(report)
    if not_understood := digest.not_understood(report):
        yield say("Read"), not_understood
    elif lines := sum(item.lines for item in report.inputs):
        yield say("Read"), digest.counted(lines, "line")
