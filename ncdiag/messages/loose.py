"""Recognise a message by its words in order, ignoring differences in blanks, colons and quotes.

People retype, wrap, translate and shorten the output of programs, and releases change a colon or a bracket. A message
matches when its literal words appear in order, the first letter in either case, with no more text between them than the
holes of the template can hold. A hole whose text does not fit its type gets no value.
"""

from __future__ import annotations

import functools
import re

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.messages.template import HOLES, Hole, Part, Value, compile_parts

_BETWEEN = r"[^\w]{0,8}"
"""Text allowed between two words of a message: blanks, colons, brackets, quotes, an arrow."""
_WORD = lazy_regex(r"\w+")
_EDGES = " \t:;,.'\"`()[]<>{}=|*_-"
_BEFORE = " \t:;,.="
_TYPED, _TEXT = 80, 400
"""The largest number of characters in a hole: of a typed hole, and of a ``text`` hole."""
_NEEDED_WORDS, _NEEDED_LETTERS = 3, 12


class Shape(msgspec.Struct, frozen=True):
    """A template as runs of words (patterns) and the holes between them: ``holes[i]`` precede ``runs[i]``."""

    runs: tuple[re.Pattern[str], ...]
    holes: tuple[tuple[Part, ...], ...]
    words: int
    letters: int

    @property
    def is_telling(self) -> bool:
        """Are the words enough to identify the message?"""
        return self.words >= _NEEDED_WORDS and self.letters >= _NEEDED_LETTERS


def shape(parts: tuple[Part, ...]) -> Shape:
    """Split a template into a Shape; a literal without a word becomes part of the holes next to it."""
    runs: list[re.Pattern[str]] = []
    holes: list[tuple[Part, ...]] = []
    between: list[Part] = []
    count = letters = 0
    for number, part in enumerate(parts):
        words = _WORD.findall(part) if isinstance(part, str) else []
        if not words:
            between.append(part)
            continue
        text = str(part)
        touches_left = number > 0 and re.match(r"\w", text) is not None
        touches_right = number < len(parts) - 1 and re.search(r"\w\Z", text) is not None
        runs.append(_run(tuple(words), touches_left=touches_left, touches_right=touches_right, first=not runs))
        holes.append(tuple(between))
        between = []
        count, letters = count + len(words), letters + sum(map(len, words))
    return Shape(tuple(runs), (*holes, tuple(between)), count, letters)


@functools.lru_cache(maxsize=4096)
def _run(words: tuple[str, ...], *, touches_left: bool, touches_right: bool, first: bool) -> re.Pattern[str]:
    """The pattern of consecutive words; a word that touches a hole may be part of a longer word."""
    escaped = [re.escape(word) for word in words]
    if first and words[0][:1].isalpha():
        letter = words[0][:1]
        escaped[0] = f"[{letter.upper()}{letter.lower()}]{re.escape(words[0][1:])}"
    left, right = "" if touches_left else r"(?<!\w)", "" if touches_right else r"(?!\w)"
    return re.compile(left + _BETWEEN.join(escaped) + right)


def fields(found: Shape, text: str, *, anchored: bool) -> dict[str, Value] | None:
    """Return the values of the holes when the words are in the text in order; None when they are not.

    Holes that do not fit their type are left out. ``anchored``: the message must start at the start of the text.
    """
    filled: dict[str, Value] = {}
    at = 0
    for number, run in enumerate(found.runs):
        hit = run.search(text, at)
        if hit is None:
            return None
        gap, holes = text[at : hit.start()], found.holes[number]
        if number or anchored:
            if len(gap.strip(_EDGES)) > _room(holes):
                return None
            filled |= _filled(holes, gap)
        at = hit.end()
    filled |= _filled(found.holes[-1], text[at:])
    return filled


def _room(holes: tuple[Part, ...]) -> int:
    """The largest number of characters that may appear in place of these holes."""
    return sum(_TEXT if part.type in {"text", "quoted"} else _TYPED for part in holes if isinstance(part, Hole))


def _filled(holes: tuple[Part, ...], text: str) -> dict[str, Value]:
    """The values of adjacent holes, as far as the text fits their types."""
    names = [part for part in holes if isinstance(part, Hole)]
    if not names:
        return {}
    for candidate in (text.strip().lstrip(_BEFORE), text.strip(_EDGES)):
        hit = _pattern(_bare(holes)).match(candidate)
        if hit is not None:
            return {hole.name: HOLES[hole.type].convert(hit[hole.name]) for hole in names}
    return {}


@functools.lru_cache(maxsize=1024)
def _pattern(parts: tuple[Part, ...]) -> re.Pattern[str]:
    return compile_parts(parts)


def _bare(holes: tuple[Part, ...]) -> tuple[Part, ...]:
    """The holes with the text between them, without the punctuation around them."""
    first = next(number for number, part in enumerate(holes) if isinstance(part, Hole))
    last = max(number for number, part in enumerate(holes) if isinstance(part, Hole))
    return holes[first : last + 1]
