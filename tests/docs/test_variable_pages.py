"""The page of each variable: links lead somewhere, and what ``explain`` knows is on it."""

from __future__ import annotations

import re

from ncdiag.nccl import environment

Pages = dict[str, str]


def test_every_variable_has_a_page_in_the_index(pages_of_variables: Pages) -> None:
    assert set(pages_of_variables) == {f"{name}.md" for name in environment.variables()} | {"README.md"}
    listed = set(re.findall(r"\| \[(\w+)\]\(\1\.md\)", pages_of_variables["README.md"]))
    assert listed == set(environment.variables())


def test_links_lead_to_pages(pages_of_variables: Pages, pages_of_rules: Pages) -> None:
    for text in pages_of_variables.values():
        for target in re.findall(r"\]\(([^)]+)\)", text):
            folder, _, name = target.rpartition("/")
            assert name in (pages_of_rules if folder else pages_of_variables), target


def test_a_page_says_what_explain_says_and_which_rules_name_it(pages_of_variables: Pages) -> None:
    page = pages_of_variables["NCCL_IB_GID_INDEX.md"]
    assert "| default | 0 (at first), -1 (2.21 and later) |" in page
    assert "[NCCL_IB_ADDR_FAMILY](NCCL_IB_ADDR_FAMILY.md)" in page
    assert "- [NCD301 roce-gid-wrong](../rules/NCD301.md): " in page


def test_cells_hold_no_bars(pages_of_variables: Pages) -> None:
    for text in pages_of_variables.values():
        for row in re.findall(r"(?m)^\|.*$", text):
            assert len(re.findall(r"(?<!\\)\|", row)) == 3, row
