"""How often each word was right on threads that were collected and labelled before ncdiag saw them, scored once.

``rounds.csv`` has every answer that was printed then (`tools/cases.py --csv`): its word, score and lead, and whether it
was right. New rounds are added to it; a row is never changed afterwards.
"""

from __future__ import annotations

import csv
import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from ncdiag.suspects.choose import UNLIKELY

TABLE = Path(__file__).with_name("rounds.csv")
TOOL = Path(__file__).parents[2] / "tools" / "cases.py"
LAST = 3
"""Number of rounds, the newest, on which the words are measured."""
REACHED = {
    "likely cause": 0.85, "possible cause": 0.60, "very likely": 0.85, "likely": 0.60, "possible": 0.35,
}  # fmt: skip
"""What the upper end of the 90% interval has to reach for each word."""


@pytest.fixture(scope="module")
def interval() -> Callable[[int, int], tuple[float, float]]:
    spec = importlib.util.spec_from_file_location("cases", TOOL)
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    found: Callable[[int, int], tuple[float, float]] = tool.interval
    return found


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        held = list(csv.DictReader(file))
    newest = sorted({row["round"] for row in held}, key=int)[-LAST:]
    return [row for row in held if row["round"] in newest]


def word_of(row: dict[str, str]) -> str:
    """The word that was printed; up to round 8 an unlikely suspect was called possible."""
    is_unlikely = row["word"] == "possible" and row["place"] != "1" and float(row["score"]) < UNLIKELY
    return "unlikely" if is_unlikely else row["word"]


def counts(rows: list[dict[str, str]], word: str) -> tuple[int, int]:
    """How often the word was right, and how often it was printed, on threads with a fault."""
    said = [row["right"] == "1" for row in rows if word_of(row) == word and row["healthy"] == "0"]
    return sum(said), len(said)


def test_the_table_has_enough_threads(rows: list[dict[str, str]]) -> None:
    assert len({(row["round"], row["thread"]) for row in rows}) >= 120


@pytest.mark.parametrize("word", REACHED)
def test_a_word_is_right_as_often_as_it_promises(
    rows: list[dict[str, str]], interval: Callable[[int, int], tuple[float, float]], word: str
) -> None:
    right, said = counts(rows, word)
    assert said
    assert interval(right, said)[1] >= REACHED[word]


def test_an_unlikely_suspect_is_seldom_right(
    rows: list[dict[str, str]], interval: Callable[[int, int], tuple[float, float]]
) -> None:
    right, said = counts(rows, "unlikely")
    assert said
    assert interval(right, said)[1] <= 0.2


def test_of_causes_called_certain_at_most_one_is_wrong(rows: list[dict[str, str]]) -> None:
    right, said = counts(rows, "certain cause")
    assert said
    assert said - right <= 1


def test_the_interval_is_that_of_wilson(interval: Callable[[int, int], tuple[float, float]]) -> None:
    low, high = interval(9, 10)
    assert (round(low, 2), round(high, 2)) == (0.65, 0.98)
    assert interval(0, 0) == (0.0, 1.0)
