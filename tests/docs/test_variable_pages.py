"""The page of each variable: links lead somewhere, and what ``explain`` knows is on it."""

from __future__ import annotations

import re
from pathlib import Path

from ncdiag import catalogue
from ncdiag.apps.explaining import variable_pages
from ncdiag.nccl import environment

PAGES = variable_pages.texts(catalogue.rules(()))


def test_every_variable_has_a_page_in_the_index() -> None:
    assert set(PAGES) == {f"{name}.md" for name in environment.variables()} | {"README.md"}
    assert set(re.findall(r"\| \[(\w+)\]\(\1\.md\)", PAGES["README.md"])) == set(environment.variables())


def test_links_lead_to_pages(project: Path) -> None:
    rules = {path.name for path in (project / "docs" / "rules").glob("*.md")}
    for text in PAGES.values():
        for target in re.findall(r"\]\(([^)]+)\)", text):
            folder, _, name = target.rpartition("/")
            assert name in (rules if folder else PAGES), target


def test_a_page_says_what_explain_says_and_which_rules_name_it() -> None:
    page = PAGES["NCCL_IB_GID_INDEX.md"]
    assert "| default | 0 (at first), -1 (2.21 and later) |" in page
    assert "[NCCL_IB_ADDR_FAMILY](NCCL_IB_ADDR_FAMILY.md)" in page
    assert "- [NCD301 roce-gid-wrong](../rules/NCD301.md): " in page


def test_cells_hold_no_bars() -> None:
    for text in PAGES.values():
        for row in re.findall(r"(?m)^\|.*$", text):
            assert len(re.findall(r"(?<!\\)\|", row)) == 3, row
