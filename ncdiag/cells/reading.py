"""What a line says: the objects and reasons that it names, and the cells that they make."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.cells.errnos import errnos
from ncdiag.cells.vocabulary import TOKEN, Spelling, Vocabulary

LONGEST = 1000
"""Maximum number of characters of a line that are read."""
UNKNOWN = "unknown"
"""The reason of words that only say that something failed."""
_BREAK = lazy_regex(r"[.;:!?)\]][\s\"']|\s[-|]\s|[\u3002\uff1b\uff1a]")
"""Where a clause ends."""
_COMMA = lazy_regex(r",\s|\uff0c")
"""It ends a clause too, except in a list: ``no Xid, ECC or link errors``."""
_DENIALS = frozenset("no not never without 0 zero nor neither don isn wasn didn doesn aren weren none ok".split())  # noqa: SIM905
"""Words that deny a reason that follows."""
_LISTS = frozenset({"no", "without", "0", "zero", "never", "nor", "neither"})
"""Denials of all that follows in the clause: ``no Xid, ECC or link errors``."""
_JOINING = frozenset({"or", "and", "nor"})
_NEAR, _FAR = 2, 6
"""Maximum number of words between a denial and what it denies; `_FAR` for those in `_LISTS`."""
_OPTION = lazy_regex(r"\s*-{1,2}[a-zA-Z][\w-]*(?:[ =,]|\Z)|\s*(?:usage|options?):", re.IGNORECASE)
"""A line of a help text, or an option of a command."""
_COUNTED = frozenset({"0", "ok", "none"})
_COUNTERS = frozenset({"values", "count", "counts", "total", "number", "errors", "s"})


class Found(NamedTuple):
    """A spelling in a line, and its place in the words of the line."""

    begin: int
    end: int
    spelling: Spelling


class Said(msgspec.Struct, frozen=True):
    """The objects and reasons of a line, in its order; ``own``: objects with the reason of a fixed string of theirs."""

    objects: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    own: tuple[tuple[str, str], ...] = ()

    def cells(self) -> Iterator[tuple[str, str]]:
        """The lit cells: those of the fixed strings, and each object with each reason."""
        yield from self.own
        for reason in self.reasons:
            for thing in self.objects:
                yield thing, reason


def said(text: str, words: Vocabulary) -> Said:
    """What a line says; nothing for a line of a help text."""
    text = text[:LONGEST].lower()
    line = TOKEN.findall(text)
    found = [Found(place, place + len(each.words), each) for place, each in words.at(line)]
    if any(map(str.isdigit, line)):
        found = list(_numbered(text, found, words))
    if not found or _OPTION.match(text):
        return Said()
    things = _longest(each for each in found if each.spelling.object and not each.spelling.reason)
    whys = _longest(each for each in found if each.spelling.reason)
    if whys and not _DENIALS.isdisjoint(line):
        covered = {place for each in (*things, *whys) for place in range(each.begin, each.end)}
        clauses, commas = _numbers(text, _BREAK), _numbers(text, _COMMA)
        whys = [each for each in whys if not _is_denied(line, each, clauses, commas, covered)]
    fixed = [each for each in whys if each.spelling.fixed and each.spelling.reason != UNKNOWN][-1:]
    chosen = fixed or [each for each in whys if each.spelling.reason != UNKNOWN] or whys
    return Said(
        tuple(dict.fromkeys(each.spelling.object for each in things)),
        tuple(dict.fromkeys(each.spelling.reason for each in chosen)),
        tuple(dict.fromkeys((e.spelling.object, e.spelling.reason) for e in chosen if e.spelling.object)),
    )


def _numbered(text: str, found: list[Found], words: Vocabulary) -> Iterator[Found]:
    """The spellings, and the numbers of errno; ``error 12`` of a spelling is not the ``error -12`` of a line."""
    numbers = list(errnos(text))
    starts = [word.start() for word in TOKEN.finditer(text)] if numbers else []
    negative = {bisect_left(starts, each.place) for each in numbers if each.negative}
    yield from (each for each in found if negative.isdisjoint(range(each.begin, each.end)))
    for each in numbers:
        if (reason := words.errnos.get(each.number)) is not None:
            begin, end = bisect_left(starts, each.begin), bisect_left(starts, each.place) + 1
            yield Found(begin, end, Spelling((), "", reason, fixed=True))


def _longest(named: Iterable[Found]) -> list[Found]:
    """Those that are not inside a longer one; of fixed strings and words in one place, the fixed string."""
    held = sorted(named, key=lambda each: (each.begin - each.end, not each.spelling.fixed))
    kept: list[Found] = []
    for each in held:
        over = [one for one in kept if one.begin <= each.begin and each.end <= one.end]
        if not any(one.end - one.begin > each.end - each.begin or one.spelling.fixed for one in over):
            kept.append(each)
    return sorted(kept, key=lambda each: each.begin)


def _numbers(text: str, breaks: re.Pattern[str]) -> list[int]:
    """The number of breaks before each word."""
    ends = [each.start() for each in breaks.finditer(text)]
    return [bisect_left(ends, word.start()) for word in TOKEN.finditer(text)]


def _is_denied(
    line: Sequence[str], why: Found, clauses: Sequence[int], commas: Sequence[int], covered: Collection[int]
) -> bool:
    """True if words before deny the reason, or if its count follows and is 0; not by words of another spelling."""
    for place in range(max(0, why.begin - _FAR), why.begin):
        word = line[place]
        near = why.begin - place <= _NEAR
        if word not in _DENIALS or place in covered or not (near or word in _LISTS):
            continue
        is_list = word in _LISTS and not _JOINING.isdisjoint(line[place : why.begin])
        if clauses[place] == clauses[why.begin] and (commas[place] == commas[why.begin] or is_list):
            return True
    after = why.end
    while after < len(line) and line[after] in _COUNTERS:
        after += 1
    return after < len(line) and line[after] in _COUNTED
