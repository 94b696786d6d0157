"""What is said of variables: each text of the table has its translation, and none is for a text that is not there."""

from __future__ import annotations

import re
import sys

import pytest

from ncdiag.cli import main
from ncdiag.engine.translation_quality import names
from ncdiag.language import phrase, speaking, table
from ncdiag.nccl import environment

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILES = ("variables-meaning.toml", "variables-neighbours.toml")
FIELDS = ("means", "unset", "effect", "agree_why", "empty", "accepts")
WORDS = {"NIC", "NICs", "send/receive"}
"""Words that look like names and are translated, or said as send/recv."""
JOINED = re.compile(r"-[a-z]+\Z")
"""The second part of a name and a word: ``IPv4-only``."""


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    held: dict[str, str] = {}
    for file in FILES:
        held |= tomllib.loads((table.FOLDER / "zh" / file).read_text(encoding="utf-8"))
    return held


def texts() -> dict[str, str]:
    """Every text that people read of a variable, and the library that reads the variable."""
    found: dict[str, str] = {}
    for known in environment.variables().values():
        for text in filter(None, (getattr(known, field) for field in FIELDS)):
            found.setdefault(text, known.owner)
    return found


def test_every_meaning_is_translated() -> None:
    chinese = table.build("zh")
    known = environment.variables().values()
    needed = [getattr(one, field) or "" for one in known for field in ("means", "effect", "agree_why", "empty")]
    assert [text for text in needed if " " in text and chinese.exactly(text) is None] == []


def test_a_change_of_the_english_is_noticed(said: dict[str, str]) -> None:
    there = texts()
    assert sorted(text for text in said if text not in there) == []


def test_names_and_numbers_stay(said: dict[str, str]) -> None:
    lost = {
        text: missing
        for text, chinese in said.items()
        if (missing := [name for name in names(text) if name not in WORDS and JOINED.sub("", name) not in chinese])
    }
    assert lost == {}


def test_a_meaning_ends_as_in_english(said: dict[str, str]) -> None:
    wrong = [text for text, chinese in said.items() if text.endswith(".") != chinese.endswith("。")]
    assert wrong == []


def test_explain_says_all_of_a_variable(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "NCCL_IB_GID_INDEX=3", "--nccl", "2.18.3", "--lang", "zh"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[:2] == ["NCCL_IB_GID_INDEX（变量）", "  RoCE 使用的 GID 表项。"]
    assert "  在此版本中：读取" in lines
    assert "  各版本的默认值：0（最初），-1（2.21 及更高版本）" in lines
    assert "  一致性：各 rank 的值可以不同" in lines
    assert "  该值：读作 3" in lines


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("since 2.18, removed in 2.24", "从 2.18 起，2.24 中删除"),
        ("an empty value names no algorithm: all are switched off (<2.24)", "没有指定算法：全部关闭（<2.24）"),
        (
            "NCCL has no such variable (missing IB); setting it has no effect.",
            "NCCL 没有这个变量（缺少 IB）；设置它没有作用。",
        ),
    ],
)
def test_phrases_of_a_page(english: str, chinese: str) -> None:
    with speaking("zh"):
        assert phrase(english) == chinese
    assert phrase(english) == english
