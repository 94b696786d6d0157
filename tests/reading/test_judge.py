"""A line is judged at the cost of one search for literals, whoever asks, and of few calls."""

from __future__ import annotations

import pytest
from generate.kinds import KINDS, text
from linear import calls

from ncdiag.formats.literals import SHARED
from ncdiag.parsers.user_text import trials
from ncdiag.parsers.user_text.paragraphs import sentences
from ncdiag.text.reading.judge import Judge

FEW = 300
"""Lines that fill the tables, and as many that are judged then."""
SEARCHES, AGAIN = 1.01, {"mail": 2, "diff": 1.4}
"""How often a line is searched for literals, and more where another form of it is read as well."""
CALLS, MORE = 430, {"colours": 580, "CSV": 580, "attributes": 520, "list of packages": 500}
"""Calls for a line, and more where each may be a note of a person."""


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


@pytest.mark.parametrize("kind", KINDS)
def test_a_line_is_judged_in_few_calls(kind: str) -> None:
    judge, lines = Judge(), lines_of(kind)
    judged(judge, lines[:FEW])
    made = calls(lambda held: judged(judge, held), lines[FEW:]) / len(lines[FEW:])
    assert made <= MORE.get(kind, CALLS), f"{made:.0f} calls a line"


@pytest.mark.parametrize("kind", ["key=value", "Markdown table", "CSV", "list of packages"])
def test_a_note_without_an_outcome_and_a_change_is_not_read(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(trials.Reader, "read", lambda _, sentence: read.append(sentence))
    judged(Judge(), lines_of(kind))
    assert not read


@pytest.mark.parametrize(
    ("line", "may"),
    [
        ("works with NCCL_P2P_DISABLE=1", True),
        ("it is a regression", True),
        ("Did you set NCCL_P2P_DISABLE=1? Yes.", True),
        ("NCCL_P2P_DISABLE=1: nothing else", False),
        ("it still hangs", False),
    ],
)
def test_an_outcome_and_a_change_may_tell_a_trial(line: str, may: bool) -> None:
    assert trials.may_tell([sentence for _, sentence in sentences(line)]) == may
