"""Why one rule comes before another in a report: the terms of both sums side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ncdiag.engine.order import TERMS
from ncdiag.language import cells, say

_NUMBER = 8


def compared(names: Sequence[str], held: Sequence[Mapping[str, float]]) -> str:
    """A table of the terms of candidates, one column each, with their sums and the term that decides."""
    sums = [sum(terms.values()) for terms in held]
    shown = [name for name in TERMS if any(name in terms for terms in held)]
    labels = [*(say(name) for name in shown), say("sum")]
    first = max(map(cells.width, labels), default=0)
    widths = [max(cells.width(name), _NUMBER) for name in names]
    rows: list[list[float | None]] = [[terms.get(name) for terms in held] for name in shown]
    rows.append([*sums])
    lines = [_line("", list(names), first, widths)]
    lines += [
        _line(label, ["" if value is None else f"{value:+.1f}" for value in row], first, widths)
        for label, row in zip(labels, rows, strict=True)
    ]
    return "\n".join([*lines, "", _decided(names, held, sums)]) + "\n"


def _line(label: str, columns: Sequence[str], first: int, widths: Sequence[int]) -> str:
    parts = (" " * (width - cells.width(text)) + text for text, width in zip(columns, widths, strict=True))
    return "  ".join([f"  {cells.pad(label, first)}", *parts]).rstrip()


def _decided(names: Sequence[str], held: Sequence[Mapping[str, float]], sums: Sequence[float]) -> str:
    """Which of the first two comes first, and the term in which they differ most."""
    if abs(sums[0] - sums[1]) < 0.05:  # noqa: PLR2004  (what is printed with one decimal as equal)
        return say("  Both sums are equal: time, layer and code decide.")
    ahead, behind = (0, 1) if sums[0] > sums[1] else (1, 0)
    gaps = {name: held[ahead].get(name, 0.0) - held[behind].get(name, 0.0) for name in TERMS}
    name = max(gaps, key=lambda key: gaps[key])
    return say(
        "  {first} comes before {second}, mostly by: {term} ({gap})",
        first=names[ahead], second=names[behind], term=say(name), gap=f"{gaps[name]:+.1f}",
    )  # fmt: skip
