"""What people read, in their language: English where nothing else is asked for or nothing was translated.

A sentence of the program is made by `say` from its English template, and a phrase that the facts yield (``e.because``)
goes through `phrase` where it is shown. Both cost nothing in English. `speaking` chooses the language;
``ncdiag/language/<code>/`` has its phrases, and the file of a rule its own texts (``[text.<code>]``).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ncdiag.language.table import Table

ENGLISH = "en"
LANGUAGES = (ENGLISH, "zh")
"""Codes of the languages that ncdiag answers in."""
TAGS = {ENGLISH: "en", "zh": "zh-Hans"}
"""The codes that HTML has for them (BCP 47)."""
VARIABLE = "NCDIAG_LANG"
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
"""The variables that name a locale for messages, in the order in which they count (POSIX, Base Definitions, 8.2)."""

_TABLE: ContextVar[Table | None] = ContextVar("table", default=None)


@contextlib.contextmanager
def speaking(code: str) -> Iterator[None]:
    """Answer in a language inside of the block; `ENGLISH` and unknown codes mean English."""
    token = _TABLE.set(_table(code))
    try:
        yield
    finally:
        _TABLE.reset(token)


def speak(code: str) -> None:
    """Answer in a language from now on, as a command of the command line does."""
    _TABLE.set(_table(code))


def _table(code: str) -> Table | None:
    if code == ENGLISH or code not in LANGUAGES:
        return None
    from ncdiag.language import table

    return table.load(code)


def is_english() -> bool:
    """Is the answer in English?"""
    return _TABLE.get() is None


def tag() -> str:
    """The code that HTML has for the language of the answer."""
    table = _TABLE.get()
    return TAGS[ENGLISH if table is None else table.code]


def say(template: str, **values: object) -> str:
    """The template in the language of the answer, with its holes (``{name}``) filled."""
    table = _TABLE.get()
    if table is not None:
        return table.say(template, values)
    return template.format(**values) if values else template


def lead_in(text: str) -> str:
    """What is in front of a text: ``Fix: ``."""
    return say(text) + say(": ")


def counted(number: int, noun: str) -> str:
    """``1 line``, ``2 lines``; a language has one template for ``{n} line``."""
    table = _TABLE.get()
    if table is not None and table.exactly(template := f"{{n}} {noun}") is not None:
        return table.say(template, {"n": number})
    return f"{number} {noun}{'' if number == 1 else 's'}"


def tidy(text: str) -> str:
    """A text whose holes were filled, with the blanks that the language of the answer wants around their values."""
    table = _TABLE.get()
    return text if table is None else table.tidy(text)


def phrase(text: str) -> str:
    """A text that was made in English, in the language of the answer; as it is where no template fits it.

    For texts that reach the report through facts, values and messages. A word alone stays: it may be a name.
    """
    table = _TABLE.get()
    return text if table is None else table.phrase(text)


def note(text: str) -> str:
    """A note or an error of a command, in the language of the answer."""
    table = _TABLE.get()
    return text if table is None else table.note(text)


def sentences(text: str) -> str:
    """Several sentences that were made in English, each as `phrase` says it."""
    table = _TABLE.get()
    return text if table is None else table.sentences(text)


def from_environment(environment: Mapping[str, str] = os.environ) -> str:
    """The language that ``NCDIAG_LANG`` or the locale names; English for others."""
    for name in (VARIABLE, *_LOCALE):
        if environment.get(name):
            code = environment[name].replace("-", "_").partition("_")[0].partition(".")[0].lower()
            return code if code in LANGUAGES else ENGLISH
    return ENGLISH
