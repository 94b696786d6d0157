"""Which of many patterns can match a line: tried once for all lines that differ only in digits.

A log repeats its lines with other numbers. Whether a pattern that asks for digits, but for no particular ones, matches
is the same for all of them; which groups it finds is not.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.programs import compile_once

__all__ = ["ByShape", "ByWord", "blind"]

_ZEROS = bytes.maketrans(b"123456789", b"0" * 9)
_DIGIT = lazy_regex(
    r"(?P<kept>\{[\d,]+\}|\\x[0-9a-f]{2}|\\u[0-9a-f]{4}|\\.|0-9)|(?P<class>\d-\d)|\d", re.IGNORECASE | re.DOTALL
)
_REMEMBERED, _WORDS, _LONGEST = 1 << 13, 1 << 15, 2000
"""Maximum number of shapes and words that are remembered, and of characters of each."""


def blind(pattern: str) -> str:
    """The pattern for texts whose digits are all 0: it matches the shape of each text that the pattern matches.

    The pattern must not exclude a particular digit.
    """
    return _DIGIT.sub(lambda found: found["kept"] or "0", pattern)


class ByShape:
    """Patterns, and which of them can match lines of each shape. ``tried`` counts the searches for them."""

    def __init__(
        self, patterns: Sequence[re.Pattern[str]], compiled: Callable[[str, int], re.Pattern[str]] = compile_once
    ) -> None:
        """The patterns; they must not exclude particular digits.

        ``compiled`` compiles those for shapes. The default keeps them in a file: not for patterns that contain names.
        """
        self._compiled = compiled
        self._patterns = patterns
        self._known: dict[bytes, tuple[int, ...]] = {}
        self._all = tuple(range(len(patterns)))
        self.tried = 0

    def among(self, line: str) -> tuple[int, ...]:
        """The numbers of the patterns that may match the line, in order."""
        if len(line) > _LONGEST:
            return self._all
        shape = line.encode("utf-8", "surrogatepass").translate(_ZEROS)  # a tenth of the time that text takes
        found = self._known.get(shape)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self.tried += len(self._all)
            text = shape.decode("utf-8", "surrogatepass")
            found = self._known[shape] = tuple(
                number for number, pattern in enumerate(self._blind) if pattern.search(text)
            )
        return found

    @functools.cached_property
    def _blind(self) -> list[re.Pattern[str]]:
        """The patterns for shapes."""
        texts = [blind(each.pattern) for each in self._patterns]
        return [
            each if text == each.pattern else self._compiled(text, each.flags)
            for each, text in zip(self._patterns, texts, strict=True)
        ]


class ByWord(dict[str, int]):
    """What is known of words, each computed once: the words of a log repeat even where its lines do not."""

    def __init__(self, of: Callable[[str], int]) -> None:
        """``of`` computes the flags of a word, which has no blank."""
        self._of = of

    def __missing__(self, word: str) -> int:
        found = self._of(word)
        if len(word) <= _LONGEST:
            if len(self) >= _WORDS:
                self.clear()
            self[word] = found
        return found

    def together(self, text: str) -> int:
        """The flags of all words of the text."""
        return functools.reduce(operator.or_, map(self.__getitem__, text.split()), 0)
