"""Sentences to tokens: each word or phrase that the grammar knows, with its kind, its value and its place."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

import msgspec

from ncdiag.patterns import lazy_regex

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


class Lexer:
    """Finds the words of a table from left to right; of two at one place the one that stands first in the table."""

    def __init__(self, words: Iterable[Word]) -> None:
        """Compile the table."""
        self._words = tuple(words)

    @functools.cached_property
    def _english(self) -> re.Pattern[str]:
        parts = "|".join(f"(?P<w{i}>{word.english})" for i, word in enumerate(self._words) if word.english)
        return re.compile(rf"(?<![\w/.])(?:{parts})(?![A-Za-z0-9_/]|\.\w)|(?P<mark>[,;(){{}}]|->|=>)", re.IGNORECASE)

    @functools.cached_property
    def _chinese(self) -> re.Pattern[str]:
        parts = [f"(?P<w{i}>{word.chinese})" for i, word in enumerate(self._words) if word.chinese]
        return re.compile("|".join(parts), re.IGNORECASE)

    def tokens(self, text: str) -> list[Token]:
        """The words in their order; what Chinese and English words both cover counts once, for the one that begins."""
        found = [self._token(match) for match in self._english.finditer(text)]
        if HAN.search(text):
            found += [self._token(match) for match in self._chinese.finditer(text)]
            found.sort(key=lambda token: (token.start, -token.end))
            kept: list[Token] = []
            for token in found:
                if not kept or token.start >= kept[-1].end:
                    kept.append(token)
            return kept
        return found

    def _token(self, match: re.Match[str]) -> Token:
        if match.lastgroup == "mark":
            return Token("break", "", match.start(), match.end(), match[0])
        word = self._words[int((match.lastgroup or "w0")[1:])]
        return Token(word.kind, word.value, match.start(), match.end(), match[0])
