"""Parts of pictures: shapes of inline SVG with their descriptions, and matrices as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ncdiag.report import drawing
from ncdiag.report.drawing import Box
from ncdiag.report.html.context import Context
from ncdiag.report.html.element import Child, Element, element


class Cell(NamedTuple):
    """A cell of a matrix: its word, its style (a class of the style sheet), and its full meaning."""

    word: str
    style: str = ""
    about: str = ""


def picture(context: Context, title: str, told: str, *parts: Child) -> Element:
    """A picture with its heading and the same content as a sentence."""
    heading = context.fresh("picture")
    return element(
        "section", element("h3", title, id=heading), element("p", told, class_="why"), *parts, class_="card picture",
        aria_labelledby=heading,
    )  # fmt: skip


def svg(context: Context, title: str, about: str, size: tuple[float, float], shapes: Iterable[Child]) -> Element:
    """A drawing of ``size`` pixels; ``about`` describes it in words. It scrolls on a narrower screen."""
    name = context.fresh("drawing")
    width, height = size
    drawn = element(
        "svg",
        element("title", title, id=name),
        element("desc", about, id=f"{name}-about"),
        *shapes,
        role="img",
        aria_labelledby=f"{name} {name}-about",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
        class_="drawing",
    )
    return scrolled(title, drawn)


def scrolled(label: str, content: Element) -> Element:
    """Wide content that scrolls by itself and can be scrolled with the keyboard."""
    return element("div", content, class_="scroll", tabindex="0", role="group", aria_label=label)


def box(place: Box, style: str, about: str | None = None) -> Element:
    """A box; ``about`` is its tooltip."""
    return element(
        "rect", element("title", about) if about else None, x=place.x, y=place.y, width=place.width,
        height=place.height, rx=4, class_=style,
    )  # fmt: skip


def words(x: float, y: float, text: str, style: str | None = None, anchor: str | None = None) -> Element:
    """A line of text; ``anchor`` is ``middle`` or ``end`` if ``x`` is not its start."""
    return element("text", text, x=x, y=y, class_=style, text_anchor=anchor)


def line(begin: tuple[float, float], end: tuple[float, float], style: str, about: str | None = None) -> Element:
    """A straight line."""
    return element(
        "line", element("title", about) if about else None, x1=begin[0], y1=begin[1], x2=end[0], y2=end[1],
        class_=style,
    )  # fmt: skip


def cut(text: str, width: float) -> str:
    """The text as far as it fits into ``width`` pixels."""
    return drawing.cut(text, width)


def matrix(
    label: str, corner: str, columns: Sequence[str], rows: Iterable[tuple[str, Sequence[Cell | None]]]
) -> Element:
    """A table of small cells, one row per name; None is an empty cell."""
    head = element("tr", element("th", corner, scope="col"), *(element("th", name, scope="col") for name in columns))
    lines = [
        element("tr", element("th", name, scope="row"), *(_cell(cell) for cell in cells)) for name, cells in rows
    ]  # fmt: skip
    table = element("table", element("thead", head), element("tbody", *lines), class_="matrix")
    return scrolled(label, table)


def legend(entries: Iterable[tuple[Cell, str]]) -> Element:
    """The meanings of words and colours."""
    items = [
        element("li", element("span", cell.word, class_=f"key {cell.style}".rstrip()), f" {text}")
        for cell, text in entries
    ]
    return element("ul", *items, class_="legend")


def _cell(cell: Cell | None) -> Element:
    if cell is None:
        return element("td")
    return element("td", cell.word, class_=cell.style or None, title=cell.about or None)
