"""The lines that something rests on, each with the lines around it where these are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ncdiag.report import digest
from ncdiag.report.html.context import Context
from ncdiag.report.html.element import Child, Element, element, group
from ncdiag.report.model import Evidence, Sign

AROUND = 2
"""Lines before and after a cited one that are shown."""
NEIGHBOUR_LIMIT = 300
"""Characters of a line that is not cited itself."""


def blocks(context: Context, items: Sequence[Evidence], more: str = "") -> Element:
    """A block for each stretch of a source, its cited lines marked; ``more`` says how many are not shown."""
    parts: list[Child] = [_block(context, stretch) for stretch in _stretches(context, items)]
    if more:
        parts.append(element("p", more, class_="quiet"))
    return group(*parts)


def sign(context: Context, shown: Sign) -> Element:
    """What a sign says, and where the line that shows it is."""
    if not shown.evidence:
        return group(shown.text)
    first = shown.evidence[0]
    where = element("span", " (", context.place(digest.place(first), first), ")", class_="quiet")
    return group(shown.text, where, element("code", first.text, class_="cited-line"))


def _stretches(context: Context, items: Sequence[Evidence]) -> Iterator[dict[int, tuple[str, Evidence | None]]]:
    """Lines by number, with the evidence if it is cited; what overlaps is one stretch, a value without line its own."""
    for item in items:
        if not item.line:
            yield {0: (item.text, item)}
    sources = dict.fromkeys(item.source for item in items if item.line)
    for source in sources:
        cited = {item.line: item for item in items if item.source == source and item.line}
        numbers = sorted(
            {
                number
                for line in cited
                for number in range(line - AROUND, line + AROUND + 1)
                if number in cited or (source, number) in context.lines
            }
        )
        stretch: dict[int, tuple[str, Evidence | None]] = {}
        for number in numbers:
            if stretch and number - 1 not in stretch:
                yield stretch
                stretch = {}
            shown = cited.get(number)
            stretch[number] = (shown.text if shown else _short(context.lines[source, number]), shown)
        if stretch:
            yield stretch


def _block(context: Context, stretch: dict[int, tuple[str, Evidence | None]]) -> Element:
    places = [
        context.place(digest.place(item), item) for _, item in stretch.values() if item is not None
    ]  # fmt: skip
    named: list[Child] = []
    for place in places:
        named += [", ", place] if named else [place]
    rows = [
        element(
            "span",
            element("span", str(number), class_="number") if number else None,
            element("mark", text) if item is not None else element("span", text, class_="text"),
            class_="line",
        )
        for number, (text, item) in stretch.items()
    ]
    return element("figure", element("figcaption", *named), element("pre", *rows, tabindex="0"), class_="evidence")


def _short(text: str) -> str:
    return text if len(text) <= NEIGHBOUR_LIMIT else f"{text[:NEIGHBOUR_LIMIT]} ..."
