"""Determine the kind of section that a line begins or a command prints: anchors and commands of all parsers."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.literals import SHARED, folded, single
from ncdiag.parsers import Parser
from ncdiag.text.sections import kubectl, prompt

_COMMAND_LENGTH, _COMMAND_WORDS = 4096, 4
_PLAIN_LIMIT, SHORT = 1 << 12, 200
"""Number of remembered lines that begin nothing, and their maximum length: programs print many of them again."""
_WRAPPERS = 4
_SYSTEM = "/etc"
_WRAPPER = lazy_regex(
    r"(?:(?:sudo|srun|timeout|pdsh|clush|pssh|parallel-ssh)\s+(?:-[CDegGhHlLNnptTuUwxX]\s+\S+\s+|-\S+\s+|\d+[smh]?\s+)*"
    r"|(?:ba|da|k|z)?sh\s+-[a-z]{0,3}c\s+[\"']?|[\"']"
    r"|(?:time|exec|watch|nohup|command|stdbuf)\s+(?:-\S+\s+)*|ip\s+netns\s+exec\s+\S+\s+|chroot\s+\S+\s+"
    r"|[A-Z_][A-Z0-9_]*=\S*\s+)"
)
"""Programs that run another command, which determines the output."""
_NOTHING = r"(?!)"
_SIGN = 3
"""Minimum number of characters of a sign, blanks and numbers not counted."""


class _Some(NamedTuple):
    """The parsers whose anchors may match lines with one first letter.

    ``signed`` have signs: the bits of these. ``structured`` are the indexes of those with alternatives that are
    found by the letter; ``any_structured`` matches these alternatives. The same of anchors with any number in place of
    their numbers: ``opened``, and ``any_opened`` for those without signs.
    """

    signed: int
    structured: frozenset[int]
    any_structured: re.Pattern[str]
    opened: int
    any_opened: re.Pattern[str]


class Kinds:
    """The table of the kinds that the given parsers read."""

    def __init__(self, parsers: Iterable[Parser]) -> None:
        """No two parsers may declare the same command; if two anchors match a line, the first parser is used."""
        held = tuple(parsers)
        self._anchored = tuple(parser for parser in held if parser.anchor)
        self._patterns = tuple(lazy_regex(parser.anchor) for parser in self._anchored)
        self._opened = tuple(map(lazy_regex, (_numbers_open(parser.anchor) or _NOTHING for parser in self._anchored)))
        self._letters = frozenset[str]().union(*(parser.beginnings for parser in self._anchored))
        self._by_letter: dict[str, _Some] = {}
        signs = [[folded(sign.literal) for sign in parser.found_by.signs] for parser in self._anchored]
        self._signs = self._numbered(enumerate(signs))
        without_numbers = [[max(sign.split("0"), key=_weight) for sign in each] for each in signs]
        self._opened_signs = self._numbered(
            (place, each if min(map(_weight, each), default=0) >= _SIGN else ())
            for place, each in enumerate(without_numbers)
        )
        self._places = self._signs | self._opened_signs
        self._commands = {command: parser.kind for parser in held for command in parser.commands}
        self._programs = {command.split(" ", 1)[0] for command in self._commands}
        self._plain: set[str] = set()

    def _numbered(self, signs: Iterable[tuple[int, Iterable[str]]]) -> dict[int, int]:
        """The parsers that have signs, by the bits of these."""
        held = ((place, frozenset(each)) for place, each in signs)
        return {SHARED.add(each, (self._anchored[place].kind, each)): place for place, each in held if each}

    def of_line(self, line: str) -> str | None:
        """The kind of section that begins with this line, or None."""
        some = self._beginning_as(line)
        signed, is_structured = SHARED.of(line)[0] & some.signed, some.any_structured.match(line) is not None
        if not signed and not is_structured:
            return None
        places = {self._places[bit] for bit in single(signed)}.union(some.structured if is_structured else ())
        return next((self._anchored[place].kind for place in sorted(places) if self._patterns[place].match(line)), None)

    def may_depend_on_numbers(self, line: str) -> bool:
        """True if a section may begin with a line that differs from this one only in its numbers."""
        some = self._beginning_as(line)
        places = [self._places[bit] for bit in single(SHARED.of(line)[0] & some.opened)]
        return some.any_opened.match(line) is not None or any(self._opened[place].match(line) for place in places)

    def _beginning_as(self, line: str) -> _Some:
        """The parsers whose anchors may match lines with this first letter."""
        begin = line[:1]
        found = self._by_letter.get(begin)
        if found is None:
            letter = folded(begin)
            found = self._by_letter[begin] = self._with_letter(letter if letter in self._letters else "")
        return found

    def _with_letter(self, letter: str) -> _Some:
        """The same for a letter of the anchors; those in no anchor are equivalent."""
        found = self._by_letter.get(letter)
        if found is None:
            parsers = self._anchored
            places = {n for n, parser in enumerate(parsers) if letter in (parser.beginnings or {letter})}
            structured = {n: _beginning_with(letter, parsers[n].found_by.structured) for n in sorted(places)}
            structured = {n: alternatives for n, alternatives in structured.items() if alternatives}
            unsigned = places.intersection(self._signs.values()).difference(self._opened_signs.values())
            found = self._by_letter[letter] = _Some(
                sum(bit for bit, n in self._signs.items() if n in places),
                frozenset(structured),
                _any(itertools.chain.from_iterable(structured.values())),
                sum(bit for bit, n in self._opened_signs.items() if n in places),
                _any(self._opened[n].pattern for n in sorted(unsigned.union(structured))),
            )
        return found

    def is_plain(self, line: str) -> bool:
        """True if the line is known to begin neither a section nor a heading nor an echoed command."""
        return line in self._plain

    def remember_plain(self, line: str) -> None:
        """Remember that the line begins nothing, wherever it occurs."""
        if len(line) < SHORT:
            if len(self._plain) >= _PLAIN_LIMIT:
                self._plain.clear()
            self._plain.add(line)

    def of_command(self, command: str) -> str | None:
        """The kind that this command prints, or None.

        The longest declared command with which the line begins is used, without ``sudo`` and paths. A command that ends
        in a folder covers every file in it, one that ends in a file covers this file name in any folder except /etc.
        The options of kubectl before its verb (``-n NAMESPACE``) are left out. An option is found without the value
        after its ``=``.
        """
        command = command[:_COMMAND_LENGTH].strip()
        for _ in range(_WRAPPERS):
            wrapped = _WRAPPER.match(command)
            command = command[wrapped.end() :] if wrapped else command
        words = command.split()
        if not words or words[0].rsplit("/", 1)[-1] not in self._programs:
            return None
        words[0] = words[0].rsplit("/", 1)[-1]
        words = kubectl.without_globals(words)
        for length in range(min(len(words), _COMMAND_WORDS), 0, -1):
            start = " ".join(words[:length])
            folder, _, file = words[length - 1].rpartition("/")
            names = [start, " ".join([*words[: length - 1], folder])] if folder else [start]
            if folder and folder != _SYSTEM:
                names.append(" ".join([*words[: length - 1], file]))
            option, has_value, _ = words[length - 1].partition("=")
            if has_value and option.startswith("--"):
                names.append(" ".join([*words[: length - 1], option]))
            kind = next((self._commands[name] for name in names if name in self._commands), None)
            if kind:
                return kind
        return None

    def tag(self, line: str, kind: str) -> prompt.Prefix | None:
        """The tag (not an indentation) after which a section of this kind begins in the line, or None."""
        for prefix in prompt.prefixes(line):
            if prefix.text.strip() and self.of_line(prefix.removed(line) or "") == kind:
                return prefix
        return None


@functools.lru_cache(8)
def kinds_of(parsers: tuple[Parser, ...]) -> Kinds:
    """The table of these parsers, built once because a paste is cut several times."""
    return Kinds(parsers)


_DIGITS = lazy_regex(
    r"(?P<width>\\d\{\d*,?\d*\})|\\u\w{4}|\\x\w\w|\\.|\{\d*,?\d*\}|\(\?P<\w+>"
    r"|(?P<set>\[(?!\^)(?:\\.|[^\]\\])*)\]|\[\^(?:\\.|[^\]\\])*\]|(?P<number>\d+)"
)
"""The parts of a pattern that contain a digit or could be mistaken for one."""


_ESCAPED = lazy_regex(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4})")
"""A character written as its code."""


def _beginning_with(letter: str, alternatives: Iterable[tuple[str, frozenset[str]]]) -> list[str]:
    """The alternatives of an anchor that may begin with a letter."""
    return [pattern for pattern, begins in alternatives if letter in begins]


def _any(anchors: Iterable[str]) -> re.Pattern[str]:
    return lazy_regex("|".join(anchors) or _NOTHING)


def _weight(text: str) -> int:
    """The number of characters of the longest word."""
    return max(map(len, text.split()), default=0)


@functools.cache
def _numbers_open(anchor: str) -> str | None:
    """The anchor with any number in place of its numbers; None if it has none."""
    opened = _DIGITS.sub(_any_number, anchor)
    return opened if opened != anchor else None


def _any_number(found: re.Match[str]) -> str:
    if found["number"] or found["width"]:
        return r"(?:\d+)"
    held = found["set"]
    if not held or not re.search(r"(?<!\\)\d", _ESCAPED.sub("", held.replace("0-9", ""))):
        return found[0]
    return rf"[\d{held[1:]}]"  # in front, because a hyphen at the end is literal
