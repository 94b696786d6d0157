"""The dialogue of ``ncdiag triage --ask``: deciding questions one after the other, until no further one helps."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import TextIO

import msgspec

from ncdiag import language
from ncdiag.commands._output import say
from ncdiag.report.model import Question, Report
from ncdiag.report.sanitize import one_line

MOST = 6
"""Maximum number of questions: nobody answers more."""
_ASKS = ("?", "？")
"""The end of a question that is answered with yes or no."""
_PASTED = 5000
"""Maximum number of lines of a pasted answer."""
_YES, _NO, _SKIP = frozenset({"y", "yes"}), frozenset({"n", "no"}), frozenset({"", "s", "skip"})


class Answers(msgspec.Struct):
    """A person's answers: ``known`` by the key of the question, None for skipped; ``pasted`` are outputs."""

    known: dict[str, bool | None]
    pasted: list[str]

    @property
    def told(self) -> Mapping[str, bool]:
        """The answered questions, without skipped ones."""
        return {key: answer for key, answer in self.known.items() if answer is not None}


def converse(find: Callable[[Answers], Report], lines: TextIO | None = None) -> Report:
    """Ask until no question separates the suspects; ``find`` repeats the diagnosis with the answers."""
    answers, source = Answers({}, []), lines or sys.stdin
    report = find(answers)
    for _ in range(MOST):
        question = next_question(report, answers)
        if question is None or not _ask(question, answers, source):
            break
        report = find(answers)
    return report


def next_question(report: Report, answers: Answers) -> Question | None:
    """The most useful question that was not asked yet."""
    asked = (question for suspect in report.suspects for question in suspect.decide)
    return next((question for question in asked if question.key not in answers.known), None)


def _ask(question: Question, answers: Answers, source: TextIO) -> bool:
    """Ask one question; False if the input has ended."""
    say(_prompt(question))
    first = source.readline()
    word = first.strip().lower()
    is_answer = question.text.endswith(_ASKS) and word in _YES | _NO
    answers.known[question.key] = word in _YES if is_answer else None
    if word not in _YES | _NO | _SKIP:
        command = [f"$ {question.ask}\n"] if question.ask else []
        answers.pasted.append("".join([*command, first, *_until_blank(source)]))
    return bool(first)


def _prompt(question: Question) -> str:
    text, ask = one_line(question.text), one_line(question.ask)
    if question.run:
        return language.say("Run once with {setting}. Does it work now? [y/n/skip]", setting=ask)
    if not ask:
        return f"{text} [y/n/skip]"
    ask = language.phrase(ask)
    if not text.endswith(_ASKS):
        return language.say(
            "Paste the output of {command} followed by an empty line, or enter skip: it shows {text}",
            command=ask,
            text=text,
        )
    return language.say(
        "{text} [y/n/skip], or paste the output of {command} followed by an empty line", command=ask, text=text
    )


def _until_blank(source: TextIO) -> list[str]:
    found: list[str] = []
    while len(found) < _PASTED and (line := source.readline()).strip():
        found.append(line)
    return found
