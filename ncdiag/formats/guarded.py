"""Patterns that few lines match: each alternative is tried in the lines that contain a literal it requires.

The literals of all these patterns, and those of others who ask about single lines, are searched at once.
"""

from __future__ import annotations

import atexit
import functools
import operator
import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any, cast

import msgspec

from ncdiag.base import compiled
from ncdiag.base.patterns import lazy_regex
from ncdiag.base.programs import Kept, compile_once
from ncdiag.formats import literals
from ncdiag.formats.literals import SHARED, needed, reader, required, single

_INLINE = lazy_regex(r"\s*\(\?([imsx]+)\)")
_OTHERS, _MOST = 3, 16
"""Maximum number of further sets of literals of an alternative that are looked for, and of the literals of one."""
_REMEMBERED = 1 << 12
"""Sets of literals whose alternatives are remembered."""
_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}


class Branch(msgspec.Struct, frozen=True, array_like=True):
    """An alternative of a pattern, with literals of which each match contains one; none if it requires none.

    ``others``: further sets of literals, one of each of which is in the text as well; ``in_case``: in the text as it
    is, else in its form of literals.
    """

    pattern: str
    literals: frozenset[str]
    others: tuple[tuple[str, ...], ...] = ()
    in_case: bool = False


class _Guarded:
    """A pattern that is compiled on first use, alternative by alternative where it is searched."""

    def __init__(self, pattern: str, flags: int) -> None:
        inline = _INLINE.match(pattern)
        for letter in inline[1] if inline else "":
            flags |= _FLAGS[letter]
        self.pattern, self._flags = pattern[inline.end() :] if inline else pattern, flags
        self._always: tuple[int, ...] = ()
        self._places: dict[int, int] = {}
        self._bits = 0
        self._woken: dict[int, list[int]] = {}
        SHARED.later(self._enter)

    @functools.cached_property
    def branches(self) -> tuple[Branch, ...]:
        """The alternatives, in their order."""
        key = f"{self._flags} {self.pattern}"
        return _kept().of(key, tuple[Branch, ...], lambda: tuple(_branches(self.pattern, self._flags)))

    def _enter(self) -> None:
        """Have the literals of the alternatives searched."""
        self._woken = {}
        self._always = tuple(at for at, branch in enumerate(self.branches) if not branch.literals)
        self._places = {SHARED.add(each.literals): at for at, each in enumerate(self.branches) if each.literals}
        self._bits = functools.reduce(operator.or_, self._places, 0)

    def search(self, text: str, *place: int) -> re.Match[str] | None:
        """The first match in the text, as `re.Pattern.search` finds it, from the ``place`` on."""
        best: re.Match[str] | None = None
        for at in self._awake(text):
            match = self._compiled(at).search(text, *place)
            if match is not None and (best is None or match.start() < best.start()):
                best = match
        return best

    def match(self, text: str) -> re.Match[str] | None:
        """The match at the beginning of the text, as `re.Pattern.match` finds it."""
        found = (self._compiled(at).match(text) for at in self._awake(text))
        return next((match for match in found if match is not None), None)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """The matches in the text, one after the other, as `re.Pattern.finditer` finds them."""
        match = self.search(text)
        while match is not None:
            yield match
            match = self.search(text, match.end() + (match.end() == match.start()))

    def _awake(self, text: str) -> Sequence[int]:
        """The places of the alternatives that may match in a text, in their order."""
        bits, low = SHARED.of(text)
        may = bits & self._bits
        if not may and not self._always:
            return ()
        woken, branches = self._woken, self.branches
        if may not in woken:
            if len(woken) >= _REMEMBERED:
                woken = self._woken = {}
            woken[may] = sorted([*map(self._places.__getitem__, single(may)), *self._always])
        return [at for at in woken[may] if not branches[at].others or _may_match(branches[at], text, low)]

    @functools.cached_property
    def _held(self) -> dict[int, re.Pattern[str]]:
        return {}

    def _compiled(self, at: int) -> re.Pattern[str]:
        held = self._held.get(at)
        if held is None:
            held = self._held[at] = compile_once(self.branches[at].pattern, self._flags)
        return held

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  (called only for what is not kept yet)
        found = getattr(compile_once(self.pattern, self._flags), name)
        setattr(self, name, found)
        return found


def guarded_regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Like `lazy_regex`, for a pattern of several alternatives that is searched in every line and found in few.

    ``search`` tries the alternatives without a literal in every line.
    """
    return cast("re.Pattern[str]", _Guarded(pattern, flags))


def _may_match(branch: Branch, text: str, low: str) -> bool:
    """False if a text, which ``low`` has in the form of literals, lacks all literals of one of the other sets."""
    text = text if branch.in_case else low
    for some in branch.others:
        for literal in some:
            if literal in text:
                break
        else:
            return False
    return True


def _branches(pattern: str, flags: int) -> list[Branch]:
    has_groups = reader.parse(pattern, flags).state.groups > 1  # their numbers would change
    parts = [pattern] if has_groups else split(pattern, verbose=bool(flags & re.VERBOSE))
    return [_branch(part, flags) for part in parts]


def _branch(pattern: str, flags: int) -> Branch:
    first, in_case = needed(pattern, flags), required(pattern, flags, in_case=True)
    others = in_case or [each for each in required(pattern, flags) if each != first]
    few = sorted((tuple(sorted(each)) for each in others if len(each) <= _MOST), key=len)
    return Branch(pattern, first, tuple(few[:_OTHERS]), bool(in_case))


def split(pattern: str, *, verbose: bool = False) -> list[str]:
    """The alternatives of a pattern: what is between the bars outside groups and sets. Comments stay if ``verbose``."""
    parts, start, depth, at = [], 0, 0, 0
    while at < len(pattern):
        letter = pattern[at]
        if letter == "\\":
            at += 1
        elif letter == "[":
            at = _end_of_set(pattern, at)
        elif letter == "#" and verbose:
            at = pattern.find("\n", at) % (len(pattern) + 1)
        elif letter == "|" and not depth:
            parts.append(pattern[start:at])
            start = at + 1
        else:
            depth += (letter == "(") - (letter == ")")
        at += 1
    return [*parts, pattern[start:]]


def _end_of_set(pattern: str, at: int) -> int:
    """The index of the bracket that ends a set; one that is its first letter does not."""
    at += 2 if pattern.startswith("[^", at) else 1
    at += pattern.startswith("]", at)
    while at < len(pattern) and pattern[at] != "]":
        at += 2 if pattern[at] == "\\" else 1
    return at


@functools.cache
def _kept() -> Kept:
    kept = Kept(compiled.cache_file("guards", (__file__, literals.__file__)), sys.version)
    atexit.register(kept.write)
    return kept
