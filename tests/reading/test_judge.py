"""A line is judged at the cost of one search for literals, whoever asks."""

from __future__ import annotations

import pytest
from generate.kinds import KINDS, text

from ncdiag.formats.literals import SHARED
from ncdiag.text.reading.judge import Judge

FEW = 300
"""Lines that fill the tables, and as many that are judged then."""
SEARCHES, AGAIN = 1.01, {"mail": 2, "diff": 1.4}
"""How often a line is searched for literals, and more where another form of it is read as well."""


def lines_of(kind: str, *, failing: bool = False) -> list[str]:
    return list(dict.fromkeys(text(kind, 2 * FEW, failing=failing).split("\n")))


def judged(judge: Judge, lines: list[str]) -> None:
    for line in lines:
        judge.answer(line)


@pytest.mark.parametrize("failing", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_line_is_searched_once(kind: str, failing: bool) -> None:
    judge, lines = Judge(), lines_of(kind, failing=failing)
    judged(judge, lines[:FEW])
    searched = SHARED._made().remembered
    searched.cache_clear()
    judged(judge, lines[FEW:])
    assert SHARED._made().remembered is searched
    assert searched.cache_info().misses <= AGAIN.get(kind, SEARCHES) * len(lines[FEW:])
