"""docs/plug-in.md: it names the formats and files that there are."""

from __future__ import annotations

import re
from pathlib import Path

import command_lines

from ncdiag.report import FOR_PEOPLE, formats

PAGE = Path(__file__).resolve().parents[2] / "docs" / "plug-in.md"
TEXT = PAGE.read_text(encoding="utf-8")
LINES = [words for block in re.findall(r"(?s)```console\n(.*?)```", TEXT) for words in command_lines.written_in(block)]


def test_the_page_has_commands_and_all_formats() -> None:
    assert len(LINES) >= 8
    rows = re.findall(r"(?m)^\| `(\w+)` \|", TEXT)
    assert set(rows) == set(formats()) - FOR_PEOPLE
    assert all(any(name in words for words in LINES) for name in rows)


def test_the_files_that_it_names_are_there(project: Path) -> None:
    for name in re.findall(r"`([\w/-]+\.(?:sh|yaml|json|yml))`", TEXT):
        assert [*(project / "contrib").rglob(Path(name).name)], name
