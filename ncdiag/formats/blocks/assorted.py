"""Texts that collect messages of unrelated faults: a handbook, a FAQ, slides, an exam, in whatever language.

The messages of one failure are related: next to each other, of one process, of one kind. Somebody who explains messages
puts one of each kind between sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.over import goes_wrong
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
_TIME = lazy_regex(r"(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d|(?<=\[)\s*\d+\.\d{6}(?=\])")
_LONG = 12
"""Minimum number of lines of a text in which three unrelated faults are no single person's."""
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
    if len(set().union(*specific)) < _KINDS or len(causes) < _CAUSES:
        return
    is_long = sum(bool(line.strip()) for line in lines) >= _LONG
    if is_long and (is_mostly_log(lines, runs) or _is_logged(lines, [at for at in failures if not runs[at]])):
        return
    if not is_long and (sum(map(bool, specific)) < _PLACES or not _is_written_by_nobody(lines, places, runs)):
        return
    ends = [-1, *(last for _, last in places)]
    begins = [*(first for first, _ in places), len(lines)]
    for (first, last), above, below in zip(places, ends, begins[1:], strict=False):
        around = [*range(above + 1, first), *range(last + 1, below)]
        if (is_long or _is_short(lines, first, last)) and not any(map(_is_personal, lines[above + 1 : below])):
            yield first, last
            yield from stretches(index for index in around if _is_about(lines[index]) and not runs[index])


def _is_written_by_nobody(lines: Sequence[str], places: Sequence[Place], runs: Sequence[bool]) -> bool:
    """True if sentences are around most places, and none of them asks, or says what several people saw."""
    return (
        sum(map(is_sentence, lines)) >= _PLACES
        and _is_mostly_written(lines, places, runs)
        and not ends_with_question(lines)
        and not any(map(is_reported_by_several, lines))
    )


def is_mostly_log(lines: Sequence[str], runs: Sequence[bool]) -> bool:
    """True if programs printed most lines outside the logs of runs, as far as their form says."""
    written = [line for line, run in zip(lines, runs, strict=True) if line.strip() and not run]
    return 2 * sum(kind_of(line) == "log" for line in written) > len(written)


def _is_logged(lines: Sequence[str], failures: Iterable[int]) -> bool:
    """True if most messages have a time of day, and these go on from one to the next, as in a log."""
    places = sorted(failures)
    times = [found[0] for at in places if (found := _TIME.search(lines[at]))]
    return 2 * len(times) > len(places) and times == sorted(times)


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


def _is_personal(line: str) -> bool:
    """True for a sentence in which people report a trouble; a title or a command has such words as well.

    A sentence that says what goes wrong and ends in a colon is not a title: it introduces the output below.
    """
    reports = is_of_one_person(line) or is_reported_by_several(line)
    introduces = line.rstrip().endswith((":", "\uff1a")) and is_sentence(line) and goes_wrong(line)
    return reports and kind_of(line) in _PROSE and (introduces or not is_title(line))


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
