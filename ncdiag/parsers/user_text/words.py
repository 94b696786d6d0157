"""Sentences to tokens: each word or phrase that the grammar knows, with its kind, its value and its place."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator

import msgspec

from ncdiag.base import compiled
from ncdiag.base.patterns import lazy_regex
from ncdiag.base.programs import compile_once
from ncdiag.formats import guarded, literals
from ncdiag.formats.guarded import split
from ncdiag.formats.literals import Literals, beginnings, folded, needed

HAN = lazy_regex(r"[\u3400-\u9fff]")


class Word(msgspec.Struct, frozen=True):
    """Words of one kind and value: a pattern in English, and one in Chinese."""

    kind: str
    value: str
    english: str
    chinese: str = ""


class Token(msgspec.Struct, frozen=True):
    """A known word of a sentence."""

    kind: str
    value: str
    start: int
    end: int
    text: str


_MARK = lazy_regex(r"[,;(){}]|->|=>")
_STARTS = lazy_regex(rf"(?<![\w/.])\S|{_MARK.pattern}")


class Part(msgspec.Struct, frozen=True, array_like=True):
    """An alternative of an English pattern, by the number of its word, with what it needs.

    ``literals``: one of them is where it matches. ``beginnings``: its first letters, if they are known.
    """

    word: int
    pattern: str
    literals: frozenset[str]
    beginnings: frozenset[str]


class Lexer:
    """Finds the words of a table from left to right; of two at one place the one that stands first in the table."""

    def __init__(self, name: str, words: Iterable[Word]) -> None:
        """``name``: under which the literals of the table are kept."""
        self.name, self.words = name, tuple(words)

    def build(self) -> tuple[Part, ...]:
        """The alternatives of all words in their order, to be kept."""
        return tuple(
            Part(number, pattern, needed(pattern), beginnings(pattern))
            for number, word in enumerate(self.words)
            for pattern in split(word.english)
        )

    @functools.cached_property
    def _parts(self) -> tuple[Part, ...]:
        folder = compiled.PACKAGE / "parsers" / "user_text"
        sources = (*compiled.files(folder, ".py"), literals.__file__, guarded.__file__)
        return compiled.load(self.name, sources, self.build, tuple[Part, ...])

    @functools.cached_property
    def _literals(self) -> Literals[int]:
        found = Literals[int]()
        for number, part in enumerate(self._parts):
            found.add(number, part.literals)
        return found

    @functools.cached_property
    def _unsigned(self) -> frozenset[int]:
        """The alternatives that need no literal."""
        return frozenset(n for n, part in enumerate(self._parts) if part.pattern and not part.literals)

    @functools.cached_property
    def _chinese(self) -> re.Pattern[str]:
        parts = [f"(?P<w{i}>{word.chinese})" for i, word in enumerate(self.words) if word.chinese]
        return re.compile("|".join(parts), re.IGNORECASE)

    def tokens(self, text: str) -> list[Token]:
        """The words in their order; what Chinese and English words both cover counts once, for the one that begins."""
        found = list(self._english(text))
        if HAN.search(text):
            found += [
                _token(self.words[int((match.lastgroup or "w0")[1:])], match) for match in self._chinese.finditer(text)
            ]
            found.sort(key=lambda token: (token.start, -token.end))
            kept: list[Token] = []
            for token in found:
                if not kept or token.start >= kept[-1].end:
                    kept.append(token)
            return kept
        return found

    @functools.cached_property
    def _beginning(self) -> dict[str, frozenset[int]]:
        """The alternatives by the letters with which they may begin; those that begin with others have no letter."""
        found: dict[str, set[int]] = {"": set()}
        for number, part in enumerate(self._parts):
            for letter in part.beginnings or {""}:
                found.setdefault(letter, set()).add(number)
        return {letter: frozenset(numbers | found[""]) for letter, numbers in found.items()}

    def _english(self, text: str) -> Iterator[Token]:
        """The English words and marks: each is tried where its first letter stands, if its literals are in the text."""
        held = self._literals.owners(text) | self._unsigned
        by_letter: dict[str, list[int]] = {}
        place = 0
        for start in map(re.Match.start, _STARTS.finditer(text)):
            if start < place:
                continue
            letter = text[start]
            tried = by_letter.get(letter)
            if tried is None:
                begin = self._beginning.get(folded(letter), self._beginning[""])
                tried = by_letter[letter] = sorted(held & begin)
            for number in tried:
                part = self._parts[number]
                found = _compiled(part.pattern).match(text, start)
                if found:
                    yield _token(self.words[part.word], found)
                    break
            else:
                found = _MARK.match(text, start)
                if found:
                    yield Token("break", "", start, found.end(), found[0])
            place = found.end() if found else place


@functools.cache
def _compiled(english: str) -> re.Pattern[str]:
    return compile_once(rf"(?<![\w/.])(?:{english})(?![A-Za-z0-9_/]|\.\w)", re.IGNORECASE)


def _token(word: Word, match: re.Match[str]) -> Token:
    return Token(word.kind, word.value, match.start(), match.end(), match[0])
