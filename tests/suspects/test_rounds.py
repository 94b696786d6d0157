"""How often each word was right on threads that were collected and labelled before ncdiag saw them, scored once.

``rounds.csv`` has every answer that was printed then (`tools/cases.py --csv`): its word, score and lead, and whether it
was right. New rounds are added to it; a row is never changed afterwards.
"""

from __future__ import annotations

import csv
import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from ncdiag.suspects.choose import SURE, UNLIKELY, VERY_LIKELY

TABLE = Path(__file__).with_name("rounds.csv")
TOOL = Path(__file__).parents[2] / "tools" / "cases.py"
LAST = 3
"""Number of rounds, the newest, on which the words are measured."""
REACHED = {
    "likely cause": 0.85, "possible cause": 0.60, "very likely": 0.85, "likely": 0.60, "possible": 0.35,
}  # fmt: skip
"""What the upper end of the 90% interval has to reach for each word."""


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("cases", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def interval(tool: ModuleType) -> Callable[[int, int], tuple[float, float]]:
    found: Callable[[int, int], tuple[float, float]] = tool.interval
    return found


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8", newline="") as file:
        held = list(csv.DictReader(file))
    newest = sorted({row["round"] for row in held}, key=int)[-LAST:]
    return [row for row in held if row["round"] in newest]


def words(rows: list[dict[str, str]]) -> list[tuple[str, bool]]:
    """The words for the answers to threads with a fault, as they are today, and whether each was right."""
    threads: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in rows:
        if row["healthy"] == "0":
            threads.setdefault((row["round"], row["thread"]), []).append(row)
    found = []
    for answers in threads.values():
        is_settled = False
        for row in sorted(answers, key=lambda row: int(row["place"])):
            word = row["word"]
            if word == "very likely" and (float(row["score"]) < SURE or float(row["lead"]) < VERY_LIKELY[1]):
                word = "likely"
            if word in {"possible", "unlikely"}:
                is_unlikely = row["place"] != "1" and (is_settled or float(row["score"]) < UNLIKELY)
                word = "unlikely" if is_unlikely else "possible"
            is_first_cause = row["place"] == "1" and word in {"certain cause", "likely cause"}
            is_settled = is_settled or is_first_cause or word in {"very likely", "likely"}
            found.append((word, row["right"] == "1"))
    return found


def counts(rows: list[dict[str, str]], word: str) -> tuple[int, int]:
    """How often the word was right, and for how many answers it stands."""
    said = [right for each, right in words(rows) if each == word]
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
    assert interval(right, said)[1] <= 0.25


def test_of_causes_called_certain_at_most_one_is_wrong(rows: list[dict[str, str]]) -> None:
    right, said = counts(rows, "certain cause")
    assert said
    assert said - right <= 1


def test_the_interval_is_that_of_wilson(interval: Callable[[int, int], tuple[float, float]]) -> None:
    low, high = interval(9, 10)
    assert (round(low, 2), round(high, 2)) == (0.65, 0.98)
    assert interval(0, 0) == (0.0, 1.0)


def test_the_pages_quote_what_the_table_holds(tool: ModuleType) -> None:
    page = (TOOL.parents[1] / "docs" / "reports.md").read_text(encoding="utf-8")
    quoted = re.findall(r"^\| (\d+) \| (\d+) \| (\d+) \(\d+%\) \| (\d+) \(", page, re.MULTILINE)
    printed = [tuple(re.findall(r"\d+", line)) for line in tool.rounds(TABLE)]
    assert [row for row in quoted if int(row[0]) >= int(printed[0][0])] == printed
    *_, before, last = printed
    faulty, first, three = (int(before[at]) + int(last[at]) for at in (1, 2, 3))
    readme = " ".join((TOOL.parents[1] / "README.md").read_text(encoding="utf-8").split())
    assert f"On the last {faulty} support threads" in readme
    assert f"first answer in {first} and among the first three in {three}" in readme
