"""Likely but unproved causes, with the signs for and against each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ncdiag.language import say
from ncdiag.report import digest
from ncdiag.report.html import evidence, remedies
from ncdiag.report.html.context import Context
from ncdiag.report.html.element import Child, Element, element
from ncdiag.report.html.findings import references
from ncdiag.report.model import Suspect


def suspects(context: Context) -> Element | None:
    """All suspects, most likely first; None without any."""
    report = context.report
    if not report.suspects:
        return None
    heading = context.fresh("suspects")
    return element(
        "section",
        element("h2", digest.suspects_title(report), id=heading),
        element("ol", *(element("li", *_suspect(context, each), class_="card suspect") for each in report.suspects)),
        aria_labelledby=heading,
    )


def _suspect(context: Context, suspect: Suspect) -> Iterator[Child]:
    yield element("h3", suspect.title)
    yield element(
        "p", element("span", digest.how_likely(suspect), class_="badge"), " ", element("code", suspect.name),
        f" ({suspect.code})", class_="meta",
    )  # fmt: skip
    if suspect.why:
        yield element("p", suspect.why, class_="why")
    rows: list[tuple[str, str, Sequence[Child]]] = [
        ("Evidence for", "for", [evidence.sign(context, sign) for sign in suspect.supporting]),
        ("Evidence against", "against", [evidence.sign(context, sign) for sign in suspect.against]),
        ("Not known", "open", suspect.open),
        ("How to decide", "decide", [digest.question(asked) for asked in suspect.decide]),
    ]
    for title, style, items in rows:
        if items:
            yield element("h4", say(title))
            yield element("ul", *(element("li", item) for item in items), class_=f"signs {style}")
    if suspect.fixes:
        yield element("h4", say("Fix, if this is the cause"))
        yield remedies.fixes(context, suspect.fixes, (), suspected=True)
    if suspect.references:
        yield references(suspect.references)
