"""What comes after findings and suspects: the next steps, who failed first, and what the answer does not rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ncdiag.report import digest
from ncdiag.report.html.context import Context
from ncdiag.report.html.element import Child, Element, element
from ncdiag.report.model import NextStep, Report


def steps(context: Context) -> Element | None:
    """What to paste or try next, as a list to tick off."""
    report = context.report
    items = [_tick(context, *_step(step)) for step in report.next_steps]
    asks = [element("li", digest.ask(unknown)) for unknown in report.unknown[: digest.SHOWN_ASKS]]
    rest = len(report.unknown) - len(asks)
    if not items and not asks:
        return None
    heading = context.fresh("next")
    return element(
        "section",
        element("h2", "What to do next", id=heading),
        element("ul", *items, class_="steps") if items else None,
        element("h3", "Could not be judged") if asks else None,
        element("ul", *asks, element("li", f"and {rest} more") if rest > 0 else None) if asks else None,
        class_="card",
        aria_labelledby=heading,
    )


def _step(step: NextStep) -> tuple[list[Child], str]:
    """What is to be typed or given, and what it is good for."""
    if not step.run:
        return [], step.text
    if step.do == "run":
        return ["Run with ", element("code", step.run)], step.text
    return ["Paste ", element("code", digest.asked((step.run,), ""))], step.text


def _tick(context: Context, what: Sequence[Child], text: str) -> Element:
    name = context.fresh("step")
    shown = [*what, f": {text}" if what and text else text[:1].upper() + text[1:]]
    return element("li", element("input", type="checkbox", id=name), element("label", *shown, for_=name))


def first_to_fail(context: Context) -> Element | None:
    """Who failed first, and what the ranks did last."""
    lines = digest.first_to_fail(context.report)
    if not lines:
        return None
    heading = context.fresh("first")
    rows = [element("div", element("dt", label or "also"), element("dd", text)) for label, text in lines]
    return element(
        "section", element("h2", "First to fail", id=heading), element("dl", *rows, class_="rows"), class_="card",
        aria_labelledby=heading,
    )  # fmt: skip


def limits(context: Context) -> Element | None:
    """What is ruled out, in doubt, or failed."""
    rows = list(_limits(context.report))
    if not rows:
        return None
    heading = context.fresh("limits")
    shown = [element("div", element("dt", label), element("dd", text)) for label, text in rows]
    return element(
        "section", element("h2", "Ruled out and in doubt", id=heading), element("dl", *shown, class_="rows"),
        class_="card", aria_labelledby=heading,
    )  # fmt: skip


def _limits(report: Report) -> Iterator[tuple[str, str]]:
    if report.ruled_out:
        yield "Ruled out", digest.ruled_out(report)
    for conflict in report.conflicts[: digest.SHOWN_ASKS]:
        yield "Sources disagree", digest.disagreement(conflict)
    for text in report.expired:
        yield "Order expired", text
    for fault in report.faults:
        yield "ncdiag failed", digest.failed(fault)
