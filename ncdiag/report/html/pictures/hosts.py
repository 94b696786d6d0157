"""Which hosts connect to which, a matrix for each network that was tried."""

from __future__ import annotations

from ncdiag.facts.view import View
from ncdiag.report.digest import counted
from ncdiag.report.html.context import Context
from ncdiag.report.html.drawing import Cell, legend, matrix, picture
from ncdiag.report.html.element import Child, Element, element
from ncdiag.report.probing.plan import MARKS, MEANINGS, Matrix, matrices

SHOWN = 6
"""Networks that are drawn, those with most pairs first."""


def draw(view: View, context: Context) -> Element | None:
    """The matrices, and their troubles as sentences."""
    found = matrices(view.job)
    if not found:
        return None
    parts: list[Child] = []
    for one in found[:SHOWN]:
        parts += [element("h4", one.network), element("p", f"{one.summary}."), _matrix(one), _troubles(one)]
    states = {cell.state for one in found for cell in one.cells.values()}
    keys = ((Cell(MARKS[state], _style(state)), text) for state, text in MEANINGS.items() if state in states)
    told = "A row asks, a column is asked; an empty cell was not tried."
    more = f" {counted(len(found) - SHOWN, 'more network')} not shown." if len(found) > SHOWN else ""
    return picture(context, "Connections between hosts", f"{told}{more}", *parts, legend(keys))


def _style(state: str) -> str:
    return state.split(maxsplit=1)[0]


def _matrix(one: Matrix) -> Element:
    numbers = range(len(one.groups))
    rows = []
    for row, group in enumerate(one.groups):
        cells: list[Cell | None] = []
        for column in numbers:
            found = one.cells.get((row, column))
            about = f"{group} to {one.groups[column]}: {found.about}" if found else ""
            own = Cell("", "self") if row == column else None
            cells.append(Cell(MARKS[found.state], _style(found.state), about) if found else own)
        rows.append((f"{row + 1} {group}", cells))
    return matrix(f"Connections on {one.network}", "from, to", [str(number + 1) for number in numbers], rows)


def _troubles(one: Matrix) -> Child:
    items = [
        element("li", f"{one.groups[row]} to {one.groups[column]}: {cell.about}")
        for (row, column), cell in one.cells.items()
        if cell.state != "fine"
    ]
    if one.left_out:
        items.append(element("li", f"{counted(one.left_out, 'host')} with less trouble without a row"))
    return element("ul", *items, class_="faults") if items else None
