"""The answer of ``ncdiag diff`` as one page: the two inputs, and a table of the differences of each weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ncdiag.base.severity import Weight
from ncdiag.language import say
from ncdiag.report import digest
from ncdiag.report.differences import Change
from ncdiag.report.html.checked import changes
from ncdiag.report.html.drawing import scrolled
from ncdiag.report.html.element import Child, Element, element
from ncdiag.report.html.page import document
from ncdiag.report.model import Difference, Side

_STYLES: dict[Weight, str] = {"high": "error", "medium": "warning", "low": "info"}


def page(found: Difference, headline: str, notes: Sequence[str], parts: Iterator[tuple[str, list[Change]]]) -> str:
    """The document; ``parts`` are the changes by weight, ``notes`` sentences below the two inputs."""
    shown: list[Child] = [_summary(found, headline, notes)]
    for number, (title, some) in enumerate(parts, 1):
        name = f"changes-{number}"
        style = f"card {_STYLES[some[0].weight]}"
        heading = element("h2", title, id=name)
        shown.append(element("section", heading, *changes(tuple(some)), class_=style, aria_labelledby=name))
    subject = f"{found.before.source}, {found.after.source}"
    content = element("div", *shown, class_="answer")
    return document(
        say("{label}: {text}", label=headline, text=subject),
        say("NCCL: comparison of two runs"),
        subject,
        [content],
        found.tool,
    )


def _summary(found: Difference, headline: str, notes: Sequence[str]) -> Element:
    worst = min((change.weight for change in found.changes), key=list(_STYLES).index, default=None)
    sides = [_side(say("Before"), found.before), _side(say("After"), found.after)]
    head = (say("Run"), say("Input"), say("Verdict"), say("Hosts"), say("Ranks"), "NCCL")
    columns = element("thead", element("tr", *(element("th", name, scope="col") for name in head)))
    table = element("table", columns, element("tbody", *sides))
    return element(
        "section",
        element("h2", headline, id="summary", class_="verdict"),
        scrolled(say("The two inputs"), table),
        *(element("p", note, class_="quiet") for note in notes),
        class_=f"card summary {_STYLES[worst] if worst else 'none'}",
        aria_labelledby="summary",
    )


def _side(label: str, side: Side) -> Element:
    known = (
        side.source, say(digest.HEADLINES[side.verdict]), digest.cut(side.hosts, digest.LIST_LIMIT) or say("not known"),
        say("not known") if side.nranks is None else str(side.nranks), side.nccl_version or say("not known"),
    )  # fmt: skip
    return element("tr", element("th", label, scope="row"), *(element("td", text) for text in known))
