"""Texts that collect messages of unrelated faults: a handbook, a FAQ, slides, an exam, in whatever language.

The messages of one failure are related: next to each other, of one process, of one kind. Somebody who explains messages
puts one of each kind between sentences.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.own_trouble import ends_with_question, is_of_one_person, is_reported_by_several
from ncdiag.formats.blocks.stretches import stretches
from ncdiag.formats.line_kinds import is_item, is_sentence, is_title, kind_of

_PLACES, _KINDS, _CAUSES = 3, 3, 2
"""Minimum number of places with specific messages, of their categories, and of those that may be causes."""
_APART = 2
"""Maximum distance of two lines in one place."""
_LONGEST = 5
"""Maximum number of lines of an example."""
_PROSE = frozenset({"prose", "quoted"})
_LOGGED = lazy_regex(r"^\s*\d+[\t:|]|\d\.\d{6}\]|\d\d:\d\d:\d\d")
"""A line of a listing with numbers, or with the time of a log, whatever is around it."""
_MARKUP = ("\\", "<", "```", "~~~")


class Failure(NamedTuple):
    """What a line reports: its category; whether this names what failed, and may be the cause of other failures."""

    category: str
    is_specific: bool
    is_cause: bool


Place = tuple[int, int]
"""The indexes of the first and last line of messages that are next to each other."""


def assorted(lines: Sequence[str], failures: Mapping[int, Failure], runs: Sequence[bool]) -> Iterator[Place]:
    """The examples of a collection with what is written about each, but for those beside a report of one person.

    Nothing is a collection that ends with a question, or in which several people say what went wrong.

    ``failures``: what lines report, by their index; ``runs``: whether each line belongs to the log of a run.
    """
    places = list(_places(lines, sorted(index for index in failures if not runs[index])))
    found = [[failures[at] for at in range(first, last + 1) if at in failures] for first, last in places]
    specific = [{each.category for each in those if each.is_specific} for those in found]
    causes = {each.category for those in found for each in those if each.is_cause}
    if (
        sum(map(bool, specific)) < _PLACES
        or len(set().union(*specific)) < _KINDS
        or len(causes) < _CAUSES
        or sum(map(is_sentence, lines)) < _PLACES
        or not _is_mostly_written(lines, places, runs)
        or ends_with_question(lines)
        or any(map(is_reported_by_several, lines))
    ):
        return
    ends = [-1, *(last for _, last in places)]
    begins = [*(first for first, _ in places), len(lines)]
    for (first, last), above, below in zip(places, ends, begins[1:], strict=False):
        around = [*range(above + 1, first), *range(last + 1, below)]
        if _is_short(lines, first, last) and not any(map(is_of_one_person, lines[above + 1 : below])):
            yield first, last
            yield from stretches(index for index in around if _is_about(lines[index]) and not runs[index])


def _places(lines: Sequence[str], indexes: Sequence[int]) -> Iterator[Place]:
    first = last = -1
    for index in indexes:
        is_next = last >= 0 and index - last <= _APART and all(line.strip() for line in lines[last:index])
        if last >= 0 and not is_next:
            yield first, last
        first, last = (first if is_next else index), index
    if last >= 0:
        yield first, last


def _is_mostly_written(lines: Sequence[str], places: Sequence[Place], runs: Sequence[bool]) -> bool:
    """True if a person wrote most lines around the places and runs: in the log of a host, programs wrote them."""
    examples = {index for first, last in places for index in range(first, last + 1)}
    rest = [line for index, line in enumerate(lines) if line.strip() and index not in examples and not runs[index]]
    return 2 * sum(kind_of(line) in _PROSE and not _LOGGED.search(line) for line in rest) > len(rest)


def _is_short(lines: Sequence[str], first: int, last: int) -> bool:
    """True if there are few lines around a place that nobody wrote: it shows a message, and not an output."""
    while first > 0 and not _is_written(lines[first - 1]):
        first -= 1
    while last + 1 < len(lines) and not _is_written(lines[last + 1]):
        last += 1
    return last + 1 - first <= _LONGEST


def _is_about(line: str) -> bool:
    """True for a line that a person wrote about an example: a sentence, an item, the title of a case."""
    return any(form(line) for form in (is_sentence, is_item, is_title))


def _is_written(line: str) -> bool:
    """True for a sentence, an item, a title, markup, and an empty line."""
    return not line.strip() or line.startswith(_MARKUP) or _is_about(line)
