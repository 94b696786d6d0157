"""The form that a trouble takes: GPUs that idle, pauses, a GPU that is lost, several GPUs that are slower than one.

A form is a subject and what is said of it, near each other in one sentence, in either order. It says more than the kind
of a complaint: an expert's first guess follows from the form and from the machine (`ncdiag.facts.vocabulary.usual`).
The words are those of `vocabulary`; the modules of this folder put them together.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ncdiag.base import compiled
from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.hints import Hints
from ncdiag.parsers._languages import SCRIPT
from ncdiag.parsers._prose import is_said
from ncdiag.parsers.user_text import verbs
from ncdiag.parsers.user_text.forms import alone, chinese, compared, devices, measured, speed, stops
from ncdiag.parsers.user_text.forms.form import Form, Way
from ncdiag.parsers.user_text.forms.vocabulary import worded

_NEAR = 90
"""The greatest number of characters between the subject and what is said of it."""
_LONGEST = 1000
"""The number of characters of a sentence that are read."""
FORMS = (*devices.FORMS, *speed.FORMS, *compared.FORMS, *stops.FORMS, *alone.FORMS)
"""All forms; of two that one sentence names, the first describes the complaint."""
_WAYS = tuple((form, way) for form in FORMS for way in form.ways)


def _said(way: Way) -> str:
    return rf"(?<!\w)(?:{worded(way.said)})(?!\w)"


def _subject(way: Way) -> str:
    return rf"(?<![\w-])(?:{worded(way.subject)})(?!\w)" if way.subject else ""


_SOURCES = (*compiled.files(Path(__file__).parent, ".py"), verbs.__file__)
HINTS = Hints("words-of-forms", _SOURCES, lambda: [(_said(way), 0) for _, way in _WAYS])
"""The ways whose predicate a sentence may have."""
SUBJECTS = Hints("subjects-of-forms", _SOURCES, lambda: [(_subject(way), 0) for _, way in _WAYS])
"""Those whose subject it may have."""


class _Pattern(NamedTuple):
    """A way, compiled."""

    form: Form
    subject: re.Pattern[str] | None
    said: re.Pattern[str]
    unless: re.Pattern[str] | None
    also: re.Pattern[str] | None


@functools.cache
def _patterns() -> tuple[_Pattern, ...]:
    def compiled_once(source: str) -> re.Pattern[str] | None:
        return lazy_regex(source) if source else None

    return tuple(
        _Pattern(
            form,
            compiled_once(_subject(way)),
            lazy_regex(_said(way)),
            compiled_once(worded(way.unless)),
            compiled_once(worded(way.also)),
        )
        for form, way in _WAYS
    )


_GENERAL = lazy_regex(
    r"\b(?:(?<!so\s)often|usually|typically|commonly|generally|normally|frequently)\s(?:\w+\s)?(?:the|a|due"
    r"|caused|because|means)\b"
    r"|\bit(?:\sis|'s)\s(?:normal|expected|intended|fine|ok|known|common)\s(?:that|for|if|when)\b"
    r"|\bwhich\sis\s(?:expected|normal|intended|fine|ok)\b"
    r"|^\W*(?:an?|any|every|each)\s(?:\w+\s)?(?:gpu|card|node|host|rank|process|job)\s(?:that|which|whose)\b"
    r"|\b(?:common|typical|frequent|usual|possible)\s(?:reason|cause|symptom|sign)s?\b|\b(?:this"
    r"|that)\s(?:can\s)?happens?\sif\b"
)
"""What is said of such troubles in general."""
_CONDITION = lazy_regex(r"\W*(?:if|should|in\scase)\b[^,]{3,120},")
"""A condition that begins a sentence: what it names is not said to have happened."""
_OF_CONDITIONS = frozenset({"data-dependent", "on-one-rank"})
"""Forms that say when something happens."""
_NAMED = {form.name: form for form in (*FORMS, Form("less-than-elsewhere", "slow", ("slow",)))}
_STRONGER = {
    "at-random": frozenset({"pauses", "epoch-end", "data-dependent"}),
    "less-than-elsewhere": frozenset(
        ["elsewhere", "unsteady", "falls-off", "one-slow-host", "one-slow-gpu", "reading"]
    ),
    "gpu-lost": frozenset({"rdma-unseen"}),
    "start": frozenset({"falls-off", "elsewhere", "pauses"}),
    "with-more-gpus": frozenset({"one-slow-gpu"}),
}
"""Forms that say less than others of the same sentence, with those: ``every few minutes it pauses at random``."""


def read(sentence: str) -> Iterator[Form]:
    """The forms that the sentence names, each once, most specific first."""
    sentence = sentence[:_LONGEST].replace("\u2019", "'").lower()
    sentence = sentence.replace("can't", "cannot").replace("won't", "will not").replace("n't ", " not ")
    found: dict[str, Form] = {}
    by_numbers = [_NAMED[name] for name in measured.names(sentence)]
    for form in (*by_numbers, *_of_words(sentence), *_of_chinese(sentence)):
        found.setdefault(form.name, form)
    yield from (form for name, form in found.items() if _STRONGER.get(name, frozenset()).isdisjoint(found))


def _of_words(sentence: str) -> Iterator[Form]:
    found = set[str]()
    condition = _CONDITION.match(sentence)
    begin = condition.end() if condition else 0
    may = HINTS.of(sentence)
    subjects = set(SUBJECTS.of(sentence)) if may else set[int]()
    for form, subject, said, unless, also in (_patterns()[number] for number in may if number in subjects):
        if form.name in found or not _is_of(subject, said, sentence, 0 if form.name in _OF_CONDITIONS else begin):
            continue
        if (unless is None or unless.search(sentence) is None) and (also is None or also.search(sentence)):
            if not found and _GENERAL.search(sentence):
                return
            found.add(form.name)
            yield form


def _of_chinese(sentence: str) -> Iterator[Form]:
    if SCRIPT.search(sentence):
        yield from (form for form, pattern in chinese.FORMS if pattern.search(sentence))


def _is_of(subject: re.Pattern[str] | None, said: re.Pattern[str], sentence: str, begin: int) -> bool:
    """True if the predicate is said, at its end after ``begin``, and said of the subject."""
    if not is_said(said, sentence):
        return False
    ends = [(found.start(), found.end()) for found in said.finditer(sentence) if found.end() > begin]
    if subject is None:
        return bool(ends)
    return any(_near((found.start(), found.end()), end) for found in subject.finditer(sentence) for end in ends)


def _near(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """True if the two places are not the same and are near each other; one may be within the other."""
    return one != other and max(one[0], other[0]) - min(one[1], other[1]) <= _NEAR
