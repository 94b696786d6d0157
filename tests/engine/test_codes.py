"""Codes of rules that somebody is writing: placeholders that load, and numbers that are assigned at the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ncdiag import catalogue
from ncdiag.base.errors import UsageError
from ncdiag.engine.codes import code_of, next_code, number
from ncdiag.engine.load import load_folder, rule_files
from ncdiag.engine.new_rule import write_shipped
from ncdiag.engine.quality import problems
from ncdiag.text.reading.job import facts_of


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "areas.toml").write_text("socket = 55\nenv = 40\n")
    for name in ("second-fault", "first-fault"):
        write_shipped(tmp_path, "socket", name, "NCD", catalogue.rules())
    return tmp_path


def test_rules_without_a_number_do_not_clash(folder: Path) -> None:
    assert [rule.code for rule in load_folder(folder, catalogue.names())] == ["NCD-first-fault", "NCD-second-fault"]
    assert all('code = "NCD???"' in path.read_text() for path in rule_files(folder))


def test_numbers_follow_those_that_are_taken(folder: Path) -> None:
    kept = rule_files(folder)[0].read_text()
    first, second = rule_files(folder)
    assert number(rule_files(folder), {"NCD101", "NCD1207", "SITE999"}) == [("NCD1208", first), ("NCD1209", second)]
    assert [rule.code for rule in load_folder(folder, catalogue.names())] == ["NCD1208", "NCD1209"]
    assert first.read_text() == kept.replace("NCD???", "NCD1208"), "nothing else is changed"
    assert number(rule_files(folder), {"NCD1208", "NCD1209"}) == []


def test_codes() -> None:
    assert (code_of("NCD101", "x"), code_of("NCD???", "x")) == ("NCD101", "NCD-x")
    assert (next_code("NCD", []), next_code("NCD", ["NCD099", "SITE400", "NCD-x"])) == ("NCD001", "NCD100")


def test_a_shipped_rule_is_complete(folder: Path) -> None:
    """With a suspect, two signs and what it asks for; its examples are beside it and pass."""
    rule = load_folder(folder, catalogue.names())[0]
    assert problems([rule], facts_of, book=catalogue.rules()) == []
    assert rule.suspect is not None
    assert [bool(sign.example) for sign in rule.signs] == [True, True]
    assert rule.asks
    assert "[[example]]" not in rule_files(folder)[0].read_text()


def test_a_shipped_rule_is_in_an_area_that_exists(folder: Path) -> None:
    with pytest.raises(UsageError, match="there is no area 'sockets'; --area may be env, socket"):
        write_shipped(folder, "sockets", "third-fault", "NCD", catalogue.rules())


def test_the_command_numbers_a_pack(tmp_path: Path, ncdiag: Callable[..., object]) -> None:
    ncdiag("rules", "new", "our-net", "--in", str(tmp_path))
    (path,) = rule_files(tmp_path)
    path.write_text(path.read_text().replace("SITE001", "SITE???"))
    done = ncdiag("rules", "number", "--in", str(tmp_path))
    assert getattr(done, "stdout", b"").decode() == f"SITE001 {path}\n"
    assert 'code = "SITE001"' in path.read_text()
