"""What in a text is only mentioned: blocks of it that are no output of a job, by their form.

Source code, documents, questions with answers, changelogs, commits, chats about the past, logs of tests that passed,
logs of other systems, reviews, minutes, reports on what is over and quotations name messages of faults, and report
none. The log of a run in such a block counts, and all does if somebody reports a trouble of their own
(`ncdiag.formats.blocks.own_trouble`).
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import NamedTuple

from ncdiag.formats.blocks import histories, programs, talks
from ncdiag.formats.blocks.assorted import Failure, assorted, is_mostly_log
from ncdiag.formats.blocks.documents import documents, is_written_for_others
from ncdiag.formats.blocks.host_logs import other_systems
from ncdiag.formats.blocks.literals import Quoting, explained, items, labels, literals, quoting
from ncdiag.formats.blocks.message_tables import catalogues, data_frames, message_tables, shares
from ncdiag.formats.blocks.output import beside, printed_runs
from ncdiag.formats.blocks.over import goes_wrong
from ncdiag.formats.blocks.overcome import overcome
from ncdiag.formats.blocks.own_trouble import is_form, is_mended, is_of_somebody, is_present, is_reported
from ncdiag.formats.blocks.references import legends, references
from ncdiag.formats.blocks.repeats import origins
from ncdiag.formats.blocks.reviews import reviews
from ncdiag.formats.blocks.runs import of_run, shown, starts_at_prompt
from ncdiag.formats.blocks.settled import minutes, outcomes, over
from ncdiag.formats.blocks.stretches import stretches
from ncdiag.formats.blocks.test_logs import tests
from ncdiag.formats.blocks.tracebacks import at_an_edge
from ncdiag.formats.line_kinds import is_printed, is_sentence

_BLOCKS = {
    "the log of tests that passed": tests,
    "source code": programs.sources,
    "messages of commits": histories.commits,
    "a changelog": histories.changelogs,
    "questions and answers": talks.questions,
    "a chat about the past": talks.chats,
    "quotations of others": talks.quotations,
    "a list of closed tickets": histories.tickets,
    "a document": references,
    "a review of code": reviews,
    "a report on what is over": over,
    "the minutes of a meeting": minutes,
    "what a command shows of a file": shown,
}
"""Kinds of blocks, in the order in which they are searched."""
_VERY_LONG = 24
"""Minimum number of lines of a text that is read by its parts."""
_COLLECTION = "a collection of messages"
_LONG = 12
"""Minimum number of lines of a long text: in one, a person with a problem describes it, or shows a log."""
PROGRAMS = frozenset({"source code"})
"""Kinds whose settings and faults are those of a program, whether or not it runs."""
_FOREIGN = "the log of another system"
_PRINTED = PROGRAMS | {_FOREIGN, "the log of tests that passed"}
"""Kinds of blocks with lines that look like those of a log, and are none of the job."""
_CAPTURED = frozenset({"the log of tests that passed", "messages of commits"})
"""Kinds whose logs of runs are mentioned, too: the tests made these runs, and a commit mends what its run shows."""


class Mentioned(NamedTuple):
    """Lines that only mention what they name: the indexes of the first and last, and the kind of text."""

    first: int
    last: int
    kind: str

    @property
    def lines(self) -> range:
        """The numbers from the first to the last."""
        return range(self.first, self.last + 1)


class Content(NamedTuple):
    """What is in a text.

    ``complaint``: somebody says what goes wrong, in whatever language. ``opening``: the title or the first sentence
    does. ``outputs``: there are outputs of tools; ``printed``: the indexes of their lines.
    """

    complaint: bool = False
    opening: bool = False
    outputs: bool = False
    printed: AbstractSet[int] = frozenset()


_NOTHING: Mapping[int, Failure] = MappingProxyType({})
_PLAIN = Content()


def mentioned(
    lines: Sequence[str],
    named: Iterable[int] = (),
    failures: Mapping[int, Failure] = _NOTHING,
    content: Content = _PLAIN,
    bare: Sequence[str] = (),
) -> list[Mentioned]:
    """The blocks of a text that only mention faults; none if somebody in it reports a trouble of their own.

    ``named`` are the indexes of lines that name a message in the middle of a sentence. ``failures``: what
    lines report, by their index. ``bare``: the lines as they were read, without what surrounds them.
    """
    text = _Text(lines, list(named), failures, content, bare)
    found = _not_for_repeats(_mentioned(*text), text)
    held = {index for each in found for index in each.lines}
    past = () if _is_form(lines) else overcome(lines, failures)
    rest = sorted({index for first, last in past for index in range(first, last + 1)} - held)
    return sorted([*found, *(Mentioned(first, last, "a report on what is over") for first, last in stretches(rest))])


class _Text(NamedTuple):
    """The lines of a text, and what is known of them: the parameters of `mentioned`."""

    lines: Sequence[str]
    named: Sequence[int]
    failures: Mapping[int, Failure]
    content: Content
    bare: Sequence[str]

    def only(self, indexes: Sequence[int]) -> _Text:
        """The text with these lines alone, in rising order."""
        place = {index: at for at, index in enumerate(indexes)}
        return _Text(
            [self.lines[index] for index in indexes],
            [place[index] for index in self.named if index in place],
            {place[index]: each for index, each in self.failures.items() if index in place},
            self.content._replace(printed=frozenset(place[at] for at in self.content.printed if at in place)),
            [self.bare[index] for index in indexes] if self.bare else self.bare,
        )


def _not_for_repeats(blocks: list[Mentioned], text: _Text) -> list[Mentioned]:
    """The blocks without those lines that the same text would report if each line came once.

    The more ranks print a failure, the more lines, places and instructions a text has: that makes it no document.
    Blocks that programs print keep their lines: repeated lines are usual in them.
    """
    written = [block for block in blocks if block.kind not in _PRINTED]
    origin = origins(text.bare or text.lines) if written else []
    if all(origin[index] == index for block in written for index in block.lines):
        return blocks
    once = [index for index, each in enumerate(origin) if each == index]
    still = {once[at] for block in _mentioned(*text.only(once)) for at in block.lines}
    kinds = [""] * len(text.lines)
    for block in blocks:
        for index in block.lines:
            kinds[index] = block.kind if block.kind in _PRINTED or origin[index] in still else ""
    return list(_stretches(kinds))


def _mentioned(
    lines: Sequence[str], named: Sequence[int], failures: Mapping[int, Failure], content: Content, bare: Sequence[str]
) -> list[Mentioned]:
    """The same without the logs of what their writer has overcome."""
    runs = of_run(lines)
    if bare and list(bare) != list(lines):
        runs = list(map(operator.or_, runs, of_run(bare)))
    for first, last in at_an_edge(lines):
        runs[first : last + 1] = [True] * (last + 1 - first)
    kinds = _by_form(lines, runs)
    rest = [not (kind or run) for kind, run in zip(kinds, runs, strict=True)]
    # below a title that complains is no collection of examples
    elsewhere = {} if content.opening else {at: each for at, each in failures.items() if at not in content.printed}
    collected = [*assorted(lines, elsewhere, runs), *shares(lines)]
    if _is_form(lines):
        return [Mentioned(first, last, _COLLECTION) for first, last in collected]
    reported = is_reported(itertools.compress(lines, rest))
    is_own = rest if reported else [False] * len(lines)
    collected += _far(bare or lines, elsewhere, runs, is_own, content)
    is_asked = reported or (content.opening and starts_at_prompt(lines))
    shows = content.outputs or any(runs[index] and each.is_specific for index, each in failures.items())
    if is_asked and not shows:
        return [Mentioned(first, last, _COLLECTION) for first, last in collected]
    quoted = list(quoting(lines, runs))
    printed = [run or is_printed(line) for run, line in zip(runs, lines, strict=True)]
    for kind, places, kept in (
        ("a document", documents(lines, [not each for each in rest]), runs),
        (_COLLECTION, itertools.chain(collected, data_frames(lines)), runs),
        ("a document", itertools.chain(message_tables(lines), catalogues(lines)), runs),
        ("source code", programs.templates(lines, failures), runs),
        ("a quotation", _quoted(lines, named, quoted, runs), runs),
        *(() if content.complaint else _of_nobody(lines, named, quoted, runs)),
        ("a sentence about what is over", _mended(lines), ()),
        ("a report on what is over", outcomes(lines), printed),
    ):
        for first, last in places:
            _mark(kinds, first, last, kind, kept)
    for first, last in other_systems(lines):
        kinds[first : last + 1] = [_FOREIGN] * (last + 1 - first)
    if is_asked:
        kept = _near(lines, (at for at, line in enumerate(lines) if is_own[at] and is_of_somebody(line)))
        kinds = _beside_a_report(kinds, lines, {*failures, *named}, kept | content.printed, collected)
    return list(_stretches(kinds))


def _is_form(lines: Sequence[str]) -> bool:
    """True if the text is a form for bugs and questions that somebody filled in, and no report on what is over."""
    if not (any(map(is_form, lines)) or talks.asks_reporters(lines)):
        return False
    past = {index for first, last in over(lines) for index in range(first, last + 1)}
    rest = [line for index, line in enumerate(lines) if index not in past]
    return any(map(is_form, rest)) or talks.asks_reporters(rest)


def _beside_a_report(
    kinds: Sequence[str],
    lines: Sequence[str],
    failures: Iterable[int],
    kept: AbstractSet[int],
    collected: Iterable[tuple[int, int]],
) -> list[str]:
    """What is mentioned where somebody reports a trouble of their own, and shows the log of the run that failed.

    Such a log says by itself what failed. A message elsewhere counts if it is among the lines that are ``kept`` (next
    to what the person says, and outputs of tools), or looks printed; what they write of settings, commands and
    experiments counts everywhere.
    """
    found = [""] * len(lines)
    for index in failures:
        kind = kinds[index]
        if kind in _PRINTED or not (index in kept or (kind not in _BLOCKS and is_printed(lines[index]))):
            found[index] = kind
    for first, last in collected:
        found[first : last + 1] = [_COLLECTION] * (last + 1 - first)
    return found


def _quoted(
    lines: Sequence[str], named: Iterable[int], quoted: Sequence[Quoting], runs: Sequence[bool]
) -> Iterator[tuple[int, int]]:
    in_words = itertools.chain(named, items(lines, quoted, runs)) if is_written_for_others(lines) else ()
    return ((index, index) for index in itertools.chain(in_words, literals(quoted)))


def _of_nobody(
    lines: Sequence[str], named: Iterable[int], quoted: Sequence[Quoting], runs: Sequence[bool]
) -> Iterator[tuple[str, Iterable[tuple[int, int]], Sequence[bool]]]:
    """Messages that are explained or quoted in a text in which nobody complains; quoted ones only in a long text."""
    yield "a document", ((index, index) for index in explained(lines)), runs
    if sum(bool(line.strip()) for line in lines) >= _LONG:
        yield "a document", legends(lines), runs
        found = itertools.chain(named, items(lines, quoted, runs), labels(quoted))
        yield "a quotation", ((index, index) for index in found), runs


def _far(
    lines: Sequence[str], failures: Mapping[int, Failure], runs: Sequence[bool], own: Sequence[bool], content: Content
) -> Iterator[tuple[int, int]]:
    """The messages of a very long text that are outside its logs, and far from any problem that somebody reports.

    Such a problem is in one of the lines that may be somebody's ``own``.
    A message next to the log of a run or the output of a program is kept (`ncdiag.formats.blocks.output`). If the text
    has outputs of tools and nobody reports a problem, one that is not between two sentences is kept too.
    """
    printed = printed_runs(lines)
    if not failures or not _is_very_long(lines, runs, printed | content.printed) or is_mostly_log(lines, runs):
        return
    near = _near(lines, (index for index, line in enumerate(lines) if own[index] and _is_trouble(line)))
    title = next(index for index, line in enumerate(lines) if line.strip())
    printed = beside(lines, printed)
    for index in failures:
        if any(runs[max(0, index - 1) : index + 2]) or index == title or index in near or index in printed:
            continue
        is_alone = not near and (not content.outputs or _is_between_sentences(lines, index))
        if is_alone or not is_printed(lines[index]):
            yield index, index


def _is_very_long(lines: Sequence[str], runs: Sequence[bool], printed: AbstractSet[int]) -> bool:
    """True for many lines, unless most are logs of runs, figures, or outputs of tools: these are no document."""
    written = [index for index, line in enumerate(lines) if line.strip()]
    figures = sum(runs[index] or index in printed for index in written)
    rest = len(written) - figures
    return len(written) >= _VERY_LONG and (rest >= _VERY_LONG or rest >= figures)


def _near(lines: Sequence[str], places: Iterable[int]) -> set[int]:
    """The indexes of the lines in the paragraphs of these places, and in those next to them."""
    paragraphs = list(itertools.accumulate(not line.strip() for line in lines))
    near = _beside(paragraphs, {paragraphs[index] for index in places})
    return {index for index, each in enumerate(paragraphs) if each in near}


def _is_trouble(line: str) -> bool:
    """True for a sentence in which somebody asks, or says of something of their own that it fails."""
    if not is_sentence(line):
        return False
    may_be = goes_wrong(line) or line.rstrip().endswith(("?", "\uff1f")) or is_present(line)
    return may_be and is_reported([line])


def _is_between_sentences(lines: Sequence[str], index: int) -> bool:
    """True if the nearest lines above and below a line are sentences."""
    above = next((lines[at] for at in range(index - 1, -1, -1) if lines[at].strip()), "")
    below = next((lines[at] for at in range(index + 1, len(lines)) if lines[at].strip()), "")
    return is_sentence(above) and is_sentence(below)


def _beside(paragraphs: Sequence[int], own: AbstractSet[int]) -> set[int]:
    """The numbers of some paragraphs and of those next to them, whatever the number of empty lines between."""
    held = list(dict.fromkeys(paragraphs))
    return {
        held[at + step]
        for at, each in enumerate(held)
        if each in own
        for step in (-1, 0, 1)
        if 0 <= at + step < len(held)
    }


def _mended(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    return ((index, index) for index, line in enumerate(lines) if not is_printed(line) and is_mended(line))


def _by_form(lines: Sequence[str], runs: Sequence[bool]) -> list[str]:
    """The kind of the block that each line is in, as far as its form says so; empty for others."""
    kinds = [""] * len(lines)
    for kind, find in _BLOCKS.items():
        for first, last in find(lines):
            captured = kind in _CAPTURED or (find is talks.questions and talks.is_faq(lines, runs, first, last))
            _mark(kinds, first, last, kind, () if captured else runs)
    return kinds


def _mark(kinds: list[str], first: int, last: int, kind: str, runs: Sequence[bool]) -> None:
    """Give the lines a kind that have none, and are not of a run."""
    for index in range(first, last + 1):
        if not (kinds[index] or (runs and runs[index])):
            kinds[index] = kind


def _stretches(kinds: Sequence[str]) -> Iterator[Mentioned]:
    begin = 0
    for index in range(1, len(kinds) + 1):
        if index == len(kinds) or kinds[index] != kinds[begin]:
            if kinds[begin]:
                yield Mentioned(begin, index - 1, kinds[begin])
            begin = index
