"""What is known of a part of a line or an inexact name: a message by its beginning or by an exception in it.

People paste a part of a line, or write it from memory with other numbers in it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.engine.schema import Rule
from ncdiag.messages.explained import full_matcher
from ncdiag.messages.message import Message

_HOLE = lazy_regex(r"\{\w+:\w+\}")
_WORD = lazy_regex(r"[A-Za-z_][\w.-]*[A-Za-z0-9_]|[A-Za-z]|\*")
_NAME = lazy_regex(r"[A-Za-z][\w.]{6,100}")
_MOST, _LONG = 5, 4
_PART = 8
"""Minimum number of letters of a part of a message."""
_PREFIX = lazy_regex(r"(?:.*\bNCCL (?:WARN|INFO|ERROR)\s+)?(?:\[\w\] )?", re.IGNORECASE)
_OWN_PREFIX = "net/ib : "
_FAULTS = frozenset({"cause", "symptom", "echo"})
_FEWEST, _SHARE = 3, 0.6
"""Minimum number of words of a beginning, and minimum share of the words that were given."""


def message_near(text: str) -> Message | None:
    """The message that begins like the text, numbers and names aside, or the first that has this exception in it."""
    messages = tuple(full_matcher().messages())
    if _NAME.fullmatch(text) and not text.islower():
        named = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")
        return next((message for message in messages if named.search(message.text)), None)
    part = _PREFIX.sub("", text).strip().lower()
    if len(part) >= _PART and (whole := _with_part(part, messages)) is not None:
        return whole
    given = _words(text)
    best, most = None, 0
    for message in messages:
        count = _alike(given, _words(_HOLE.sub("*", message.text)))
        if count > most:
            best, most = message, count
    return best if most >= max(_FEWEST, _SHARE * len(given)) else None


def _with_part(part: str, messages: Iterable[Message]) -> Message | None:
    """The message that has this text in one of its fixed parts: rather at its beginning, a fault, a short one."""
    found: list[tuple[bool, bool, int, Message]] = []
    for message in messages:
        pieces = [piece.lower() for piece in _HOLE.split(message.text)]
        if not any(part in piece for piece in pieces):
            continue
        begins = pieces[0].removeprefix(_OWN_PREFIX).startswith(part)
        found.append((not begins, message.kind not in _FAULTS, len(message.text), message))
    return min(found, key=lambda each: each[:3])[3] if found else None


def rules_about(text: str, rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules in whose name, or in the name of whose cause, all words of the text are; at most `_MOST`.

    Of one to three words alone: a sentence names no cause by its words.
    """
    given = _words(text)
    words = {word for word in given if len(word) >= _LONG and len(given) < _LONG}
    found = (
        rule for rule in rules
        if words and words <= {*rule.name.split("-"), *_words(rule.suspect.text if rule.suspect else rule.title)}
    )  # fmt: skip
    return tuple(itertools.islice(found, _MOST))


def _words(text: str) -> Sequence[str]:
    """The words in small letters, without numbers; ``*`` where a message has a hole."""
    return [word.lower() for word in _WORD.findall(text)]


def _alike(given: Sequence[str], wording: Sequence[str]) -> int:
    """The number of words of the text that the wording has from its beginning on, in order; holes take any word."""
    count = at = 0
    for word in wording:
        if at >= len(given):
            break
        if word == given[at]:
            count, at = count + 1, at + 1
        elif word == "*":
            continue
        else:
            break
    return count
