"""Find the lines that an anchor may match: literals, of which each alternative needs one.

They are derived from the pattern. One search for the literals of all parsers leaves few lines to be matched.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from ncdiag.formats.literals import Found, Sign, beginnings, code, reader

SHORTEST = 4
"""Minimum length of a literal in bytes."""
_FEWEST = 2
"""Minimum number of non-blank bytes of a literal."""
_ENOUGH = 6
"""Minimum length from which few literals are preferred to long ones."""
_MOST = 64
"""Maximum number of literals of one alternative."""

Texts = frozenset[str]
_EMPTY: Texts = frozenset({""})


Choice = frozenset[Sign]
"""Signs, one of which is in each text that a pattern matches."""


def found_by(anchor: str, declared: Collection[str] = (), structure: str = "") -> Found:
    """The signs, and the alternatives without one, that find every line that the anchor matches.

    Of the signs of an alternative, those that contain ``declared`` literals come first, then the longest. Alternatives
    without signs must begin with characters of ``structure``.
    """
    signs, structured, lacking = dict[Sign, None](), list[tuple[str, frozenset[str]]](), list[str]()
    for branch in branches(anchor):
        chosen = _chosen(branch, declared)
        begins = beginnings(branch)
        if chosen:
            signs |= dict.fromkeys(sorted(chosen))
        elif begins and begins <= set(structure):
            structured.append((branch, begins))
        else:
            lacking.append(branch)
    return Found(tuple(signs), tuple(structured), tuple(lacking))


def branches(pattern: str) -> list[str]:
    """The alternatives of a pattern, as patterns; none if it is empty or ``(?!)``, which matches nothing."""
    found, depth, in_set, opened, start, at = list[str](), 0, False, 0, 0, 0
    while at < len(pattern):
        letter = pattern[at]
        if letter == "\\":
            at += 1
        elif in_set:
            in_set = letter != "]" or pattern[opened + 1 : at] in {"", "^"}
        elif letter == "[":
            in_set, opened = True, at
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif letter == "|" and not depth:
            found.append(pattern[start:at])
            start = at + 1
        at += 1
    return [branch for branch in (*found, pattern[start:]) if branch not in {"", "(?!)"}]


def _chosen(branch: str, declared: Collection[str]) -> Choice:
    """The signs of one alternative; empty if all are too short or too many."""
    parsed = reader.parse(branch)
    finder = _Choices(tuple(declared), any_case=bool(parsed.state.flags & code.SRE_FLAG_IGNORECASE))
    return _best(finder.of(parsed, at_start=True), declared)


def _best(choices: Iterable[Choice], declared: Collection[str]) -> Choice:
    """The declared literals if each sign of a choice contains one, else the best choice."""
    held = list(choices)
    for choice in held:
        named = [_named(sign, declared) for sign in choice]
        if named and None not in named:
            return frozenset(filter(None, named))
    worthy = (choice for choice in held if 0 < len(choice) <= _MOST and all(map(_says_something, choice)))
    return max(worthy, key=_worth, default=frozenset())


def _named(sign: Sign, declared: Collection[str]) -> Sign | None:
    """The first declared literal that the sign contains."""
    text = next((text for text in declared if text in sign.literal), None)
    return (
        None if text is None else sign._replace(literal=text, at_start=sign.at_start and sign.literal.startswith(text))
    )


def _says_something(sign: Sign) -> bool:
    return _size(sign.literal) >= SHORTEST and _size("".join(sign.literal.split())) >= _FEWEST


def _size(literal: str) -> int:
    return len(literal.encode())


def _worth(choice: Choice) -> tuple[int, int, int]:
    shortest = min(_size(sign.literal.strip()) for sign in choice)
    return min(shortest, _ENOUGH), -len(choice), shortest


class _Choices(NamedTuple):
    """Finds sets of signs in a pattern parsed by `re`; each text of the pattern contains one sign of each set."""

    declared: tuple[str, ...]
    any_case: bool

    def of(self, items: Iterable[tuple[Any, Any]], *, at_start: bool) -> Iterator[Choice]:
        """The sets of a sequence; ``at_start``: it begins the line."""
        run, begins = _EMPTY, at_start
        for kind, value in [*items, (None, None)]:
            if kind in {code.AT, code.ASSERT_NOT}:
                continue
            if kind is code.ASSERT:
                yield from self.of(value[1], at_start=False) if value[0] == 1 else ()
                continue
            texts = _texts(kind, value)
            if texts and len(run) * len(texts) <= _MOST:
                if len(texts) > 1:
                    yield self._signs(run, at_start=begins)
                run = _joined(run, texts)
                continue
            yield self._signs(run, at_start=begins)
            again = _repeated(kind, value)
            if again and len(run) * len(again) <= _MOST:
                yield self._signs(_joined(run, again), at_start=begins)
            yield from self._inner(kind, value, at_start=begins and run == _EMPTY)
            run, begins = again or _EMPTY, False

    def _inner(self, kind: object, value: Any, *, at_start: bool) -> Iterator[Choice]:  # noqa: ANN401
        """The sets of one item of a sequence."""
        if kind is code.SUBPATTERN:
            inside = self._replace(any_case=self.any_case or bool(value[1] & code.SRE_FLAG_IGNORECASE))
            yield from inside.of(value[3], at_start=at_start)
        elif kind is code.BRANCH:
            best = [_best(self.of(branch, at_start=at_start), self.declared) for branch in value[1]]
            if all(best):
                yield frozenset[Sign]().union(*best)
        elif kind in {code.MAX_REPEAT, code.MIN_REPEAT} and value[0] >= 1:
            yield from self.of(value[2], at_start=at_start)

    def _signs(self, run: Texts, *, at_start: bool) -> Choice:
        return frozenset(Sign(text.lower() if self.any_case else text, at_start, self.any_case) for text in run)


def _joined(run: Texts, texts: Texts) -> Texts:
    return frozenset(before + text for before, text in itertools.product(run, texts))


def _repeated(kind: object, value: Any) -> Texts | None:  # noqa: ANN401
    """The texts that an item repeats one or more times, if they are few; else None."""
    if kind in {code.MAX_REPEAT, code.MIN_REPEAT} and value[0] >= 1:
        return _of_sequence(value[2])
    return None


def _texts(kind: object, value: Any) -> Texts | None:  # noqa: ANN401
    """All texts that an item matches; None if there are too many."""
    if kind is code.LITERAL:
        return frozenset({chr(value)})
    if kind is code.IN:
        sets = [_of_set(inner, held) for inner, held in value]
        return _union(sets)
    if kind is code.SUBPATTERN and not value[1]:
        return _of_sequence(value[3])
    if kind is code.BRANCH:
        return _union([_of_sequence(branch) for branch in value[1]])
    if kind in {code.MAX_REPEAT, code.MIN_REPEAT} and value[1] == 1:
        once = _of_sequence(value[2])
        return once | (frozenset() if value[0] else _EMPTY) if once else None
    return None


def _union(sets: Collection[Texts | None]) -> Texts | None:
    known = [texts for texts in sets if texts]
    return frozenset[str]().union(*known) if len(known) == len(sets) else None


def _of_set(kind: object, value: Any) -> Texts | None:  # noqa: ANN401
    if kind is code.LITERAL:
        return frozenset({chr(value)})
    if kind is code.RANGE and value[1] - value[0] < _MOST:
        return frozenset(map(chr, range(value[0], value[1] + 1)))
    return frozenset("0123456789") if (kind, value) == (code.CATEGORY, code.CATEGORY_DIGIT) else None


def _of_sequence(items: Iterable[tuple[Any, Any]]) -> Texts | None:
    """All texts that a sequence matches; None if there are too many."""
    found = _EMPTY
    for kind, value in items:
        texts = _texts(kind, value)
        if texts is None or len(found) * len(texts) > _MOST:
            return None
        found = _joined(found, texts)
    return found
