"""``make test`` tries the same examples and random numbers in every run, whatever ran or was imported before."""

from __future__ import annotations

import importlib.util
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

TESTS = Path(__file__).parent
FIXED = pytest.mark.skipif(not settings().derandomize, reason="a random search was asked for")
PROPERTY = """
from examples import load_profile
load_profile()
from hypothesis import given, strategies as st
@given(st.text(max_size=9), st.floats(), st.sampled_from("abc"))
def tell(text, number, letter):
    print(ascii(text), number, letter)
tell()
"""


def drawn() -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []

    @given(st.integers(), st.text(max_size=40))
    @settings(max_examples=300)
    def keep(number: int, text: str) -> None:
        found.append((number, text))

    keep()
    return found


@FIXED
def test_examples_do_not_depend_on_the_modules_that_are_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = drawn()
    module = tmp_path / "constants_of_ours.py"
    words = [f"word-{number}" for number in range(500)]
    module.write_text(f"NUMBERS = {list(range(1_000_000, 1_000_500))}\nWORDS = {words}\n")
    spec = importlib.util.spec_from_file_location("constants_of_ours", module)
    assert spec is not None
    monkeypatch.setitem(sys.modules, "constants_of_ours", importlib.util.module_from_spec(spec))
    assert drawn() == before


@FIXED
def test_examples_are_the_same_in_every_process(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(PROPERTY)
    told = set()
    for seed in ("0", "1"):
        environ = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(TESTS)}
        told.add(
            subprocess.run(
                [sys.executable, tmp_path / "own.py"], env=environ, stdout=subprocess.PIPE, check=True
            ).stdout
        )
    (examples,) = told
    assert examples.count(b"\n") > 5


@pytest.mark.parametrize("again", range(2))
def test_random_numbers_of_a_test_are_the_same_in_every_run(again: int) -> None:
    assert random.random() == random.Random(0).random(), again


def test_no_property_test_leaves_the_profile() -> None:
    own = [
        path.name for path in TESTS.rglob("test_*.py") if path != Path(__file__) and "@settings(" in path.read_text()
    ]
    assert own == []
