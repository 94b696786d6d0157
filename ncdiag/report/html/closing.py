"""The end of the page: next steps, who failed first, and what the answer is based on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ncdiag.language import say
from ncdiag.report import digest
from ncdiag.report.html.context import Context
from ncdiag.report.html.element import Child, Element, element
from ncdiag.report.model import NextStep, Report

_SHOWN_INPUTS = 3
"""Maximum number of inputs named without unfolding."""


def steps(context: Context) -> Element | None:
    """What to paste or try next, as a check list."""
    report = context.report
    items = [_tick(context, *_step(step)) for step in report.next_steps]
    asks = [element("li", digest.ask(unknown)) for unknown in report.unknown[: digest.SHOWN_ASKS]]
    rest = len(report.unknown) - len(asks)
    if not items and not asks:
        return None
    heading = context.fresh("next")
    return element(
        "section",
        element("h2", say("What to do next"), id=heading),
        element("ul", *items, class_="steps") if items else None,
        element("h3", say("More input needed")) if asks else None,
        element("ul", *asks, element("li", say("and {n} more", n=rest)) if rest > 0 else None) if asks else None,
        class_="card",
        aria_labelledby=heading,
    )


def _step(step: NextStep) -> tuple[list[Child], str]:
    """What to type or provide, and its purpose."""
    if not step.run:
        return [], step.text
    if step.do == "run":
        return [say("Run with"), " ", element("code", step.run)], step.text
    return [say("Paste"), " ", element("code", digest.asked((step.run,), ""))], step.text


def _tick(context: Context, what: Sequence[Child], text: str) -> Element:
    name = context.fresh("step")
    shown = [*what, say(": ") + text if what and text else text[:1].upper() + text[1:]]
    return element("li", element("input", type="checkbox", id=name), element("label", *shown, for_=name))


def first_to_fail(context: Context) -> Element | None:
    """Who failed first, and the last actions of the ranks."""
    lines = digest.first_to_fail(context.report)
    if not lines:
        return None
    heading = context.fresh("first")
    rows = [element("div", element("dt", label or say("also")), element("dd", text)) for label, text in lines]
    return element(
        "section", element("h2", say("First to fail"), id=heading), element("dl", *rows, class_="rows"), class_="card",
        aria_labelledby=heading,
    )  # fmt: skip


def scope(context: Context) -> Element | None:
    """The basis of the answer: what is ruled out, in doubt, not seen or failed, and what was read."""
    report = context.report
    rows = list(_limits(report))
    read = _read(report)
    if not rows and read is None:
        return None
    heading = context.fresh("scope")
    shown = [element("div", element("dt", label), element("dd", text)) for label, text in rows]
    return element(
        "section", element("h2", say("Scope of this diagnosis"), id=heading),
        element("dl", *shown, class_="rows") if shown else None, read, class_="card scope", aria_labelledby=heading,
    )  # fmt: skip


def _limits(report: Report) -> Iterator[tuple[str, str]]:
    if report.ruled_out:
        yield say("Ruled out"), digest.ruled_out(report)
    if report.summary.not_looked_at:
        yield say("Not checked"), say("; ").join(report.summary.not_looked_at)
    for conflict in report.conflicts[: digest.SHOWN_ASKS]:
        yield say("Sources disagree"), digest.disagreement(conflict)
    for text in report.expired:
        yield say("No longer ignored"), text
    for fault in report.faults:
        yield say("ncdiag failed"), digest.failed(fault)


def _read(report: Report) -> Element | None:
    """What was read, folded if it is long."""
    lines = [line for line in digest.was_read(report) if line != digest.job_read(report)]
    if not lines:
        return None
    inputs = digest.counted(len(report.inputs), "input")
    return element(
        "details",
        element("summary", say("{text} ({note})", text=say("What was read"), note=inputs)),
        element("ul", *(element("li", line) for line in lines)),
        open=len(report.inputs) <= _SHOWN_INPUTS,
    )
