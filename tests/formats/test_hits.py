"""Literals are found in many lines at once, as in each line alone, with and without the package that searches fast."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from generate.kinds import KINDS, text

from ncdiag.formats import hits, literals
from ncdiag.formats.blocks import documents, own_trouble
from ncdiag.formats.guarded import Guarded
from ncdiag.formats.literals import Literals

OWNED = {"rank": ("rank 0", "ranks"), "short": ("an", "n"), "error": ("error", "err"), "blank": ("not sure",)}
LINES = [
    "Rank 7 is not  sure", "ranks and errors", "", "NOT SURE", "\u0130\u0130 rank 3", "\u9519\u8bef error\u2028an",
    "x" * 40,
]  # fmt: skip


def table() -> Literals[str]:
    found = Literals[str]()
    for owner, needed in OWNED.items():
        found.add(owner, needed)
    return found


@pytest.fixture(params=["with the package", "without it"])
def search(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "without it":
        monkeypatch.setattr(hits, "_package", lambda: None)
    else:
        pytest.importorskip("ahocorasick_rs")
    return str(request.param)


@pytest.mark.usefixtures("search")
@pytest.mark.parametrize("together", [50, 1 << 17])
def test_the_owners_of_each_line_are_those_that_a_search_in_it_alone_finds(
    together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(literals, "_TOGETHER", together)
    monkeypatch.setattr(literals, "_WORTHWHILE", 0)
    expected = [
        frozenset(
            owner for owner, needed in OWNED.items() if any(literals.folded(line).find(each) >= 0 for each in needed)
        )
        for line in LINES
    ]
    assert {"rank", "blank", "error", "short"} == frozenset().union(*expected)
    assert table().of_lines(LINES) == expected


@pytest.mark.usefixtures("search")
def test_a_literal_that_is_added_later_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(literals, "_WORTHWHILE", 0)
    found = table()
    found.of_lines(LINES)
    found.add("later", ["xxxx"])
    assert found.of_lines(LINES)[-1] == {"later"}


def test_the_package_is_asked_once_for_many_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ahocorasick_rs")
    asked: list[str] = []
    found = table()
    monkeypatch.setattr(found, "owners", asked.append)
    assert len(found.of_lines(["a rank"] * 5000)) == 5000
    assert not asked


@pytest.mark.usefixtures("search")
@pytest.mark.parametrize("guarded", [own_trouble._GUARDED, documents._GUARDED])
def test_a_pattern_matches_no_line_in_which_it_is_not_tried(guarded: Guarded) -> None:
    own = "our job hangs\nmy node\nany idea?\nit still fails\nIf you see this, set the variable\nWIR haben\n"
    lines = [line for kind in KINDS for line in (own + text(kind, 300)).split("\n")]
    tried = matched = 0
    for line, may in guarded.of_lines(lines):
        found = {pattern for pattern in guarded.patterns if pattern.search(line)}
        assert found <= may, line
        tried, matched = tried + len(may), matched + len(found)
    assert matched
    assert tried < len(lines)


def test_a_pattern_without_a_literal_is_refused() -> None:
    with pytest.raises(ValueError, match="no literal"):
        list(Guarded(re.compile(r"\d+")).of_lines(["7"]))


def test_what_is_found_in_a_text_full_of_literals_is_kept_for_a_part_of_it_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("ahocorasick_rs")
    searched: list[int] = []
    search_for = hits.search_for

    def counted(needed: Sequence[str]) -> hits.Search:
        search = search_for(needed)
        assert search is not None

        def search_in(given: str) -> Sequence[tuple[int, int, int]]:
            searched.append(len(search(given)))
            return search(given)

        return search_in

    monkeypatch.setattr(literals, "search_for", counted)
    found = table().of_lines(["ranks error an " * 100] * 1000)
    assert found == [{"rank", "error", "short"}] * 1000
    assert sum(searched) >= 500_000
    assert max(searched) <= 100_000
