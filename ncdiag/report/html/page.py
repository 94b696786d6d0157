"""The whole page: head, answer, pictures."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from ncdiag.facts.view import View
from ncdiag.language import say, tag
from ncdiag.report import digest
from ncdiag.report.html import answer
from ncdiag.report.html.context import Context, Lines
from ncdiag.report.html.element import Child, Element, element, link, write
from ncdiag.report.html.pictures import pictures
from ncdiag.report.model import Report, Tool
from ncdiag.report.unnamed import named

STYLE = Path(__file__).with_name("style.css")


def style() -> str:
    """The style sheet of all pages that show an answer."""
    return STYLE.read_text(encoding="utf-8")


def page(report: Report, view: View | None = None, lines: Lines | None = None) -> str:
    """The report as a complete HTML document in UTF-8."""
    context = Context(report, lines=lines)
    subject = _subject(report)
    shown = [answer.built(context), _pictures(context, pictures(view, context) if view is not None else [])]
    title = say("{label}: {text}", label=digest.headline(report), text=subject)
    return document(title, say("NCCL diagnosis"), subject, shown, report.tool)


def document(title: str, heading: str, subject: str, shown: Sequence[Child], tool: Tool) -> str:
    """A document: ``shown`` below ``heading``, with its subject and a list of its headings."""
    content = element("main", *shown, id="main")
    body = element(
        "body",
        element("a", say("Skip to content"), href="#main", class_="skip-link"),
        _top(heading, subject, content),
        content,
        element("footer", element("p", _made_by(tool), class_="quiet"), class_="foot"),
    )
    return f"<!doctype html>\n{write(element('html', _head(title), body, lang=tag()))}\n"


def _made_by(tool: Tool) -> str:
    return say(
        "Written by {tool} {version}. This file runs no scripts and loads nothing from other sites.",
        tool=tool.name, version=tool.version,
    )  # fmt: skip


def _head(title: str) -> Element:
    css = style()
    allowed = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{allowed}'; base-uri 'none'; form-action 'none'"
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="generator", content="ncdiag"),
        element("title", title),
        element("style", css),
    )


def _subject(report: Report) -> str:
    """The subject of the report: the hosts, else the inputs."""
    sources = ", ".join(item.source for item in report.inputs)
    return digest.cut(named(report.summary.hosts, report) or sources or say("no input"), digest.LIST_LIMIT)


def _top(heading: str, subject: str, content: Element) -> Element:
    entries = [element("li", link(text, f"#{place}")) for text, place in _headings(content)]
    return element(
        "header",
        element("h1", heading),
        element("p", subject, class_="quiet"),
        element("nav", element("ul", *entries), aria_label=say("Contents"), class_="contents"),
        class_="top",
    )


def _headings(part: Child) -> Iterator[tuple[str, str]]:
    """(text, id) of the headings of the second level, without those only for screen readers."""
    if isinstance(part, Element):
        given = dict(part.attributes)
        if part.tag == "h2" and given.get("class") != "hidden":
            yield "".join(child for child in part.children if isinstance(child, str)), given["id"] or ""
        for child in part.children:
            yield from _headings(child)


def _pictures(context: Context, drawn: list[Element]) -> Child:
    if not drawn:
        return None
    heading = context.fresh("pictures")
    return element(
        "section", element("h2", say("Pictures"), id=heading), *drawn, class_="pictures", aria_labelledby=heading
    )
