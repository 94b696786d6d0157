"""Literals that expensive patterns require: a line that contains none of them is not matched.

`required` derives them from a pattern, `beginnings` its first letters. `Literals` searches for those of many patterns
at once, by the words of a text, because the words of a log repeat often. Those who ask about the same lines have one
table, `SHARED`.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

if sys.version_info >= (3, 11):
    from re import _constants as code  # type: ignore[attr-defined]  # what `re` parses a pattern with
    from re import _parser as reader  # type: ignore[attr-defined]
else:
    import sre_constants as code
    import sre_parse as reader

__all__ = [
    "SHARED",
    "Found",
    "Literals",
    "Shared",
    "Sign",
    "beginnings",
    "code",
    "folded",
    "needed",
    "reader",
    "required",
]

_SHORTEST = 2
"""Minimum number of consecutive letters of a literal."""
_FREQUENT = frozenset({"the", "and", "you"})
"""Words that are in more lines than any other word of three letters."""
_WIDEST = 26
"""Maximum size of a range whose letters are expanded."""
_REMEMBERED = 1 << 16
_LONGEST, _LINES = 2000, 1 << 14
"""Maximum length of a line whose answer is remembered, and number of such lines."""
_ZEROS = bytes.maketrans(b"123456789", b"000000000")

T = TypeVar("T")
_NOBODY: frozenset[Any] = frozenset()


class Sign(NamedTuple):
    """A literal in lines that an anchor matches: at their start (``at_start``), or anywhere.

    ``any_case``: in lower case here, in any case in the line.
    """

    literal: str
    at_start: bool = False
    any_case: bool = False


class Found(NamedTuple):
    """How to find the lines of an anchor.

    Each line has one of the ``signs``, or matches a pattern of ``structured``: alternatives without a sign, each with
    the characters with which it may begin (in lower case, 0 for any digit). ``lacking`` are the alternatives, as
    patterns, for which neither is known.
    """

    signs: tuple[Sign, ...] = ()
    structured: tuple[tuple[str, frozenset[str]], ...] = ()
    lacking: tuple[str, ...] = ()


def needed(pattern: str, flags: int = 0) -> frozenset[str]:
    """Literals, one of which is in every text that the pattern matches; empty if it requires none.

    They are in lower case, with 0 for any digit, as `Literals` expects them.
    """
    return next((each for each in required(pattern, flags) if _worth(each) >= _SHORTEST), frozenset())


def required(pattern: str, flags: int = 0, *, in_case: bool = False) -> tuple[frozenset[str], ...]:
    """Sets of such literals: every text that the pattern matches has one of each. The rarest literals come first.

    A single mark, such as ``=``, may be one of them.
    ``in_case``: literals as they are in the text; none of what the pattern matches in any case.
    """
    parsed = reader.parse(pattern, flags)
    if in_case and parsed.state.flags & code.SRE_FLAG_IGNORECASE:
        return ()
    found = [frozenset(each) for each in _sets(parsed, str if in_case else folded) if _worth(each)]
    return tuple(sorted(dict.fromkeys(found), key=_worth, reverse=True))


def _sets(items: Iterable[tuple[Any, Any]], form: Callable[[str], str]) -> Iterator[set[str]]:
    """Sets of literals, in a form, one of each of which the items of a sequence require."""
    run = ""
    for kind, value in [*items, (None, None)]:
        letter = _letter(kind, value, form)
        if letter is not None:
            run += letter
            continue
        if run:
            yield {run}
            run = ""
        if kind is code.SUBPATTERN:
            any_case = form is str and value[1] & code.SRE_FLAG_IGNORECASE
            yield from () if any_case else _sets(value[3], form)
        elif kind is code.BRANCH:
            best = [max(_sets(branch, form), key=_worth, default=set[str]()) for branch in value[1]]
            yield set[str]().union(*best) if all(map(_worth, best)) else set()
        elif kind in {code.MAX_REPEAT, code.MIN_REPEAT} and value[0] >= 1:
            yield from _sets(value[2], form)
        elif kind is code.ASSERT and value[0] == 1:
            yield from _sets(value[1], form)
        elif kind is code.IN and all(inner is code.LITERAL for inner, _ in value):
            yield {form(chr(letter)) for _, letter in value}


def beginnings(pattern: str) -> frozenset[str]:
    """The possible first letters of a text that the pattern matches, as `Literals` expects them; empty for any."""
    first, may_be_empty = _first(reader.parse(pattern))
    return frozenset() if may_be_empty or None in first else frozenset(letter for letter in first if letter)


def _first(items: Iterable[tuple[Any, Any]]) -> tuple[set[str | None], bool]:
    """The first letters of a sequence (including None for any letter), and whether it may be empty."""
    found: set[str | None] = set()
    for kind, value in items:
        if kind in {code.AT, code.ASSERT, code.ASSERT_NOT}:
            continue
        first, may_be_empty = _first_of(kind, value)
        found |= first
        if not may_be_empty:
            return found, False
    return found, True


def _first_of(kind: object, value: Any) -> tuple[set[str | None], bool]:  # noqa: ANN401
    if kind is code.LITERAL:
        return {folded(chr(value))}, False
    if kind is code.IN:
        return set[str | None]().union(*(_of_set(inner, held) for inner, held in value)), False
    if kind is code.SUBPATTERN:
        return _first(value[3])
    if kind is code.BRANCH:
        branches = [_first(branch) for branch in value[1]]
        return set[str | None]().union(*(first for first, _ in branches)), any(empty for _, empty in branches)
    if kind in {code.MAX_REPEAT, code.MIN_REPEAT}:
        first, may_be_empty = _first(value[2])
        return first, may_be_empty or value[0] == 0
    return {None}, False


def _of_set(kind: object, value: Any) -> set[str | None]:  # noqa: ANN401
    """The letters of one part of a set; includes None for any letter."""
    if kind is code.LITERAL:
        return {folded(chr(value))}
    if kind is code.RANGE and value[1] - value[0] <= _WIDEST:
        return {folded(chr(letter)) for letter in range(value[0], value[1] + 1)}
    return {"0"} if (kind, value) == (code.CATEGORY, code.CATEGORY_DIGIT) else {None}


def _letter(kind: object, value: Any, form: Callable[[str], str]) -> str | None:  # noqa: ANN401  (what `re` parses)
    """The single letter that an item matches, in a form in which all its cases are one."""
    if kind is code.LITERAL:
        return form(chr(value))
    if kind is code.IN and all(inner is code.LITERAL for inner, _ in value):
        letters = {form(chr(letter)) for _, letter in value}
        return letters.pop() if len(letters) == 1 else None
    return None


def _worth(literals: Iterable[str]) -> int:
    """How rare the most frequent of some literals is: 0 if a single letter, or a blank, is one of them."""
    return min(map(_rarity, literals), default=0)


def _rarity(literal: str) -> int:
    """The length of the longest word, of which a letter outside ASCII counts as several; 1 for a single mark."""
    part = _longest_word(literal)
    if part in _FREQUENT:
        return _SHORTEST
    size = len(part.encode("utf-8", "surrogatepass"))
    return size if size >= _SHORTEST or not part.isalnum() else 0


def _longest_word(literal: str) -> str:
    return literal if literal.isalnum() else max(literal.split(), key=len, default="")


def folded(text: str) -> str:
    """The text in the form of literals: lower case, with 0 for each digit."""
    low = text.lower().encode("utf-8", "surrogatepass")  # translating text takes ten times as long
    return low.translate(_ZEROS).decode("utf-8", "surrogatepass")


class Literals(Generic[T]):
    """The literals of several owners; finds the owners whose literals a text contains.

    Inside, a number has a bit for each owner: these are joined faster than sets, for each word of each line.
    """

    def __init__(self) -> None:
        """No literals yet."""
        self._by_begin: defaultdict[str, list[tuple[str, str, int]]] = defaultdict(list)
        self._of_word = _OfWord(self._by_begin)
        self._owners: list[T] = []
        self._known: dict[int, frozenset[T]] = {0: _NOBODY}

    def add(self, owner: T, literals: Iterable[str]) -> None:
        """Add literals of one more owner, in lower case and with 0 for any digit."""
        bit = 1 << len(self._owners)
        self._owners.append(owner)
        for literal in literals:
            part = _longest_word(literal)
            self._by_begin[part[:_SHORTEST]].append((part, literal, bit))
        self._of_word.clear()

    def owners(self, text: str) -> frozenset[T]:
        """The owners of the literals in the text, in either case."""
        found = self.bits(folded(text))
        known = self._known
        if found not in known:
            if len(known) >= _REMEMBERED:
                known = self._known = {0: _NOBODY}
            known[found] = frozenset(self._owners[bit.bit_length() - 1] for bit in single(found))
        return known[found]

    def bits(self, text: str) -> int:
        """The bits of these owners, for a text in the form of literals."""
        found = 0
        for sure, phrases in filter(None, map(self._of_word.__getitem__, set(text.split()))):
            found |= sure
            for literal, bits in phrases:
                if literal in text:
                    found |= bits
        return found


class _OfWord(dict[str, tuple[int, tuple[tuple[str, int], ...]] | None]):
    """By words: the bits of literals that are in the word, and literals of several words one of which it may be."""

    def __init__(self, by_begin: Mapping[str, Iterable[tuple[str, str, int]]]) -> None:
        """``by_begin``: the literals behind their longest words, by the first letters of these."""
        super().__init__()
        self._by_begin = by_begin

    def __missing__(self, word: str) -> tuple[int, tuple[tuple[str, int], ...]] | None:
        """Look for the literals in a word that is not known yet."""
        if len(self) >= _REMEMBERED:
            self.clear()
        known = self._by_begin
        begins = {word[at : at + _SHORTEST] for at in range(len(word))}.union(word)
        here = [held for begin in begins & known.keys() for held in known[begin] if held[0] in word]
        sure, phrases = 0, dict[str, int]()
        for part, literal, bit in here:
            if part == literal:
                sure |= bit
            else:
                phrases[literal] = phrases.get(literal, 0) | bit
        others = tuple((literal, bits) for literal, bits in phrases.items() if bits & ~sure)
        found = self[word] = (sure, others) if here else None
        return found


def single(bits: int) -> Iterator[int]:
    """Each of some bits."""
    while bits:
        bit = bits & -bits
        yield bit
        bits ^= bit


class Shared:
    """The literals of owners who ask about the same lines, each by the owner's bit."""

    def __init__(self) -> None:
        """No owner yet."""
        self._lock = threading.RLock()
        self._bits: dict[Hashable, int] = {}
        self._entered: list[frozenset[str]] = []
        self._waiting: list[Callable[[], None]] = []
        self._table: _Table | None = None
        self._last = _Table(()), "", (0, "")

    def later(self, enter: Callable[[], None]) -> None:
        """Call ``enter``, which adds literals, before a line is searched: finding out which ones takes time."""
        with self._lock:
            self._waiting.append(enter)
            self._table = None

    def add(self, literals: Iterable[str], owner: Hashable = None) -> int:
        """Add the literals of an owner; returns the bit, which is the same for all ``owner`` that are equal."""
        with self._lock:
            if owner in self._bits:
                return self._bits[owner]
            bit = 1 << len(self._entered)
            if owner is not None:
                self._bits[owner] = bit
            self._entered.append(frozenset(literals))
            self._table = None
            return bit

    def of(self, text: str) -> tuple[int, str]:
        """The owners that may have a literal in the text, and the text in the form of literals.

        If it is a part of the last one, the same of that.
        """
        table, last, found = self._last
        if table is self._table and (text == last or (len(last) <= _LONGEST and text in last)):
            return found
        table = self._made()
        found = table.of(text)
        self._last = table, text, found
        return found

    def in_all(self, text: str) -> tuple[int, str]:
        """The owners that have a literal in the text, and the text in the form of literals."""
        return self._made().of(text)

    def _made(self) -> _Table:
        """A table with the literals of all who are known by now, as modules are imported late."""
        table = self._table
        if table is not None:
            return table
        with self._lock:
            while self._waiting:
                self._waiting.pop()()
            if self._table is None:
                self._table = _Table(self._entered)
            return self._table


class _Table:
    """The literals of all owners that were known when it was made."""

    def __init__(self, entered: Iterable[frozenset[str]]) -> None:
        self.literals = Literals[int]()
        for number, literals in enumerate(entered):
            self.literals.add(number, literals)
        self.remembered = functools.lru_cache(_LINES)(self._searched)

    def of(self, text: str) -> tuple[int, str]:
        """The bits of the owners of the literals in a text, and the text in their form."""
        return self.remembered(text) if len(text) <= _LONGEST else self._searched(text)

    def _searched(self, text: str) -> tuple[int, str]:
        low = folded(text)
        return self.literals.bits(low), low


SHARED = Shared()
"""The table of what is asked about single lines: anchors, signs of failures, guarded patterns."""
