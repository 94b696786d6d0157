"""Beginnings of sections are found by literals and first characters, few of which ordinary text has."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Iterable
from types import ModuleType

import background
import pytest
from specimens import FIXTURES, read

from ncdiag.formats.anchors import branches, found_by
from ncdiag.formats.literals import Found, Sign, folded
from ncdiag.parsers import discover
from ncdiag.text.sections.kinds import Kinds

ANCHORED = [parser for parser in discover().values() if parser.anchor]
FEW = 0.001
"""Of the lines of ordinary text those that may hold a literal."""
TRIED = 0.35
"""Anchors that are tried for a line of ordinary text, on average."""
MOST_FREQUENT = 20
"""Literals and structures that may be in more."""


def _is_in(sign: Sign, line: str) -> bool:
    line = line.lower() if sign.any_case else line
    return line.startswith(sign.literal) if sign.at_start else sign.literal in line


def _finds(found: Found, line: str) -> bool:
    letter = folded(line[:1])
    is_structured = any(letter in begins and re.match(pattern, line) for pattern, begins in found.structured)
    return is_structured or any(_is_in(sign, line) for sign in found.signs)


def _module(kind: str) -> ModuleType:
    return importlib.import_module(f"ncdiag.parsers.{kind}")


def _frequent(kind: str) -> Iterable[tuple[str, str]]:
    reasons: dict[str, str] = getattr(_module(kind), "FREQUENT", {})
    return reasons.items()


def test_every_beginning_is_found() -> None:
    lines = {line for path in FIXTURES.rglob("*.txt") for text in read(path) for line in (text, text.lstrip())}
    begins = [(parser, line) for parser in ANCHORED for line in lines if re.match(parser.anchor, line)]
    assert [(parser.kind, line) for parser, line in begins if not _finds(parser.found_by, line)] == []
    assert len(begins) > 1500


def test_literals_are_rare_in_ordinary_text() -> None:
    """A literal that is not, or a STRUCTURE, has its reason in FREQUENT of its parser."""
    signs = {(parser.kind, sign) for parser in ANCHORED for sign in parser.found_by.signs}
    lines = list(background.lines())
    text = "\n".join(lines).lower()  # most literals are nowhere in it
    seen = {sign for _, sign in signs if sign.literal.lower() in text}
    often = {sign for sign in seen if sum(_is_in(sign, line) for line in lines) > FEW * len(lines)}
    frequent = {(kind, sign.literal) for kind, sign in signs if sign in often}
    structures = [parser for parser in ANCHORED if parser.found_by.structured]
    hits = Counter(parser.kind for parser in structures for line in lines if re.match(parser.anchor, line))
    frequent |= {(kind, _module(kind).STRUCTURE) for kind, count in hits.items() if count > FEW * len(lines)}
    reasons = {(parser.kind, text): reason for parser in ANCHORED for text, reason in _frequent(parser.kind)}
    assert sorted(frequent - reasons.keys()) == []
    assert sorted(reasons.keys() - frequent) == []
    assert all(reasons.values())
    assert len(reasons) <= MOST_FREQUENT


@pytest.mark.parametrize(
    ("pattern", "alternatives"),
    [
        ("a|b(?:c|d)", ["a", "b(?:c|d)"]),
        (r"[|\]]\||b[^]|]", [r"[|\]]\|", "b[^]|]"]),
        ("(?!)", []),
        ("", []),
    ],
)
def test_alternatives_of_a_pattern(pattern: str, alternatives: list[str]) -> None:
    assert branches(pattern) == alternatives


@pytest.mark.parametrize(
    ("anchor", "signs"),
    [
        (r"Switch: 0x", {Sign("Switch: 0x", at_start=True)}),
        (r"\s*CA '[^']+'$", {Sign("CA '")}),
        (r"(?:CA|Router): \S", {Sign("CA: ", at_start=True), Sign("Router: ", at_start=True)}),
        (r"[Dd]river \d{3}", {Sign("Driver ", at_start=True), Sign("driver ", at_start=True)}),
        (r"(?=.*bytes)\d+ of", {Sign("bytes")}),
        (r"\d+x(?i:Node)s", {Sign("node", any_case=True)}),
        (r"(?i)Node", {Sign("node", at_start=True, any_case=True)}),
        (r"a+bcd+", {Sign("abcd")}),
        (r"GPU\d+ ", {Sign(f"GPU{n}", at_start=True) for n in range(10)}),
        (r"x?yes |no way", {Sign("xyes ", at_start=True), Sign("yes ", at_start=True), Sign("no way", at_start=True)}),
        (r"\w+ (?:卡数|速度)", {Sign(" 卡数"), Sign(" 速度")}),
    ],
)
def test_signs_are_read_off_an_anchor(anchor: str, signs: set[Sign]) -> None:
    assert (set(found_by(anchor).signs), found_by(anchor).lacking) == (signs, ())


def test_declared_literals_come_first() -> None:
    anchor = r"\w+ port \w (?:==> |<===> )"
    assert set(found_by(anchor, ["==> "]).signs) == {Sign("==> ")}
    assert set(found_by(anchor, ["elsewhere"]).signs) == {Sign(" port ")}


@pytest.mark.parametrize("anchor", [r"\d+: \w", "abc", r"(?:abcd|x)\d", r" {9}\w", r"abcd|\d+:", r"(?:abcd)?\d"])
def test_what_lacks_both_is_known(anchor: str) -> None:
    assert found_by(anchor).lacking == (branches(anchor)[-1],)


def test_a_structure_is_known_by_its_first_characters() -> None:
    assert found_by(r"abcd|\d+: \w", structure="0").structured == ((r"\d+: \w", frozenset("0")),)
    assert found_by(r"\d+:|x\d", structure="0").lacking == (r"x\d",)
    assert found_by(r"\W\d", structure="0").lacking == (r"\W\d",)


class _Counted:
    """A pattern that counts how often it is tried."""

    def __init__(self, pattern: re.Pattern[str], tried: list[str]) -> None:
        self._pattern, self._tried = pattern, tried

    def match(self, line: str) -> re.Match[str] | None:
        self._tried.append(line)
        return self._pattern.match(line)


def test_few_anchors_are_tried_for_ordinary_text(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds, tried = Kinds(ANCHORED), list[str]()
    monkeypatch.setattr(kinds, "_patterns", [_Counted(pattern, tried) for pattern in kinds._patterns])
    lines = list(background.lines())
    begun = [line for line in lines if kinds.of_line(line) is not None]
    assert len(tried) <= TRIED * len(lines)
    assert len(begun) < len(tried)


def test_alternatives_with_a_sign_are_not_tried_by_structure() -> None:
    kinds = Kinds(ANCHORED)
    tried = {letter: kinds._beginning_as(letter).any_structured.pattern for letter in "d0|[ "}
    assert "Driver Version" not in tried["|"]
    assert all("SrcValid" not in pattern for pattern in tried.values())
    assert sum(map(len, tried.values())) * 4 < sum(len(parser.anchor) for parser in ANCHORED)


def test_a_number_that_decides_is_found_by_the_signs_beside_it() -> None:
    kinds = Kinds(ANCHORED)
    lines = {line for path in FIXTURES.rglob("*.txt") for text in read(path) for line in text.split("\n")}
    other = {re.sub(r"\d+", "7654321", line) for line in lines if kinds.of_line(line) is not None}
    opened = {line for line in other if any(pattern.match(line) for pattern in kinds._opened)}
    assert [line for line in opened if not kinds.may_depend_on_numbers(line)] == []
    assert len(opened) > 20
