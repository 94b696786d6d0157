"""The answer as a piece of HTML, for the page of a report and for any page that shows one."""

from __future__ import annotations

from collections.abc import Callable

from ncdiag.report import digest
from ncdiag.report.html import checked, closing, findings
from ncdiag.report.html.context import Context, Lines
from ncdiag.report.html.element import Child, Element, element, write
from ncdiag.report.html.summary import summary
from ncdiag.report.html.suspects import suspects
from ncdiag.report.model import Evidence, Report


def answer(report: Report, *, cited: Callable[[Evidence], str | None] | None = None, lines: Lines | None = None) -> str:
    """The report as an HTML fragment: a ``div`` of class ``answer`` whose headings begin with ``h2``.

    ``cited`` gives the place in the page (``#L12``) that shows a line of evidence, None for one that is not shown;
    ``lines`` are lines of the input, from which those around a cited line are shown with it. All ids begin with
    ``answer-``. The fragment needs ``style.css`` of this folder, and neither scripts nor anything from elsewhere.
    """
    return write(built(Context(report, cited, lines)))


def built(context: Context) -> Element:
    """The fragment as an element: what was found first, as in the text, then what to do and what else is known."""
    report = context.report
    found = digest.roots(report) or list(report.findings[:1])
    lead = found[0] if found else None
    suspected = suspects(context)
    shown = findings.leading(context, lead) if lead is not None else None
    others = findings.others(context, lead)
    middle: list[Child] = [suspected, shown, others] if digest.suspects_lead(report) else [shown, others, suspected]
    return element(
        "div",
        summary(context),
        *middle,
        closing.steps(context),
        closing.first_to_fail(context),
        checked.looks(context),
        checked.differences(context),
        checked.beside(context),
        closing.scope(context),
        class_="answer",
    )
