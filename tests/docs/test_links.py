"""Links in what people read as files lead to files of the repository, and codes to rules."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from ncdiag import catalogue

LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)\s#]+)")
FENCED = re.compile(r"(?ms)^ *(`{3,})[^\n]*\n.*?^ *\1$")


@pytest.fixture(scope="module")
def texts(project: Path) -> dict[Path, str]:
    """The text of each page that is written by hand, without the blocks of code."""
    pages = [*project.glob("*.md"), *(project / "docs").rglob("*.md"), *(project / "contrib").rglob("*.md")]
    return {page: FENCED.sub("", page.read_text(encoding="utf-8")) for page in pages}


@pytest.fixture(scope="module")
def kept(project: Path) -> set[Path]:
    """The files that git has, or would take, and their folders; all files where the tree is not a repository."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=project, capture_output=True, text=True, check=False
    )
    files = {path for path in map(project.joinpath, listed.stdout.splitlines()) if path.is_file()}
    files = files or {path for path in project.rglob("*") if path.is_file()}
    return files | {folder for path in files for folder in path.parents}


def test_every_link_leads_to_a_file_that_git_has(texts: dict[Path, str], kept: set[Path]) -> None:
    links = [(page, target) for page, text in texts.items() for target in LINK.findall(text)]
    assert len(links) > 100
    assert [(page.name, to) for page, to in links if (page.parent / to).resolve() not in kept] == []


def test_every_code_is_that_of_a_rule(texts: dict[Path, str]) -> None:
    codes = {rule.code for rule in catalogue.rules()}
    named = [(page.name, code) for page, text in texts.items() for code in re.findall(r"`(NCD\d+)`", text)]
    assert len(named) > 100
    assert [(page, code) for page, code in named if code not in codes] == []


def test_no_generated_page_is_among_them(project: Path, kept: set[Path]) -> None:
    generated = [project / "docs" / name for name in ("rules", "variables", "facts.md", "ncdiag.1")]
    assert [path for path in generated if path in kept] == []
