"""The README shows what the program really prints; ``pytest --update`` brings it up to date."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., subprocess.CompletedProcess[bytes]]
BLOCK = re.compile(r"(<!-- output of: ncdiag (.+?) -->\n```text\n)(.*?)(```\n<!-- end -->)", re.DOTALL)


def test_the_example_is_what_the_program_prints(
    ncdiag: Run, project: Path, expect: Callable[[Path, str], None]
) -> None:
    readme = project / "README.md"
    text = readme.read_text(encoding="utf-8")

    def printed(block: re.Match[str]) -> str:
        done = ncdiag(*block[2].split(), cwd=project, env={"COLUMNS": "80"})
        return block[1] + done.stdout.decode() + block[4]

    fresh, count = BLOCK.subn(printed, text)
    assert count == 1
    expect(readme, fresh)


def test_every_command_is_in_the_readme(project: Path) -> None:
    from ncdiag.cli import command_names

    text = (project / "README.md").read_text(encoding="utf-8")
    assert [name for name in command_names() if f"`ncdiag {name}" not in text] == []
