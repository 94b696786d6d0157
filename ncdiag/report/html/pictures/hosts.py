"""Which hosts can connect to which, a matrix for each network that was tested."""

from __future__ import annotations

from ncdiag.facts.view import View
from ncdiag.language import say
from ncdiag.report.digest import counted
from ncdiag.report.html.context import Context
from ncdiag.report.html.drawing import Cell, legend, matrix, picture
from ncdiag.report.html.element import Child, Element, element
from ncdiag.report.probing.plan import MARKS, MEANINGS, Matrix, matrices

SHOWN = 6
"""Maximum number of networks that are drawn, those with most pairs first."""


def draw(view: View, context: Context) -> Element | None:
    """The matrices, and their problems as sentences."""
    found = matrices(view.job)
    if not found:
        return None
    parts: list[Child] = []
    for one in found[:SHOWN]:
        parts += [
            element("h4", one.network),
            element("p", say("{sentence}.", sentence=one.summary)),
            _matrix(one),
            _troubles(one),
        ]
    states = {cell.state for one in found for cell in one.cells.values()}
    keys = ((Cell(MARKS[state], _style(state)), say(text)) for state, text in MEANINGS.items() if state in states)
    told = [say("Rows connect to columns; an empty cell was not tested.")]
    if len(found) > SHOWN:
        told.append(say("{things} not shown.", things=counted(len(found) - SHOWN, "more network")))
    return picture(context, say("Connections between hosts"), say(" ").join(told), *parts, legend(keys))


def _style(state: str) -> str:
    return state.split(maxsplit=1)[0]


def _matrix(one: Matrix) -> Element:
    numbers = range(len(one.groups))
    rows = []
    for row, group in enumerate(one.groups):
        cells: list[Cell | None] = []
        for column in numbers:
            found = one.cells.get((row, column))
            about = _pair(group, one.groups[column], found.about) if found else ""
            own = Cell("", "self") if row == column else None
            cells.append(Cell(MARKS[found.state], _style(found.state), about) if found else own)
        rows.append((f"{row + 1} {group}", cells))
    return matrix(
        say("Connections on {network}", network=one.network),
        say("from, to"),
        [str(number + 1) for number in numbers],
        rows,
    )


def _pair(one: str, other: str, about: str) -> str:
    return say("{label}: {text}", label=say("{one} to {other}", one=one, other=other), text=about)


def _troubles(one: Matrix) -> Child:
    items = [
        element("li", _pair(one.groups[row], one.groups[column], cell.about))
        for (row, column), cell in one.cells.items()
        if cell.state != "fine"
    ]
    if one.left_out:
        items.append(element("li", say("{hosts} with fewer problems not shown", hosts=counted(one.left_out, "host"))))
    return element("ul", *items, class_="faults") if items else None
