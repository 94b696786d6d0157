"""Which lines and patterns are tried in the search for secrets: few, and never fewer than needed."""

from __future__ import annotations

from typing import Any

import pytest
from planted import planted

from ncdiag.formats.secrets import signed
from ncdiag.formats.secrets.hiding import Hiding
from ncdiag.formats.secrets.remover import Secrets
from ncdiag.formats.secrets.signed import Signed

LINES = 500
SEARCHED = 20
"""Lines of one shape that are searched at most."""


def searched(monkeypatch: pytest.MonkeyPatch, lines: list[str]) -> int:
    count = 0
    one = Secrets._one

    def counted(secrets: Secrets, line: str) -> Any:  # noqa: ANN401
        nonlocal count
        count += 1
        return one(secrets, line)

    monkeypatch.setattr(Secrets, "_one", counted)
    Hiding(lines)
    return count


def test_lines_that_differ_in_digits_are_searched_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"tokens per second: {1000 + number}, keys {100 + number}" for number in range(LINES)]
    assert 0 < searched(monkeypatch, lines) <= SEARCHED


def test_a_secret_among_such_lines_is_hidden() -> None:
    lines = [f"tokens per second: {1000 + number}" for number in range(LINES)]
    values = [f"q{number}zK{number}wTr" for number in range(1000, 1000 + LINES)]
    hiding = Hiding([*lines, *(f"password: {value}" for value in values), *lines])
    assert not any(value in hiding.text(f"password: {value}") for value in values)


def test_a_value_above_its_name_is_hidden_in_each_of_many() -> None:
    values = [f"q{number}zK{number}wTr" for number in range(1000, 1000 + LINES)]
    pairs = [line for value in values for line in (f"- value: {value}", "  name: AUTH_TOKEN")]
    hidden = Hiding(pairs).lines(pairs)
    assert not any(value in line for value, line in zip(values, hidden[::2], strict=True))


def test_a_pattern_without_a_literal_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signed, "_ALL", [])
    pattern = Signed(r"\w+=\d+")
    with pytest.raises(ValueError, match="no literal"):
        assert pattern.signs


def test_the_literals_of_patterns_are_not_derived_at_each_start(monkeypatch: pytest.MonkeyPatch) -> None:
    derived: list[str] = []
    monkeypatch.setattr(signed, "needed", derived.append)
    kept = signed._derived()
    for each in signed._ALL:
        each.__dict__.pop("signs", None)
        assert each.signs == (each.declared or frozenset(kept[each.pattern]))
    assert not derived


def test_a_signed_pattern_finds_what_it_finds_without_its_signs() -> None:
    texts = [line for _, text, _ in planted() for line in text.split("\n")]
    tried = 0
    for each in signed._ALL:
        for text in texts:
            found = [match.span() for match in each._pattern.finditer(text)]
            tried += bool(found)
            assert [match.span() for match in each.finditer(text)] == found, (each._pattern.pattern, text)
    assert tried >= len(signed._ALL)
