"""Patterns that few lines match: each alternative is tried in the lines that contain a literal it requires.

The literals of all these patterns are searched at once, and the answer for a line is remembered: many patterns ask for
the same one.
"""

from __future__ import annotations

import atexit
import functools
import re
import sys
import threading
from typing import Any, ClassVar, cast

import msgspec

from ncdiag.base import compiled
from ncdiag.base.patterns import lazy_regex
from ncdiag.base.programs import Kept, compile_once
from ncdiag.formats import literals
from ncdiag.formats.literals import Literals, needed, reader

_LONGEST, _REMEMBERED = 2000, 1 << 12
"""Maximum length of a line whose answer is remembered, and number of such lines."""
_INLINE = lazy_regex(r"\s*\(\?([imsx]+)\)")
_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}


class Branch(msgspec.Struct, frozen=True, array_like=True):
    """An alternative of a pattern, with literals of which each match contains one; none if it requires none."""

    pattern: str
    literals: frozenset[str]


class _Guarded:
    """A pattern that is compiled on first use, alternative by alternative where it is searched."""

    def __init__(self, pattern: str, flags: int) -> None:
        inline = _INLINE.match(pattern)
        for letter in inline[1] if inline else "":
            flags |= _FLAGS[letter]
        self.pattern, self._flags = pattern[inline.end() :] if inline else pattern, flags
        self._number = _Table.define(self)

    @functools.cached_property
    def branches(self) -> tuple[Branch, ...]:
        """The alternatives, in their order."""
        key = f"{self._flags} {self.pattern}"
        return _kept().of(key, tuple[Branch, ...], lambda: tuple(_branches(self.pattern, self._flags)))

    @functools.cached_property
    def _always(self) -> frozenset[int]:
        return frozenset(at for at, branch in enumerate(self.branches) if not branch.literals)

    def search(self, text: str, *place: int) -> re.Match[str] | None:
        """The first match in the text, as `re.Pattern.search` finds it, from the ``place`` on."""
        table = _Table.latest
        if table is None or table.size <= self._number:
            table = _Table.of(self._number)
        found = table.remembered(text) if len(text) <= _LONGEST else table.alternatives(text)
        may = found.get(self._number, ())
        if not may and not self._always:
            return None
        best: re.Match[str] | None = None
        for at in sorted({*may, *self._always}):
            match = self._compiled(at).search(text, *place)
            if match is not None and (best is None or match.start() < best.start()):
                best = match
        return best

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


class _Table:
    """The literals of all patterns that were defined when it was made."""

    _lock = threading.Lock()
    _defined: ClassVar[list[_Guarded]] = []
    latest: ClassVar[_Table | None] = None

    def __init__(self, guards: list[_Guarded]) -> None:
        self._literals, self.size = Literals[tuple[int, int]](), len(guards)
        for number, guard in enumerate(guards):
            for at, branch in enumerate(guard.branches):
                self._literals.add((number, at), branch.literals)
        self.remembered = functools.lru_cache(_REMEMBERED)(self.alternatives)

    @classmethod
    def define(cls, guard: _Guarded) -> int:
        """Take a new pattern; returns its number."""
        with cls._lock:
            cls._defined.append(guard)
            return len(cls._defined) - 1

    @classmethod
    def of(cls, number: int) -> _Table:
        """A table that has the literals of a pattern: of all that are defined by now, as modules are imported late."""
        table = cls.latest
        if table is None or table.size <= number:
            with cls._lock:
                table = cls.latest = _Table(cls._defined)
        return table

    def alternatives(self, text: str) -> dict[int, tuple[int, ...]]:
        """By the numbers of the patterns, the alternatives that may match a text."""
        found: dict[int, tuple[int, ...]] = {}
        for number, at in self._literals.owners(text):
            found[number] = (*found.get(number, ()), at)
        return found


def guarded_regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Like `lazy_regex`, for a pattern of several alternatives that is searched in every line and found in few.

    ``search`` takes the text alone; it tries the alternatives without a literal in every line.
    """
    return cast("re.Pattern[str]", _Guarded(pattern, flags))


def _branches(pattern: str, flags: int) -> list[Branch]:
    has_groups = reader.parse(pattern, flags).state.groups > 1  # their numbers would change
    parts = [pattern] if has_groups else split(pattern, verbose=bool(flags & re.VERBOSE))
    return [Branch(part, needed(part, flags)) for part in parts]


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
