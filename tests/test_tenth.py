"""A tenth of a sweep: the same in every process, another one after each commit, and all in ten."""

from __future__ import annotations

import pytest
import tenth

NAMES = [f"rule-{number}" for number in range(400)]


@pytest.fixture(autouse=True)
def in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenth, "WHOLE", False)
    monkeypatch.setattr(tenth, "FULL", False)
    monkeypatch.setattr(tenth, "turn", lambda parts: 3 % parts)
    monkeypatch.setattr(tenth, "changed", frozenset)


def test_ten_turns_take_each_item_once(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    for number in range(tenth.PARTS):
        monkeypatch.setattr(tenth, "turn", lambda parts, number=number: number % parts)
        part = tenth.tenth(NAMES)
        assert 20 < len(part) < 70
        taken += part
    assert sorted(taken) == sorted(NAMES)


def test_the_part_of_a_name_never_changes() -> None:
    assert [tenth._hash(name) % tenth.PARTS for name in NAMES[:6]] == [7, 9, 9, 3, 0, 4]


def test_what_changed_is_taken_and_not_more_than_a_tenth(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = tenth.tenth(NAMES)
    (other, *_) = (name for name in NAMES if name not in usual)
    monkeypatch.setattr(tenth, "changed", lambda: {other, "evaluate"})
    assert set(tenth.tenth(NAMES)) == {*usual, other}
    assert tenth.tenth(["b/x", f"b/{other}"], str) == [f"b/{other}"]
    monkeypatch.setattr(tenth, "changed", lambda: set(NAMES))
    assert len(usual) < len(tenth.tenth(NAMES)) <= len(usual) + len(NAMES) // tenth.PARTS


def test_the_whole_is_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenth, "WHOLE", True)
    assert tenth.tenth(NAMES) == NAMES
    assert tenth.at_least(300) == 300


def test_of_a_class_the_whole_is_a_part_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenth, "WHOLE", True)
    taken: list[str] = []
    for number in range(3):
        monkeypatch.setattr(tenth, "turn", lambda parts, number=number: number % parts)
        part = tenth.tenth(NAMES, one_in=3)
        assert 100 < len(part) < 170
        taken += part
    assert sorted(taken) == sorted(NAMES)
    (other, *_) = (name for name in NAMES if name not in part)
    monkeypatch.setattr(tenth, "changed", lambda: {other})
    assert set(tenth.tenth(NAMES, one_in=3)) == {*part, other}
    monkeypatch.setattr(tenth, "FULL", True)
    assert tenth.tenth(NAMES, one_in=3) == NAMES


def test_a_sweep_has_at_least_one_item() -> None:
    assert len(tenth.tenth(["one"])) == 1
    assert tenth.tenth([]) == []
    assert tenth.at_least(300) == 1


def test_without_git_it_is_always_the_same_tenth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("PATH", "")
    for function in (tenth.turn, tenth.changed):
        assert function.__wrapped__() in (0, frozenset())
