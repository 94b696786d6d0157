"""The answer as a piece of HTML, for the page of a report and for any other page."""

from __future__ import annotations

from ncdiag.report import digest
from ncdiag.report.html import checked, closing, findings
from ncdiag.report.html.context import Context
from ncdiag.report.html.element import Element, element
from ncdiag.report.html.summary import about, summary
from ncdiag.report.html.suspects import suspects


def built(context: Context) -> Element:
    """The answer: a ``div`` of class ``answer`` whose headings begin with ``h2``, and whose ids with ``answer-``.

    The cause comes first, then the job, further findings, what to do and further information. It needs ``style.css`` of
    this folder, and neither scripts nor other resources.
    """
    report = context.report
    found = digest.roots(report) or list(report.findings[:1])
    lead = found[0] if found else None
    suspected = suspects(context)
    shown = findings.leading(context, lead) if lead is not None else None
    others = findings.others(context, lead)
    first, *middle = [suspected, shown, others] if digest.suspects_lead(report) else [shown, others, suspected]
    return element(
        "div",
        summary(context),
        first,
        about(context),
        *middle,
        closing.steps(context),
        closing.first_to_fail(context),
        checked.looks(context),
        checked.differences(context),
        checked.beside(context),
        closing.scope(context),
        class_="answer",
    )
