"""The README names every command; `tests/docs` runs what it shows."""

from __future__ import annotations

from pathlib import Path


def test_every_command_is_in_the_readme(project: Path) -> None:
    from ncdiag.cli import command_names

    text = (project / "README.md").read_text(encoding="utf-8")
    assert [name for name in command_names() if f"`ncdiag {name}" not in text] == []
