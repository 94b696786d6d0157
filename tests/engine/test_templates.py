"""Titles and texts: their holes, how values read, how ranks and hosts are folded."""

from __future__ import annotations

import pytest

from ncdiag.base.errors import DefinitionError
from ncdiag.engine import clauses
from ncdiag.engine.scope import Names, Scope
from ncdiag.engine.templates import compile_template, fold, show
from ncdiag.engine.three_valued import ABSENT, Interval
from ncdiag.engine.tree import Slot
from ncdiag.engine.walk import Found
from ncdiag.facts.scalars import VersionRange


def scope() -> Scope:
    found = Scope(Names())
    for name, text in (("rank", "job.ranks"), ("h", "job.hosts"), ("e", "job.events")):
        found = found.bind(name, *clauses.path(text, found))
    return found


@pytest.mark.parametrize(
    ("text", "who"),
    [("rank.rank", "rank"), ("e.rank", "rank"), ("rank.host", "host"), ("h.name", "host"), ("rank.host.name", "host"),
     ("rank.cuda_dev", ""), ("rank.bootstrap_interface.name", ""), ("rank.host.cloud", ""), ("job.ranks.host", "")],
)  # fmt: skip
def test_holes_that_only_tell_where(text: str, who: str) -> None:
    (slot,) = compile_template("{" + text + "}", scope())
    assert isinstance(slot, Slot)
    assert slot.who == who


def test_literal_braces_and_computed_values() -> None:
    parts = compile_template("${{HOME}} is {best.folder} of { h.name }", scope())
    assert parts[:3] == ("$", "{", "HOME")
    assert [part.best for part in parts if isinstance(part, Slot)] == ["folder", ""]


def test_a_fault_is_shown_in_its_line_of_the_text() -> None:
    with pytest.raises(DefinitionError) as caught:
        compile_template("first\nsecond { h.nam } and more\nthird", scope())
    assert caught.value.text == "second { h.nam } and more"
    assert caught.value.text[caught.value.column :].startswith("nam")


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "unknown"), (ABSENT, "not set"), (True, "yes"), (False, "no"), (400.0, "400"), (2.5, "2.5"), (7, "7"),
     (VersionRange.exact("2.18.3+cuda12"), "2.18.3"), (Interval(2, 2), "2"), (Interval(1, 4), "1 to 4"),
     (Found(["a", "b", "a"], open=False), "a, b"), (Found([], open=True), "unknown"),
     (Found([], open=False), "not set")],
)  # fmt: skip
def test_how_values_read(value: object, text: str) -> None:
    assert show(value) == text


def test_folding() -> None:
    assert fold("rank", [3, 0, 1, None]) == "0-1,3"
    assert fold("host", ["n1", "n2", "n2"]) == "n[1-2]"
    assert fold("host", [None]) == "unknown"
