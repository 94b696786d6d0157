"""Findings: the first with all details, the others shorter, notes folded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ncdiag.language import say
from ncdiag.report import digest
from ncdiag.report.html import evidence, remedies
from ncdiag.report.html.context import Context
from ncdiag.report.html.element import Child, Element, element, group, link
from ncdiag.report.model import Finding, Report

SHOWN = 50
"""Maximum number of further findings that are shown; of the rest, only the names. JSON has all."""
TITLE_LIMIT = 400
"""Maximum length of a title in characters: it may list ranks."""
_HEADINGS = {"cause": "Root cause", "symptom": "Symptoms", "risk": "Risk"}


def leading(context: Context, finding: Finding) -> Element:
    """The first finding."""
    heading, name = context.fresh("lead"), context.fresh("finding")
    title = say("Note") if finding.severity == "info" else say(_HEADINGS[finding.role])
    return element(
        "section",
        element("h2", title, id=heading, class_="hidden" if title == digest.headline(context.report) else None),
        *_head(finding, name, context.report),
        *_body(context, finding),
        class_=f"card lead {finding.severity}",
        aria_labelledby=f"{heading} {name}",  # the verdict may have the same heading
    )


def others(context: Context, lead: Finding | None) -> Element | None:
    """All findings except the first and those that another one explains; notes are folded."""
    report = context.report
    roots = digest.roots(report) or ([lead] if lead is not None else [])
    explained = [found for root in roots for found in digest.consequences(report, root)]
    shown = [found for found in report.findings if found is not lead and found not in explained]
    if not shown:
        return None
    heading = context.fresh("others")
    notes = [found for found in shown[:SHOWN] if found.severity == "info"]
    rest = Counter(found.name for found in shown[SHOWN:])
    names = [say("{text} ({note})", text=name, note=n) if n > 1 else name for name, n in rest.items()]
    return element(
        "section",
        element("h2", say("Also found"), id=heading),
        *(_other(context, found) for found in shown[:SHOWN] if found.severity != "info"),
        _folded(digest.counted(len(notes), "note"), [_other(context, found) for found in notes]) if notes else None,
        element("p", say("and {n} more: {names}", n=rest.total(), names=", ".join(names))) if names else None,
        aria_labelledby=heading,
    )


def _other(context: Context, finding: Finding) -> Element:
    return element(
        "article",
        *_head(finding, context.fresh("finding"), context.report),
        *_body(context, finding, folded=True),
        class_=f"card {finding.severity}",
    )


def _head(finding: Finding, name: str, report: Report) -> Iterator[Child]:
    """The title, with ``name`` as id, and a summary."""
    yield element("h3", digest.cut(finding.title, TITLE_LIMIT), id=name)
    yield element(
        "p",
        element("span", say(finding.severity), class_=f"badge {finding.severity}"),
        " ",
        element("span", say(finding.confidence), class_="badge"),
        " ",
        element("code", finding.name),
        f" ({finding.code})",
        _where(finding, report),
        class_="meta",
    )


def _where(finding: Finding, report: Report) -> Element | None:
    where = digest.where(finding, report)
    return element("span", " ", say("on {where}", where=where), class_="where") if where else None


def _body(context: Context, finding: Finding, *, folded: bool = False) -> Iterator[Child]:
    """Reason, evidence, fixes, consequences and references; ``folded``: the evidence after the first line is folded."""
    report = context.report
    if finding.why:
        yield element("p", finding.why, class_="why")
    if finding.evidence:
        yield element("h4", say("Evidence"))
        first = finding.evidence[:1] if folded else finding.evidence
        rest = finding.evidence[len(first) :]
        more = digest.more_evidence(finding)
        yield evidence.blocks(context, first, "" if rest else more)
        if rest:
            label = say("and {lines}", lines=digest.counted(len(rest), "more line"))
            yield _folded(label, [evidence.blocks(context, rest, more)])
    fixes, not_offered = digest.remedies(report, finding)
    if fixes or not_offered or finding.fixes:
        yield element("h4", say("Fix" if finding.role == "cause" or finding.severity == "info" else "What to do"))
        if len(fixes) < len(finding.fixes):
            yield element("p", say("As above."), class_="note")
        yield remedies.fixes(context, fixes, not_offered)
    yield _consequences(context, digest.consequences(report, finding))
    if finding.references:
        yield references(finding.references)


def _consequences(context: Context, found: Sequence[Finding]) -> Child:
    if not found:
        return None
    items = [
        element(
            "li",
            element("strong", digest.cut(item.title, TITLE_LIMIT)), " ", element("code", item.name), f" ({item.code})",
            _where(item, context.report),
            evidence.blocks(context, item.evidence, digest.more_evidence(item)),
        )
        for item in found
    ]  # fmt: skip
    return _folded(
        say("Explains {findings}", findings=digest.counted(len(found), "other finding")), [element("ul", *items)]
    )


def references(addresses: Sequence[str]) -> Element:
    """The sources of the rule."""
    return element(
        "ul", *(element("li", link(address, address)) for address in addresses), class_="references quiet",
        aria_label=say("References"),
    )  # fmt: skip


def _folded(label: str, parts: Sequence[Child]) -> Element:
    return element("details", element("summary", label), group(*parts))
