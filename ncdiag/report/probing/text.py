"""The matrices in a terminal, in ASCII and at most as wide as the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.language import say
from ncdiag.report.page import Page, Piece
from ncdiag.report.probing.plan import MARKS, MEANINGS, Matrix
from ncdiag.report.sanitize import one_line

_COLOURS = {"fine": "green", "unreachable": "bold red", "failed": "bold red"}


def render(found: Sequence[Matrix], *, width: int = 80, colour: bool = False) -> str:
    """All matrices, one below the other: a row is the client, the column with the same number the server."""
    page = Page(width)
    for matrix in found:
        page.blank()
        page.put(matrix.summary, "bold")
        _rows(page, matrix)
    if found:
        page.blank()
        cells = [cell for matrix in found for cell in matrix.cells.values()]
        marks = {(mark, MEANINGS[cell.state]) for cell in cells if (mark := MARKS[cell.state]) == cell.mark}
        page.put(say("; ").join(f"{mark} {say(meaning)}" for mark, meaning in sorted(marks)))
        page.put(say("Rows connect to columns; blank: not tested."))
        units = dict.fromkeys(matrix.unit for matrix in found if matrix.unit)
        if units:
            page.put(
                say(
                    "Numbers are in {units}; each is the lowest of its group.",
                    units=say(" or, of nccl-tests, ").join(units),
                )
            )
    return page.painted() if colour else page.plain()


def _rows(page: Page, matrix: Matrix) -> None:
    size = max(len(str(len(matrix.groups))), matrix.size) + 1
    numbers = range(len(matrix.groups))
    page.lines.append([(" " * (size + 1), ""), *((f"{number + 1:>{size}}", "dim") for number in numbers)])
    for row, group in enumerate(matrix.groups):
        line: list[Piece] = [(f" {row + 1:>{size}}", "dim")]
        for column in numbers:
            cell = matrix.cells.get((row, column))
            own = "\\" if row == column else " "
            style = _COLOURS.get(cell.state, "yellow") if cell else "dim"
            line.append((f"{cell.mark if cell else own:>{size}}", style))
        room = page.width - sum(len(text) for text, _ in line) - 2
        name = one_line(group)
        line.append((f"  {name if len(name) <= room else f'{name[: max(1, room - 3)]}...'}", "bold"))
        page.lines.append(line)
    if matrix.left_out:
        page.put(say("and {n} hosts with fewer problems", n=matrix.left_out), first=" ")
