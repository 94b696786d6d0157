"""What leaves `make test` runs elsewhere: sweeps are marked, and `make all` runs what `.ci/run` runs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parent
PARTS = {"tenth", "swept", "swept_files"}


def calls_a_part(node: ast.AST) -> bool:
    names = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(isinstance(name, ast.Name) and name.id in PARTS for name in names)


def unmarked(tree: ast.Module) -> list[str]:
    """The tests that take a part of their items, themselves or by a function of the module, and are not marked."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    helpers = {node.name for node in functions if not node.name.startswith("test_") and calls_a_part(node)}
    return [
        node.name
        for node in functions
        if node.name.startswith("test_")
        and (calls_a_part(node) or helpers & set(names_in(node)))
        and not any(mark in ast.unparse(each) for mark in ("mark.sweep", "mark.long") for each in node.decorator_list)
    ]


def names_in(function: ast.FunctionDef) -> list[str]:
    """The names that a function uses, and its fixtures."""
    used = [part.id for part in ast.walk(function) if isinstance(part, ast.Name)]
    return [*used, *(argument.arg for argument in function.args.args)]


def test_every_test_that_takes_a_tenth_is_a_sweep() -> None:
    found = {}
    for path in TESTS.rglob("test_*.py"):
        text = path.read_text(encoding="utf-8")
        if path.name != "test_tenth.py" and any(f"{name}(" in text for name in PARTS):
            found[path.name] = unmarked(ast.parse(text))
    assert len(found) > 5
    assert {name: tests for name, tests in found.items() if tests} == {}


ITEMS = "def items():\n    return tenth(ALL)\n"


def test_one_without_the_mark_is_seen() -> None:
    for test in ("@pytest.mark.parametrize('x', items())\ndef test_x(x): ...", "def test_x(items): ..."):
        assert unmarked(ast.parse(f"{ITEMS}{test}\n")) == ["test_x"]
        assert unmarked(ast.parse(f"{ITEMS}@pytest.mark.sweep\n{test}\n")) == []


def test_make_all_runs_what_the_whole_check_runs(project: Path) -> None:
    makefile = (project / "Makefile").read_text(encoding="utf-8")
    check = (project / ".ci" / "run").read_text(encoding="utf-8")
    (wanted,) = re.findall(r"^all: ([\w ]+)$", makefile, re.MULTILINE)
    steps = re.findall(r"^(?:step \w+|start) make (\w+)", check, re.MULTILINE)
    assert sorted(steps) == sorted(wanted.split())
    (left_out,) = re.findall(r"^all: WITHOUT = (.+)$", makefile, re.MULTILINE)
    assert f'make test WITHOUT="{left_out}"' in check
    assert left_out == "and not sweep"
    assert '-m "(sweep or long) and not shared"' in makefile  # what is left out of the core is whole there
