"""Faults that are planted on purpose: one change each, found again where lines have moved."""

from __future__ import annotations

import ast
from pathlib import Path

import msgspec
from mutants.faults import chosen, faults_of, located, planted

MODULE = """\
def first(items: list[int], most: int = 3) -> bool:
    \"\"\"Is 1 < 2?\"\"\"
    if items and len(items) > most:
        return True
    return "é" in items or not items


def second(text: str) -> str:
    return text + f"{1 + 1}"
"""


def changes(module: str) -> list[tuple[str, str, str, str]]:
    return [(fault.within, fault.kind, fault.before, fault.after) for fault in faults_of(module, "x.py")]


def test_what_can_be_changed() -> None:
    assert changes(MODULE) == [
        ("first", "constant", "3", "4"),
        ("first", "branch", "items and len(items) > most", "False"),
        ("first", "operator", "items and len(items) > most", "items or len(items) > most"),
        ("first", "operator", "len(items) > most", "len(items) >= most"),
        ("first", "constant", "True", "False"),
        ("first", "operator", '"é" in items', '"é" not in items'),
        ("first", "operator", '"é" in items or not items', '"é" in items and not items'),
        ("second", "operator", 'text + f"{1 + 1}"', 'text - f"{1 + 1}"'),
    ]


def test_each_fault_leaves_a_program_with_one_line_changed() -> None:
    for fault in faults_of(MODULE, "x.py"):
        made = planted(MODULE, fault)
        assert made is not None
        ast.parse(made.text)
        lines = zip(MODULE.splitlines(), made.text.splitlines(), strict=True)
        assert [number for number, (old, new) in enumerate(lines, 1) if old != new] == [made.first] == [made.last]


def test_a_fault_is_found_again_in_a_module_that_has_moved(tmp_path: Path) -> None:
    (tmp_path / "ncdiag" / "apps").mkdir(parents=True)
    (tmp_path / "ncdiag" / "apps" / "x.py").write_text(f"import re\n\n\n{MODULE}", encoding="utf-8")
    fault = faults_of(MODULE, "ncdiag/x.py")[1]
    found = located(tmp_path, fault)
    assert found is not None
    assert (found[0], found[1].first) == (tmp_path / "ncdiag" / "apps" / "x.py", 6)
    assert located(tmp_path, msgspec.structs.replace(fault, within="third")) is None


def test_the_same_seed_chooses_the_same_faults(tmp_path: Path) -> None:
    (tmp_path / "ncdiag").mkdir()
    for number in range(20):
        (tmp_path / "ncdiag" / f"m{number}.py").write_text(MODULE * (1 + number % 3), encoding="utf-8")
    one, again, other = (chosen(tmp_path, seed, 12) for seed in (1, 1, 2))
    assert one == again != other
    assert len({fault.path for fault in one}) == 12
    assert all(located(tmp_path, fault) for fault in one)
