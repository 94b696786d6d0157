"""Every command that answers people answers in Chinese where that is asked for, and as ever where it is not."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ncdiag.apps.explaining import logs
from ncdiag.apps.explaining.answer_text import text_of
from ncdiag.apps.explaining.answers import answers_to
from ncdiag.apps.lint.findings import checks
from ncdiag.cli import main
from ncdiag.language import speaking
from ncdiag.nccl import codes, environment, terms

CASES = ["gdr-far", "roce-gid-3-new", "veth", "memlock-64k"]
SENTENCE = re.compile(r"\b[A-Za-z]?[a-z]{2,}(?: [a-z]{2,}){2,}")
"""Three words in small letters."""
QUOTED = re.compile(
    r"'[^']*'|\"[^\"]*\"|“[^“”]*”|`[^`]*`|\([^()]*\)|\{[^{}]*\}|（[^（）\u3400-\u9fff]*）|(?:在消息中|别名)：.*"
)
"""Quotes of messages, sources in parentheses, other names."""
PASTED = re.compile(r"^ {4,}\S.*$|^\s*(?:写为：|\| ).*$", re.MULTILINE)
"""Lines to paste, and lines of the input that an answer quotes."""
WIDE = re.compile(r"[\u3400-\u9fff]")
FOUND = re.compile(r"(:\d+:\d+: \w+ NC[DL]\d+ [\w-]+):")
"""The place, severity, code and name of a finding."""
Said = Callable[..., str]


@pytest.fixture
def said(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Said:
    """What a command prints, on both streams."""
    monkeypatch.setenv("COLUMNS", "2000")

    def run(*arguments: str) -> str:
        main(arguments)
        return "".join(capfd.readouterr())

    return run


def english(text: str) -> list[str]:
    """What is left of English sentences."""
    return SENTENCE.findall(QUOTED.sub("", PASTED.sub("", text)))


def unwrapped(text: str) -> str:
    """The text of an answer without its lines to paste, each paragraph in one line."""
    return re.sub(r"\n {2,4}(?=\S)", " ", re.sub(r"\n  \S+：\n(?: {4}.*\n)+", "\n", text))


def inputs(project: Path, name: str) -> list[str]:
    folder = project / "fixtures" / "cases" / name
    return [str(path) for path in sorted(folder.iterdir()) if path.name != "case.toml"]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("command", ["predict", "topo"])
def test_choices_and_pictures(command: str, name: str, project: Path, said: Said) -> None:
    text = said(command, *inputs(project, name), "--lang", "zh")
    assert english(text) == []
    assert WIDE.search(text)
    plain = said(command, *inputs(project, name))
    assert plain == said(command, *inputs(project, name), "--lang", "en")
    assert not WIDE.search(plain)


def linted(project: Path) -> list[Path]:
    folder = project / "fixtures" / "lint"
    return [path for path in sorted(folder.rglob("*bad*")) if path.suffix != ".expected"]


def test_lint(project: Path, said: Said) -> None:
    files = linted(project)
    assert len(files) > 20
    for path in files:
        text = said("lint", str(path), "--lang", "zh")
        assert english(text) == [], path
        assert WIDE.search(text), path
    for path in files[::6]:
        assert said("lint", str(path)) == said("lint", str(path), "--lang", "en")
        assert FOUND.findall(said("lint", str(path), "--lang", "zh")) == FOUND.findall(said("lint", str(path)))


def test_corrections_are_the_same(project: Path, said: Said) -> None:
    for path in linted(project)[::6]:
        assert said("lint", "--fix", "-q", str(path), "--lang", "zh") == said("lint", "--fix", "-q", str(path))


@pytest.mark.parametrize("arguments", [("lint", "--format", "json"), ("lint", "--format", "github")])
def test_formats_for_programs_stay(arguments: tuple[str, ...], project: Path, said: Said) -> None:
    path = str(linted(project)[0])
    assert said(*arguments, path, "--lang", "zh") == said(*arguments, path)


def test_a_prediction_for_programs_stays(project: Path, said: Said) -> None:
    files = inputs(project, "veth")
    chosen = said("predict", *files, "--format", "json", "--lang", "zh")
    assert chosen == said("predict", *files, "--format", "json")
    assert json.loads(chosen)["hosts"]


@pytest.mark.skipif(sys.platform != "linux", reason="ncdiag run needs Linux")
def test_a_job_that_is_watched(said: Said) -> None:
    plain = said("run", "--", "true")
    assert plain == said("run", "--lang", "en", "--", "true")
    assert plain.startswith("ncdiag: the job ended with 0; ")
    text = said("run", "--lang", "zh", "--", "sh", "-c", "exit 3")
    assert "作业结束，退出码为 3；" in text
    assert english(text) == []


def explained() -> Iterator[str]:
    """All variables, codes, terms and files, and how to get a log."""
    yield from environment.variables()
    for kind, table in codes.codes().items():
        if kind != "sxid_thousand":
            yield from (f"{'status' if kind == 'completion' else kind} {number}" for number in table)
    yield from (term.name for term in terms.terms())
    yield from (place.path for place in terms.places())
    yield "logging"
    yield from (f"logging {way.name}" for way in logs.book().way)


def test_explanations(said: Said) -> None:
    things = list(explained())
    assert len(things) > 900
    with speaking("zh"):
        texts = [text_of(answer).partition("\n")[2] for thing in things for answer in answers_to(thing)]
    assert {text for text in map(unwrapped, texts) if english(text)} == set()
    for thing in things[::60]:
        assert WIDE.search(said("explain", thing, "--lang", "zh")), thing
        assert said("explain", thing) == said("explain", thing, "--lang", "en")
        assert not WIDE.search(said("explain", thing)), thing


def test_checks_are_explained(said: Said) -> None:
    for check in checks().values():
        assert english(said("explain", check.code, "--lang", "zh")) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("lint",),
        ("lint", "{log}"),
        ("lint", "--select", "NCL999", "{log}"),
        ("lint", "--nccl", "x", "{log}"),
        ("predict", "--env", "x", "{log}"),
        ("predict", "nowhere.log"),
        ("topo", "{log}"),
        ("explain",),
        ("explain", "nothing-of-the-kind"),
        ("probe",),
        ("probe", "--nodes", "a", "--ports", "x"),
        ("probe", "--launch", "nowhere.sh"),
        ("check", "--only", "nowhere"),
        ("parse", "{log}", "--format", "nowhere"),
        ("watch", "nowhere.log"),
        ("nowhere",),
    ],
)
def test_notes_and_wrong_use(
    arguments: tuple[str, ...], tmp_path: Path, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "job.log"
    log.write_text("nothing that anybody knows\n", encoding="utf-8")
    words = [word.replace("{log}", str(log)) for word in arguments]
    plain = said(*words)
    assert not WIDE.search(plain)
    assert plain.startswith("ncdiag: ")
    text = said(*words, "--lang", "zh")
    assert english(text) == []
    assert WIDE.search(text)
