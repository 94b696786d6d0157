"""What people say of a trouble in other languages than English and Chinese: a table of words for each language.

``ncdiag/language/speech/<code>.toml`` gives words, word beginnings (``résolu*``) and phrases for each role; ``bricht ..
ab`` stands for the two words with at most eight others between:

- ``own`` somebody reports a trouble of their own, ``one`` a single person does, ``help`` somebody asks for help;
- ``fails`` something goes wrong, ``now`` at present, or again, ``not`` it does not;
- ``done`` it is over, ``outcome`` how it ended, ``yet`` it goes on all the same, ``past`` it was at another time;
- ``instructs`` a text tells others what to do;
- ``status`` and ``subject`` are labels of a ticket's state and of a mail's subject.

``common`` words have no role: a line is in the language of which it has the most words.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from ncdiag.base import compiled
from ncdiag.base.patterns import lazy_regex

FOLDER = Path(__file__).parent
_LONGEST, _WORDS, _REMEMBERED = 2000, 300, 1 << 15
"""Maximum number of characters and words checked in a line; maximum number of lines in the cache."""
_LEAST = 2
"""Number of words by which a line is known to be in a language; one with a letter that English lacks counts double."""
_MIXED = 6
"""Number of words by which it is known beside more words of English, such as those of a message."""
_APART = 8
"""Maximum number of words between the two parts of a verb."""
_GAP = ".."
_STEM = 4
"""Minimum length of a word's beginning."""
_WORD = lazy_regex(r"[^\W\d_]+")
_KANA = lazy_regex(r"[\u3040-\u30ff]")
_HANGUL = lazy_regex(r"[\uac00-\ud7a3]")
_ENGLISH = "en"
_OF_SCRIPT = {"ja": _KANA, "ko": _HANGUL}
"""The languages without spaces between all words, and a letter that a line in them has."""

Meaning = tuple[tuple[str, ...], tuple[tuple[tuple[str, ...], str], ...]]
"""The roles of a word, and the phrases that it begins, each with its role."""
_NOTHING: Meaning = (), ()


class Language(msgspec.Struct, frozen=True, array_like=True):
    """The roles of words, of word beginnings, and of phrases by their first word; ``parts``: of parts of a text."""

    words: dict[str, tuple[str, ...]]
    stems: dict[str, tuple[str, ...]]
    phrases: dict[str, tuple[tuple[tuple[str, ...], str], ...]]
    parts: dict[str, tuple[str, ...]]

    def of(self, word: str) -> Meaning | None:
        """What a word is in this language; None for a word of another one."""
        roles, phrases = self.words.get(word), self.phrases.get(word)
        if roles is None and phrases is None and not self._stem(word):
            return None
        return (*(roles or ()), *self._stem(word)), phrases or ()

    def _stem(self, word: str) -> tuple[str, ...]:
        beginnings = (word[:end] for end in range(_STEM, len(word) + 1))
        return next((roles for each in beginnings if (roles := self.stems.get(each))), ())


def roles(text: str) -> frozenset[str]:
    """The roles of what a line says, in the language that it is in; none for English and Chinese."""
    text = text[:_LONGEST]
    code = _language_of(text)
    return _roles(text, code) if code else frozenset()


def roles_in(part: str, line: str) -> frozenset[str]:
    """The roles of a few words in the language of the line that has them."""
    return _roles(part[:_LONGEST], _language_of(line[:_LONGEST]))


def is_in_another(text: str) -> bool:
    """True for a line in one of these languages: any other has no roles."""
    return _language_of(text[:_LONGEST]) != ""


@functools.lru_cache(_REMEMBERED)
def roles_in_any(text: str) -> frozenset[str]:
    """The roles of a few words alone, such as the value of a field, in whatever language has them."""
    text = text[:_LONGEST]
    codes = {code for word in _words(text) for code in _meanings(word)}.union(() if text.isascii() else _OF_SCRIPT)
    return frozenset(role for code in codes for role in _roles(text, code))


@functools.lru_cache(_REMEMBERED)
def _roles(text: str, code: str) -> frozenset[str]:
    if not code:
        return frozenset()
    if code in _OF_SCRIPT:
        text = f" {text}"
        return frozenset(role for part, said in languages()[code].parts.items() if part in text for role in said)
    return frozenset(_said(_words(text), code))


def _said(words: tuple[str, ...], code: str) -> Iterator[str]:
    """The roles of the words and phrases of a line in one language."""
    for at, word in enumerate(words):
        roles, phrases = _meanings(word).get(code, _NOTHING)
        yield from roles
        yield from (role for phrase, role in phrases if _follows(phrase, words[at : at + len(phrase) + _APART]))


@functools.lru_cache(1 << 14)
def _meanings(word: str) -> Mapping[str, Meaning]:
    """What a word is in each language that has it; a log repeats its words."""
    found = {code: each.of(word) for code, each in languages().items() if code not in _OF_SCRIPT}
    return {code: meaning for code, meaning in found.items() if meaning is not None}


@functools.lru_cache(1 << 14)
def _weights(word: str) -> tuple[tuple[str, int], ...]:
    """How much a word speaks for each language that has it; English has none with other letters."""
    return tuple((code, 1 if word.isascii() else 2) for code in _meanings(word))


@functools.lru_cache(_REMEMBERED)
def _language_of(text: str) -> str:
    """The code of the language of a line; empty for English, and for a line in none."""
    if not text.isascii():
        script = next((code for code, letter in _OF_SCRIPT.items() if letter.search(text)), None)
        if script:
            return script
    weights: dict[str, int] = {}
    for word in frozenset(_words(text)):
        for code, weight in _weights(word):
            weights[code] = weights.get(code, 0) + weight
    english = weights.pop(_ENGLISH, 0)
    if not weights:
        return ""
    most = max(weights.values())
    if (most < _LEAST or most <= english) and most < _MIXED:
        return ""
    return min(code for code, weight in weights.items() if weight == most)


def _words(text: str) -> tuple[str, ...]:
    small = text.lower().replace("\u0307", "")  # the dot that a Turkish capital leaves
    return tuple(_WORD.findall(small))[:_WORDS]


def _follows(phrase: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """True if the words begin with the phrase, or with its first word and have its last one behind some others."""
    if _GAP not in phrase:
        return _fits(phrase, words[: len(phrase)])
    return phrase[0] == words[0] and phrase[-1] in words[1 : _APART + 2]


def _fits(phrase: tuple[str, ...], words: tuple[str, ...]) -> bool:
    return len(words) == len(phrase) and all(
        word.startswith(each[:-1]) if each.endswith("*") else word == each
        for each, word in zip(phrase, words, strict=True)
    )


@functools.cache
def languages() -> Mapping[str, Language]:
    """The table of each language, by its code; English first."""
    return compiled.load("speech", sources(), build, dict[str, Language])


def sources() -> list[Path]:
    """The files of the tables, and this one."""
    return [*sorted(FOLDER.glob("*.toml")), Path(__file__)]


def build() -> dict[str, Language]:
    """The tables as their files give them."""
    paths = sorted(FOLDER.glob("*.toml"), key=lambda path: (path.stem != _ENGLISH, path.stem))
    return {
        path.stem: _language(msgspec.toml.decode(path.read_bytes(), type=dict[str, list[str]]), path.stem)
        for path in paths
    }


def _language(table: Mapping[str, list[str]], code: str) -> Language:
    words: dict[str, tuple[str, ...]] = {}
    stems: dict[str, tuple[str, ...]] = {}
    phrases: dict[str, tuple[tuple[tuple[str, ...], str], ...]] = {}
    parts: dict[str, tuple[str, ...]] = {}
    for role, entries in table.items():
        for entry in entries:
            found = _pieces(entry)
            if code in _OF_SCRIPT:
                parts[entry] = (*parts.get(entry, ()), role)
            elif len(found) > 1:
                phrases[found[0]] = (*phrases.get(found[0], ()), (found, role))
            elif found[0].endswith("*"):
                stem = found[0][:-1]
                stems[stem] = (*stems.get(stem, ()), role)
            else:
                words[found[0]] = (*words.get(found[0], ()), *(() if role == "common" else (role,)))
    return Language(words, stems, phrases, parts)


def _pieces(entry: str) -> tuple[str, ...]:
    """The words of an entry, the last one with its star."""
    found = _WORD.findall(entry)
    if f" {_GAP} " in entry:
        return found[0], _GAP, found[-1]
    return (*found[:-1], found[-1] + "*" * entry.endswith("*"))
