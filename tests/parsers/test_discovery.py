"""Parsers are found by folder, described without being imported, and refused when they cannot work."""

from __future__ import annotations

import importlib
import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ncdiag import parsers
from ncdiag.base.errors import DefinitionError
from ncdiag.base.spans import Section
from ncdiag.formats.literals import Found, Sign
from ncdiag.text.sections.cut import Cutter

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


def test_what_an_anchor_lacks_may_be_a_structure(described: Describe) -> None:
    parser = described(ANCHOR=r"Gadget \d|\d+: [a-z]", STRUCTURE="0", SIGNS=("Gadg",))
    assert parser.found_by == Found((Sign("Gadg", at_start=True),), ((r"\d+: [a-z]", frozenset("0")),))


def test_a_parser_does_what_its_module_does() -> None:
    """Functions of the module take precedence over its rows."""
    from ncdiag.parsers import dmi, ibstatus

    readers: dict[str, Any] = {"ibstatus": ibstatus.ROWS, "dmi": dmi}
    lines = ("Infiniband device 'mlx5_7' port 1 status:", "\tstate:\t\t 4: ACTIVE")
    for kind, reader in readers.items():
        section = Section(kind=kind, source="x", first_line=1, lines=lines)
        parser = parsers.discover()[kind]
        assert parser.parse(section) == reader.parse(section)
        for line in (lines[1], "something else"):
            assert parser.continues(lines[:1], line) == reader.continues(lines[:1], line)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"parse": None, "KIND": None}, "lacks KIND, parse"),
        ({"ROWS": object(), "continues": None, "parse": None, "ANCHOR": None}, "lacks ANCHOR"),
        ({"KIND": "widget"}, "has KIND 'widget'"),
        ({"ANCHOR": r"Gadget (\d)"}, "capturing group"),
        ({"ANCHOR": r"Gadget (\d"}, "not a regular expression"),
        ({"ANCHOR": r"Gadget|\d+: [a-z]"}, r"neither SIGNS nor STRUCTURE finds '\\d+: [a-z]'"),
    ],
)
def test_a_module_that_is_no_parser_is_refused(described: Describe, fields: dict[str, object], reason: str) -> None:
    assert described().anchor == GOOD["ANCHOR"]
    with pytest.raises(DefinitionError, match=re.escape(reason)):
        described(**fields)


def test_a_module_is_all_that_a_parser_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The recipe: a copy of the template is found, described, cut and read without a word elsewhere."""
    known = parsers.discover().keys()
    source = Path(parsers.__file__).with_name("_template.py").read_text(encoding="utf-8")
    (tmp_path / "gadget.py").write_text(source.replace("emplate", "adget").replace("Tadget", "Gadget").replace(
        "tadget", "gadget"), encoding="utf-8")  # fmt: skip
    monkeypatch.setattr(parsers, "__path__", [*parsers.__path__, str(tmp_path)])
    found = {parser.kind: parser for parser in parsers.build()}
    assert found.keys() - known == {"gadget"}
    lines = ["$ gadget-tool", "---", "Gadget 'a'", "", "  used by 3", "Gadget 'b'", "  used by 0", "the end"]
    cutter = Cutter("x", found)
    cutter.feed(enumerate(lines, 1))
    section = cutter.finish()[0]
    result = found["gadget"].parse(section)
    assert (section.kind, section.first_line, section.last_line, result.complete) == ("gadget", 2, 7, True)
    assert [(o.key, o.fields) for o in result.observations] == [(("a",), {"used_by": 3}), (("b",), {"used_by": 0})]
    monkeypatch.delitem(sys.modules, "ncdiag.parsers.gadget")
    parsers._module.cache_clear()
    parsers._reader.cache_clear()
