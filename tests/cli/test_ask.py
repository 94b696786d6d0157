"""The questions of ``triage --ask``."""

from __future__ import annotations

import io

import pytest

from ncdiag.commands._ask import MOST, Answers, converse, next_question
from ncdiag.diagnose import Options, diagnose
from ncdiag.report.model import Question, Report, Summary, Suspect, Tool
from ncdiag.text.sources.files import TextSource


def report(*keys: str) -> Report:
    asked = tuple(Question(key, f"cat /{key}", f"is it {key}?") for key in keys)
    suspect = Suspect("SITE100", "a-cause", "A cause", "likely", decide=asked)
    return Report(tool=Tool("ncdiag", "0"), summary=Summary("risk-only"), suspects=(suspect,))


def test_each_question_is_asked_once() -> None:
    heard: list[Answers] = []

    def find(answers: Answers) -> Report:
        heard.append(answers)
        return report("alpha", "beta", "gamma")

    converse(find, io.StringIO("y\nNo\nskip\nnever read\n"))
    assert heard[-1].known == {"alpha": True, "beta": False, "gamma": None}
    assert heard[-1].told == {"alpha": True, "beta": False}


def test_an_output_is_read_to_the_empty_line() -> None:
    answers = Answers({}, [])

    def find(found: Answers) -> Report:
        nonlocal answers
        answers = found
        return report("alpha", "beta")

    converse(find, io.StringIO("eth0 UP\neth1 DOWN\n\ny\n"))
    assert answers.pasted == ["$ cat /alpha\neth0 UP\neth1 DOWN\n"]
    assert answers.told == {"beta": True}


def test_what_only_an_output_tells_is_not_answered_with_yes(capsys: pytest.CaptureFixture[str]) -> None:
    asked = (Question("ibstat", "ibstat", "the state of the ports"), Question("SITE100:?", "", "Is it so?"))
    suspect = Suspect("SITE100", "a-cause", "A cause", "likely", decide=asked)
    heard: list[Answers] = []

    def find(answers: Answers) -> Report:
        heard.append(answers)
        return Report(tool=Tool("ncdiag", "0"), summary=Summary("risk-only"), suspects=(suspect,))

    converse(find, io.StringIO("y\nn\n"))
    assert heard[-1].known == {"ibstat": None, "SITE100:?": False}
    said = capsys.readouterr().err.splitlines()
    assert [line.removeprefix("ncdiag: ") for line in said] == [
        "Paste the output of ibstat followed by an empty line, or enter skip: it shows the state of the ports",
        "Is it so? [y/n/skip]",
    ]


def test_it_ends() -> None:
    assert next_question(converse(lambda _: report("alpha"), io.StringIO("")), Answers({"alpha": None}, [])) is None
    endless = (f"q{number}" for number in range(1000))
    assert converse(lambda _: report(next(endless)), io.StringIO("y\n" * 100)).suspects[0].decide[0].key == f"q{MOST}"


def test_an_answer_excludes_a_suspect() -> None:
    refused = b"RuntimeError: The server socket has failed to listen on any local network address.\n"
    paste = TextSource.of_bytes("paste", refused)
    before = diagnose([paste])
    key = "NCD841:the address or port is in use"
    after = diagnose([paste], Options(answers={key: False}))
    assert [suspect.code for suspect in before.suspects] == ["NCD841"]
    assert [suspect.code for suspect in after.suspects] == []
