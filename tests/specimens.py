"""Specimens of tools: ``fixtures/sections/<kind>/*.txt``, what is read from each in a ``.json`` beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import strategies as st
from linear import assert_linear_time

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, not_declared
from ncdiag.parsers import discover
from ncdiag.text.sections.cut import Cutter

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "sections"
_POSITION = {"text", "order"}
"""Fields of events that repeat the line and its place."""


def any_line(longest: int) -> st.SearchStrategy[str]:
    """Any text that can be a line of a section: without the end of a line in it, which `Section` promises."""
    return st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=longest)


def specimens(*kinds: str) -> list[Any]:
    """A parameter for each specimen of the kinds."""
    paths = (path for kind in kinds for path in sorted((FIXTURES / kind).glob("*.txt")))
    return [pytest.param(path, id=f"{path.parent.name}/{path.stem}") for path in paths]


def lines_of(*kinds: str) -> list[str]:
    """All lines that stand in specimens of the kinds, each once."""
    return sorted({line for kind in kinds for path in (FIXTURES / kind).glob("*.txt") for line in read(path)})


def read(path: Path) -> list[str]:
    """The lines of a file."""
    return path.read_text(encoding="utf-8").split("\n")


def sections(lines: list[str]) -> list[Section]:
    """The lines, cut as a paste."""
    cutter = Cutter("case.txt", discover())
    cutter.feed(enumerate(lines, 1))
    return cutter.finish()


def parsed(section: Section) -> Parsed:
    """What its parser reads in a section; a FieldError for a field or a type of facts that does not exist."""
    found = discover()[section.kind].parse(section)
    not_declared(found.observations)
    return found


def observed(path: Path, *kinds: str) -> list[Observation]:
    """What is observed in the file's sections of these kinds; of all kinds when none is named."""
    found = [section for section in sections(read(path)) if not kinds or section.kind in kinds]
    return [observation for section in found for observation in parsed(section).observations]


def shown(path: Path) -> str:
    """What is read from a specimen, as JSON with a section's head or an observation a line."""
    kind = path.parent.name
    found = sections(read(path))
    rows = [row for section in found for row in _rows(section, whole=kind == "text" or section.kind != "text")]
    return "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n"


def _rows(section: Section, *, whole: bool) -> Iterator[dict[str, Any]]:
    head: dict[str, Any] = {"kind": section.kind, "lines": [section.first_line, section.last_line]}
    if not whole:  # what stands around the output
        yield head
        return
    result = parsed(section)
    head |= {"host": section.host, "command": section.command, "complete": result.complete}
    yield head | {"unread": [section.number(index) for index in result.unread]}
    for o in result.observations:
        row: dict[str, Any] = {"line": o.span.line, "entity": o.entity, "key": o.key}
        row |= {"host": o.host} if o.host != section.host else {}
        fields = {name: value for name, value in o.fields.items() if name not in _POSITION}
        yield row | {"fields": msgspec.to_builtins(fields)}


def assert_reads_in_linear_time(kind: str, start: str, piece: str) -> None:
    """Fail unless the parser reads a long line, the piece again and again, in linear time."""
    parser = discover()[kind]

    def read_lines(lines: tuple[str, ...]) -> None:
        parser.continues(lines[:1], lines[0])
        parser.continues(lines, lines[0])
        parser.parse(Section(kind=kind, source="x", first_line=1, lines=lines))

    assert_linear_time(read_lines, lambda size: (start + piece * size + "\x00", "next"), 8192 // len(piece))
