"""Parsers are found by folder, described without being imported, and refused when they cannot work."""

from __future__ import annotations

import importlib
import re
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from ncdiag import parsers
from ncdiag.base.errors import DefinitionError
from ncdiag.base.spans import Section

GOOD = {"KIND": "gadget", "COMMANDS": (), "ANCHOR": r"Gadget \d", "continues": print, "parse": print}


Describe = Callable[..., parsers.Parser]


@pytest.fixture
def described(monkeypatch: pytest.MonkeyPatch) -> Describe:
    """``described(field=...)``: the parser that a module with these fields makes."""

    def describe(**fields: object) -> parsers.Parser:
        held = {name: value for name, value in {**GOOD, **fields}.items() if value is not None}
        monkeypatch.setattr(parsers, "_module", lambda _: SimpleNamespace(**held))
        return parsers._described("gadget")

    return describe


def test_what_is_kept_is_what_the_modules_say() -> None:
    for kind, parser in parsers.discover().items():
        module = importlib.import_module(f"ncdiag.parsers.{kind}")
        assert (parser.kind, tuple(parser.commands), parser.anchor) == (
            module.KIND,
            tuple(module.COMMANDS),
            module.ANCHOR,
        )
        assert parser.interleaved == getattr(module, "INTERLEAVED", False)


def test_a_command_announces_one_kind() -> None:
    commands = Counter(command for parser in parsers.discover().values() for command in parser.commands)
    assert [command for command, count in commands.items() if count > 1] == []


def test_a_parser_does_what_its_module_does() -> None:
    from ncdiag.parsers import ibstatus

    lines = ("Infiniband device 'mlx5_7' port 1 status:", "\tstate:\t\t 4: ACTIVE")
    section = Section(kind="ibstatus", source="x", first_line=1, lines=lines)
    parser = parsers.discover()["ibstatus"]
    assert parser.parse(section) == ibstatus.parse(section)
    for line in (lines[1], "something else"):
        assert parser.continues(lines[:1], line) == ibstatus.continues(lines[:1], line)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"parse": None, "KIND": None}, "lacks KIND, parse"),
        ({"KIND": "widget"}, "has KIND 'widget'"),
        ({"ANCHOR": r"Gadget (\d)"}, "capturing group"),
        ({"ANCHOR": r"Gadget (\d"}, "not a regular expression"),
    ],
)
def test_a_module_that_is_no_parser_is_refused(described: Describe, fields: dict[str, object], reason: str) -> None:
    assert described().anchor == GOOD["ANCHOR"]
    with pytest.raises(DefinitionError, match=re.escape(reason)):
        described(**fields)
