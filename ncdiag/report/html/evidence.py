"""The lines of evidence, each with the surrounding lines if these are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ncdiag.report import digest
from ncdiag.report.html.context import Context
from ncdiag.report.html.element import Child, Element, element, group
from ncdiag.report.model import Evidence, Report, Sign

AROUND = 2
"""Number of lines shown before and after a cited one."""
NEIGHBOUR_LIMIT = 300
"""Maximum length of a line that is not itself cited."""


def blocks(context: Context, items: Sequence[Evidence], more: str = "") -> Element:
    """A block for each stretch of a source, with its cited lines marked; ``more`` says how many are not shown."""
    parts: list[Child] = [_block(context, stretch) for stretch in _stretches(context, items)]
    if more:
        parts.append(element("p", more, class_="quiet"))
    return group(*parts)


def around(report: Report) -> set[tuple[str, int]]:
    """(source, number) of the lines around all cited ones."""
    cited = {item for item in _evidence(report) if item.line}
    return {
        (item.source, number)
        for item in cited
        for number in range(max(1, item.line - AROUND), item.line + AROUND + 1)
    }  # fmt: skip


def _evidence(report: Report) -> Iterator[Evidence]:
    """The lines that the report shows in blocks."""
    for finding in report.findings:
        yield from finding.evidence


def sign(context: Context, shown: Sign) -> Element:
    """The text of a sign, and the place of the line that shows it."""
    if not shown.evidence:
        return group(shown.text)
    first = shown.evidence[0]
    where = element("span", " (", context.place(digest.place(first), first), ")", class_="quiet")
    return group(shown.text, where, element("code", first.text, class_="cited-line"))


Stretch = list[tuple[int, str, Evidence | None]]
"""Lines of a source: number, text, and the evidence if the line is cited."""


def _stretches(context: Context, items: Sequence[Evidence]) -> Iterator[Stretch]:
    """Cited lines with their neighbours.

    Overlapping ones are one stretch, a value without a line is a stretch by itself.
    """
    cited: dict[str, dict[int, Evidence]] = {}
    for item in items:
        held = cited.setdefault(item.source, {})
        if not item.line or held.setdefault(item.line, item) is not item:
            yield [(item.line, item.text, item)]
    for source, held in cited.items():
        shown: Stretch = []
        for line in sorted(held):
            first = line - AROUND
            if shown and first > shown[-1][0] + 1:
                yield shown
                shown = []
            for number in range(max(first, shown[-1][0] + 1 if shown else first), line + AROUND + 1):
                if number in held:
                    shown.append((number, held[number].text, held[number]))
                elif (source, number) in context.lines:
                    shown.append((number, _short(context.lines[source, number]), None))
        if shown:
            yield shown


def _block(context: Context, stretch: Stretch) -> Element:
    named: list[Child] = []
    for _, _, item in stretch:
        if item is not None:
            named += [", " if named else None, context.place(digest.place(item), item)]
    rows = [
        element(
            "span",
            element("span", str(number), class_="number") if number else None,
            element("span", text, class_="text") if item is None else element("mark", text),
            class_="line",
        )
        for number, text, item in stretch
    ]
    return element("figure", element("figcaption", *named), element("pre", *rows), class_="evidence")


def _short(text: str) -> str:
    return text if len(text) <= NEIGHBOUR_LIMIT else f"{text[:NEIGHBOUR_LIMIT]} ..."
