"""The comparison of two trees (tools/diff_findings.py) sees a difference in every part of an answer."""

from __future__ import annotations

import copy
import importlib.util
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).resolve().parent.parent / "tools" / "diff_findings.py"
_spec = importlib.util.spec_from_file_location("diff_findings", TOOL)
assert _spec is not None
assert _spec.loader is not None
tool = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tool)

FIX = {"kind": "env", "env": {"NCCL_IB_HCA": "mlx5_0"}, "proof": "proved"}
FINDING = {"severity": "error", "role": "cause", "evidence": [["INPUT", 3]], "fixes": [FIX]}
SUSPECT = {"likelihood": "likely", "for": [["strong", [["INPUT", 4]]]], "against": [], "fixes": []}
ANSWER: dict[str, Any] = {
    "verdict": "root-cause",
    "order": ["one", "two", "?three"],
    "findings": {"one": FINDING, "two": FINDING},
    "suspects": {"three": SUSPECT},
    "observed": {"Rank": [2, "abc"]},
    "texts": {"findings.one.title": "A sentence."},
}


def changed(place: list[str | int], value: object) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(json.dumps(ANSWER))  # "one" and "two" share their parts here
    part: Any = answer
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return answer


def test_equal_answers_have_no_difference() -> None:
    assert list(tool.difference(ANSWER, copy.deepcopy(ANSWER), texts=True)) == []


@pytest.mark.parametrize(
    ("place", "value", "line"),
    [
        (["verdict"], "healthy", "~ verdict root-cause -> healthy"),
        (["findings", "one", "role"], "symptom", "~ findings one: role cause -> symptom"),
        (["findings", "one", "evidence", 0, 1], 5, "~ findings one: evidence[0][1] 3 -> 5"),
        (["findings", "one", "fixes", 0, "proof"], None, "~ findings one: fixes[0].proof proved -> null"),
        (["suspects", "three", "likelihood"], "possible", "~ suspects three: likelihood likely -> possible"),
        (["suspects", "three", "for"], [], '~ suspects three: for [["strong", [["INPUT", 4]]]] -> []'),
        (["suspects"], {}, "- suspects three (likely)"),
        (["observed", "Rank"], [3, "abd"], "~ observed Rank: [0] 2 -> 3; [1] abc -> abd"),
        (["order"], ["two", "one", "?three"], "> two, one, ?three"),
    ],
)
def test_each_difference_is_listed(place: list[str | int], value: object, line: str) -> None:
    assert list(tool.difference(ANSWER, changed(place, value))) == [line]


def test_texts_are_compared_on_demand() -> None:
    other = changed(["texts", "findings.one.title"], "Another.")
    assert list(tool.difference(ANSWER, other)) == []
    assert len(list(tool.difference(ANSWER, other, texts=True))) == 1


def test_a_crash_is_a_difference() -> None:
    assert next(tool.difference(ANSWER, {"verdict": "crash: KeyError: x"})).startswith("~ verdict")


def test_parts_share_out_all_inputs() -> None:
    names = [f"cases/{number}" for number in range(50)]
    found = [[name for name in names if tool._is_of_part(name, f"{part}/7")] for part in range(7)]
    assert sorted(itertools.chain.from_iterable(found)) == sorted(names)
