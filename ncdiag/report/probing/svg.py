"""The matrices as SVG: a square for each pair, with its result in words."""

from __future__ import annotations

from collections.abc import Sequence

from ncdiag.language import cells, say
from ncdiag.report.drawing import LETTER, Box, cut, document, rect, write
from ncdiag.report.probing.plan import MARKS, MEANINGS, Matrix

SIDE, EDGE = 20, 16
"""Side of a square, and the margin, in pixels."""
_RUNS = {"slow", "not tried", "failed"}
"""States that the legend explains only if they occur, because few runs have them."""
_NAME = 40
"""Maximum length of the name of a row."""
_STYLE = (
    "rect{stroke:#d0d7de}.none{fill:#fff}.self{fill:#eef1f4}.fine{fill:#dff3e3}.ports{fill:#fff3c4}"
    ".large{fill:#ffe0b2}.other{fill:#e4d7f5}.unreachable,.failed{fill:#ffd7d5;stroke:#c62828}"
    ".slow{fill:#ffe0b2;stroke:#c62828}.not{fill:#eef1f4}"
)


def render(found: Sequence[Matrix]) -> str:
    """One SVG document with all matrices, one below the other, and their content in words as description."""
    parts: list[str] = []
    top, width = float(EDGE), 0.0
    for matrix in found:
        top, right = _draw(parts, matrix, top)
        width = max(width, right)
    shown = {cell.state for matrix in found for cell in matrix.cells.values()}
    for state, mark in MARKS.items():
        if state in _RUNS and state not in shown:
            continue
        parts += [rect(Box(EDGE, top, SIDE, SIDE), state.split()[0], None), write(EDGE + 6, top + 14, mark, "")]
        parts.append(write(EDGE + SIDE + 6, top + 14, say(MEANINGS[state]), ""))
        top += SIDE + 2
    wide, high = max(width, 24 * LETTER) + EDGE, top + EDGE
    return document((wide, high), say("Connections between hosts"), _told(found), _STYLE, parts)


def _told(found: Sequence[Matrix]) -> str:
    """The matrices in words: the number of pairs that connect, and each problem."""
    sentences = []
    for matrix in found:
        sentences.append(say("{sentence}.", sentence=matrix.summary))
        for (row, column), cell in matrix.cells.items():
            if cell.state != "fine":
                told = _pair(matrix.groups[row], matrix.groups[column], cell.about)
                sentences.append(say("{sentence}.", sentence=told))
    return say(" ").join(sentences)


def _pair(one: str, other: str, about: str) -> str:
    return say("{label}: {text}", label=say("{one} to {other}", one=one, other=other), text=about)


def _draw(parts: list[str], matrix: Matrix, top: float) -> tuple[float, float]:
    """Draw a matrix; returns its extent (bottom, right)."""
    left = EDGE + LETTER * (min(_NAME, max(map(len, matrix.groups), default=1)) + 6)
    parts.append(write(EDGE, top + 14, matrix.summary, "title"))
    top += 2 * SIDE
    numbers, side = range(len(matrix.groups)), max(SIDE, LETTER * matrix.size + 8)
    parts += [write(left + column * side + 3, top - 4, str(column + 1), "head") for column in numbers]
    for row, group in enumerate(matrix.groups):
        line = top + row * SIDE
        parts.append(write(EDGE, line + 14, cut(f"{row + 1} {group}", left - EDGE), "head"))
        for column, other in enumerate(matrix.groups):
            cell = matrix.cells.get((row, column))
            box = Box(left + column * side, line, side, SIDE)
            if cell is None:
                parts.append(rect(box, "self" if row == column else "none", None))
                continue
            parts.append(rect(box, cell.state.split()[0], _pair(group, other, cell.about)))
            parts.append(write(box.x + (6 if len(cell.mark) == 1 else 3), line + 14, cell.mark, ""))
    if matrix.left_out:
        below = top + len(matrix.groups) * SIDE + 14
        parts.append(write(EDGE, below, say("and {n} hosts with fewer problems", n=matrix.left_out), ""))
    bottom = top + len(matrix.groups) * SIDE + 2 * EDGE
    return bottom, max(left + len(matrix.groups) * side, EDGE + 1.4 * LETTER * cells.width(matrix.summary))
