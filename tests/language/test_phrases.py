"""The phrases of the program: none is lost, none is for what the program does not say any more."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ncdiag.language import counted, lead_in, phrase, say, speaking, table, tidy

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLES = {"_BOUNDS", "_HEADINGS", "_MEANINGS", "_STATES", "_VERBS", "_WORDS", "MEANINGS"}
"""Tables of words in modules that draw."""
CALLS = {"say", "lead_in", "counted"}
HOLE = re.compile(r"\{\w*\}")
JOINTS = re.compile(
    r"\b(?:on|of|with|to|over|risk|for|against|and waits?|holds?|number|which it|is|are|were|dumps?|"
    r"from|in|and|several|both|all|called|say|waits|by|do|stands|reach)\b|[(),:]| as before"
)
"""Where the program puts sentences together."""
WIDE = re.compile(r"[\u3400-\u9fff]")


def trees(project: Path, naming: str = "") -> Iterator[ast.AST]:
    """The modules of the package that have this word in their text."""
    for path in sorted((project / "ncdiag").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if naming in text:
            yield ast.parse(text)


def literals(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)


def said(tree: ast.AST) -> Iterator[str]:
    """The templates that the calls of a module name; `say` of the commands is another function."""
    imported = {
        alias.name
        for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "ncdiag.language"
        for alias in node.names
    }  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (name := called(node, imported)) in CALLS:
            for text in literals(node.args[-1 if name == "counted" else 0]):
                yield f"{{n}} {text}" if name == "counted" else text


def called(node: ast.Call, imported: set[str]) -> str:
    """The name of a function that was imported, or of one of the module ``language``."""
    function = node.func
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "language":
        return function.attr
    return function.id if isinstance(function, ast.Name) and function.id in imported else ""


def strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)


@pytest.fixture(scope="module")
def source(project: Path) -> str:
    """All texts of the program, its tables and its rules."""
    found = [
        node.value
        for tree in trees(project) for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]  # fmt: skip
    tables = [path for path in (project / "ncdiag").rglob("*.toml") if "language" not in path.parts]
    for path in tables:
        found += strings(tomllib.loads(path.read_text(encoding="utf-8")))
    rules = (
        path.read_text(encoding="utf-8").partition("\n[text.zh]")[0] for path in (project / "rules").rglob("*.toml")
    )
    found += [" ".join(text.split()) for text in rules]
    return "\0".join(found)


def test_every_sentence_of_the_program_is_translated(project: Path) -> None:
    chinese = table.build("zh")
    assert (
        sorted({text for tree in trees(project, "language") for text in said(tree) if chinese.exactly(text) is None})
        == []
    )


def drawn(tree: ast.Module) -> Iterator[str]:
    """The words in the tables of a module: values of dictionaries, and what has a blank in tuples."""
    for node in tree.body:
        names = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(name, ast.Name) and name.id in TABLES for name in names):
            assert isinstance(node, ast.Assign | ast.AnnAssign)
            assert node.value is not None
            if isinstance(node.value, ast.Dict):
                yield from filter(None, (text for value in node.value.values for text in literals(value)))
            else:
                texts = (text for each in ast.walk(node.value) if isinstance(each, ast.expr) for text in literals(each))
                yield from (text for text in texts if " " in text)


def test_every_word_of_a_picture_is_translated(project: Path) -> None:
    folder = project / "ncdiag" / "report"
    parts = [path for name in ("html", "probing", "topology") for path in sorted((folder / name).rglob("*.py"))]
    words = [text for path in parts for text in drawn(ast.parse(path.read_text(encoding="utf-8")))]
    assert {"failed", "setup completed", "measured by link tests", "{gpu} uses {nics}.", "connects"} <= set(words)
    chinese = table.build("zh")
    assert {text for text in words if chinese.exactly(text) is None} == {"GPUDirect RDMA"}  # which stays


@pytest.mark.long
def test_every_phrase_is_one_that_the_program_says(source: str) -> None:
    known = {part.removesuffix(".") for text in source.split("\0") for part in table.sentences(text)}
    lost = []
    for template, _, _ in table.entries("zh"):
        if template in known:
            continue
        pieces = [part.strip() for piece in HOLE.split(template) for part in JOINTS.split(piece)]
        lost += [f"{template}: {piece}" for piece in pieces if piece not in source]
    assert lost == []


def test_phrases_are_in_chinese_and_punctuated_so() -> None:
    half = re.compile(rf"{WIDE.pattern} ?[,;:?!]|[,;!?] ?{WIDE.pattern}|\({WIDE.pattern}|{WIDE.pattern}\)")
    wrong = [(template, text) for template, text, _ in table.entries("zh") if half.search(HOLE.sub("", text))]
    assert wrong == []


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("the job is on one host", "作业只在一台主机上"),
        ("all 3 ports are active on n[1-2]", "n[1-2] 上全部 3 个端口都是 active"),
        ("eno1 on n1", "n1 上的 eno1"),
        ("NCCL 2.8.0 to 2.23.4", "NCCL 2.8.0 至 2.23.4"),
        (
            "n1's interfaces were not seen; the job is on one host: paste `ip addr` (on n1)",
            "没有看到 n1 的接口；作业只在一台主机上：请粘贴 `ip addr`（在 n1 上）",
        ),
        ("GPU0 and GPU1", "GPU0 和 GPU1"),
        ("AWS Libfabric (n1), no plugin (n2)", "AWS Libfabric (n1)，没有插件（n2）"),
        ("AllReduce: rank 3 at 100, 31 ranks at 99", "AllReduce：rank 3 为 100，31 个 rank 为 99"),
        ("/bin/sh: 1: torchrun: not found", "/bin/sh: 1: torchrun: not found"),
        ("failed for device minor number 5", "failed for device minor number 5"),
        ("out of memory", "out of memory"),
        ("Job completed", "Job completed"),
        ("Failed to connect (111)", "Failed to connect (111)"),
        ("a, b (uid 1); c", "a, b (uid 1); c"),
        ("rank 5 says nothing at all (a; b); no answer", "rank 5 says nothing at all (a; b)；没有应答"),
        ("Environment: it should be 120 to 7200.", "Environment: it should be 120 to 7200."),
        ("it is not synchronised to a reference", "it is not synchronised to a reference"),
        ("all of 3 ports are active", "all of 3 ports are active"),
        ("unknown", "unknown"),
        ("a " * 600 + "job is on one host", "a " * 600 + "job is on one host"),
    ],
)
def test_phrases_of_facts(english: str, chinese: str) -> None:
    with speaking("zh"):
        assert phrase(english) == chinese
    assert phrase(english) == english


def test_sentences_and_numbers() -> None:
    assert (say("and {n} more", n=3), counted(1, "line"), counted(2, "line")) == ("and 3 more", "1 line", "2 lines")
    with speaking("zh"):
        assert (say("and {n} more", n=3), counted(1, "line"), lead_in("Fix")) == ("另有 3 个", "1 行", "修复：")
        assert (say("what nobody translated {n}", n=1), counted(2, "mouse")) == ("what nobody translated 1", "2 mouses")
        assert tidy("需要GID 表 和 HCA，共2 个") == "需要 GID 表和 HCA，共 2 个"
        with speaking("en"):
            assert lead_in("Fix") == "Fix: "
        assert lead_in("Fix") == "修复："
    assert lead_in("Fix") == "Fix: "


def test_a_language_that_is_not_there_is_english() -> None:
    with speaking("xx"):
        assert lead_in("Fix") == "Fix: "
