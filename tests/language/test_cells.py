"""Lines with wide characters fit on the columns of a terminal."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from ncdiag import triage
from ncdiag.diagnose import Options
from ncdiag.language import cells, speaking
from ncdiag.report import renderer

CASES = ["veth", "roce-gid-3-new", "shm-64m", "memlock-64k", "gdr-far", "ranks-missing"]


def test_widths() -> None:
    assert (cells.width("abc"), cells.width("网卡 a"), cells.width("e\u0301"), cells.width("“x”")) == (3, 6, 1, 3)
    assert (cells.pad("网", 4), cells.pad("long", 2)) == ("网  ", "long")
    assert [cells.fit("网卡ab", columns) for columns in (0, 1, 2, 4, 5, 9)] == [0, 0, 1, 2, 3, 4]
    assert [cells.fit("abc", columns) for columns in (-1, 2, 9)] == [0, 2, 3]


def test_text_without_wide_characters_is_wrapped_as_ever() -> None:
    text = "It waits for élan in the first collective-operation of rank 0 and others " * 3
    expected = textwrap.wrap(text, 30, initial_indent="- ", subsequent_indent="  ")
    assert cells.wrap(text, 30, "- ", "  ") == expected


def test_lines_part_beside_wide_characters_and_not_before_a_stop() -> None:
    text = "有 rank 缺失，NCCL_SOCKET_IFNAME 指定了接口（见日志）。" * 6
    for columns in range(24, 60):
        lines = cells.wrap(text, columns, "  ", "    ")
        assert max(map(cells.width, lines)) <= columns
        assert not [line for line in lines if line.strip()[0] in "，。）" or line[-1] == "（"]
        assert "".join("".join(lines).split()) == "".join(text.split())
        assert not [line for line in lines if line.endswith("NCCL_SOCKET")]


def test_a_word_that_is_wider_than_the_line_is_cut() -> None:
    lines = cells.wrap("路径 " + "x" * 50, 20, "", "  ")
    assert max(map(cells.width, lines)) <= 20
    assert "".join("".join(lines).split()) == "路径" + "x" * 50


@pytest.mark.parametrize("name", CASES)
def test_reports_fit_and_are_in_chinese(name: str, project: Path) -> None:
    """What is left of English are quoted lines, names and lines to paste."""
    folder = project / "fixtures" / "cases" / name
    report = triage([path for path in folder.iterdir() if path.name != "case.toml"], Options(language="zh"))
    pasted = {line for found in report.findings for fix in found.fixes for line in fix.commands.values()}
    verbatim = {line.strip() for text in pasted for line in text.split("\n")}
    with speaking("zh"):
        screen, whole = (renderer("text")(report, width=80, detail=detail) for detail in ("screen", "whole"))
    for line in (screen + whole).splitlines():
        quoted = any(line.endswith(text) for text in verbatim if text) or "参见" in line
        assert cells.width(line) <= 80 or quoted, line
    assert sum(max(1, -(-cells.width(line) // 80)) for line in screen.splitlines()) < 24
    for line in screen.splitlines():
        words = line.strip()
        if words and not words.startswith("|") and words not in verbatim and " " in words and "/" not in words:
            assert any(map(cells.is_wide, words)), line
