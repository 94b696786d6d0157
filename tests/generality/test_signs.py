"""Signs that healthy texts show are weak, and few rules know one thread alone: on the shared specimens, where they are.

`make signs` lists both by name. Shares keep rules and signs from being fitted to single texts.
"""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from shared_texts import HEALTHY, THREADS, answer, audited, completed, corpus, threads

from ncdiag import catalogue
from ncdiag.engine.load import load_folder

FITTED = 0.05
"""Of all rules, so many may fire in one thread alone and have no second example that they fire on."""


@pytest.fixture(scope="module")
def signs(project: Path, shared: Path, monkeypatch_module: pytest.MonkeyPatch) -> ModuleType:
    """The script behind `make signs`."""
    monkeypatch_module.setenv("NCDIAG_SHARED", str(shared))
    path = project / "tools" / "signs.py"
    spec = importlib.util.spec_from_file_location("signs", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch_module.setitem(sys.modules, "signs", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def monkeypatch_module() -> Iterator[pytest.MonkeyPatch]:
    """Undone when all tests of this file have run."""
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@HEALTHY
def test_a_sign_that_healthy_texts_show_is_weak(signs: ModuleType, project: Path, shared: Path) -> None:
    shelf = [signs.look(str(path)) for path in sorted((project / "fixtures" / "healthy").iterdir())]
    written = [signs.seen(path.name, answer(path)) for path in audited(shared, "healthy")]
    seen = [*shelf, *written, *(signs.seen(name, found) for name, found in completed(shared).items())]
    assert len(seen) > 60
    counts = Counter(sign for _, true, _, _ in seen for sign in set(true) if sign[1] != "weak")
    assert [sign for sign, count in counts.items() if count > signs.MOST * len(seen)] == []
    assert [
        (path, shown)
        for path, _, _, shown in seen
        if any("(likely)" in text or "(very likely)" in text for text in shown)
    ] == []


@THREADS
def test_few_rules_know_one_thread_alone(signs: ModuleType, project: Path, shared: Path) -> None:
    counts = Counter(name for path in threads(shared) for name in set(signs.above_notes(answer(path))))
    others = {name for path in corpus(shared) for name in signs.above_notes(answer(path))}
    shown = Counter(
        rule.name
        for rule in load_folder(project / "rules", catalogue.names()) for each in rule.examples
        if each.outcome == "fired"
    )  # fmt: skip
    once = sorted(name for name, count in counts.items() if count == 1 and name not in others and shown[name] < 2)
    assert len(once) <= FITTED * len(shown), once
