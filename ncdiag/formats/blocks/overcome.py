"""A trouble that its writer shows and says to be over: the log of it counts as little as a sentence about it.

Such a log is below words about the past (``We had this:``), quoted, in a code block or as it is; a sentence says that
the trouble is solved. Nothing is over in a text that also says that something goes wrong now, or that asks. What is
below other words (``here is the log now:``) is judged as always.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from ncdiag.formats.blocks.examples import fenced
from ncdiag.formats.blocks.over import is_of_another_time, is_open, sentences
from ncdiag.formats.blocks.own_trouble import is_present
from ncdiag.formats.guarded import guarded_regex
from ncdiag.formats.line_kinds import is_printed, is_sentence, kind_of, without_quotations
from ncdiag.language.speech import roles

_SOLVED = guarded_regex(
    r"\b(?:solved|resolved|fixed|closed|gel\u00f6st|behoben|erledigt)\b|\u89e3\u51b3\u4e86|\u5df2\u7ecf?\u89e3\u51b3|\u4fee\u597d",
    re.IGNORECASE,
)
_WORKS = guarded_regex(
    r"\b(?:works?|runs?|trains?|working|running|l\u00e4uft|geht)\s(?:\w+\s)?(?:again|now|wieder|jetzt)\b"
    r"|\b(?:now|jetzt)\s(?:\w+\s){0,4}(?:works?|runs?|trains?|l\u00e4uft|geht)\b"
    r"|^(?:after|since)\b.*\b(?:works?|runs?|trains?)\b(?:\s(?:again|now))?"
    r"|\b(?:it|that|this|(?:error|problem|message|hang)s?)\s(?:is|are)\s(?:now\s)?gone\b|\bist\s(?:jetzt\s)?weg\b"
    r"|\bl\u00e4uft\s(?:\w+\s)?wieder\b|\u6b63\u5e38\u4e86|\u6062\u590d\u6b63\u5e38",
    re.IGNORECASE,
)
"""Words that say that something works again."""
_DOUBT = guarded_regex(
    r"\b(?:if|once|until|should|would|will|may|might|could|try|hope|seem\w*|maybe|perhaps|read|not|never|no|for|one|single"
    r"|nicht|kein\w*|falls|bis|(?:in|since|by)\s(?:version|release|v?\d[\d.]*))\b|n't\b|[\u4e0d\u6ca1\u672a]",
    re.IGNORECASE,
)
"""Words of a sentence by which something is not solved, or elsewhere, or only in a part."""
_FAILS_NOW = guarded_regex(
    r"\b(?:fails?|hangs|stops|crashes|dies|aborts|ends|freezes|stalls|gets?|gives|sees?|bricht|h\u00e4ngt|kommt)\b"
    r"|\u53c8\u62a5|\u73b0\u5728\u62a5",
    re.IGNORECASE,
)
_ASKS = guarded_regex(
    r"\b(?:remains?|persists?|comes?\sback|recurs?)\b|\bplease\s(?!close|ignore|disregard)|(?<!\bis\s)(?<!'s\s)\bwhy\b"
    r"|\b(?:find|know|understand|explain|determine|identify|tell)\b.{0,60}\b(?:cause[ds]?|reasons?|what|how)\b"
    r"|\b(?:bitte|bleibt|besteht|warum)\b|\bUrsache\s(?:finden|wissen)\b"
    r"|\u8bf7|\u4e3a\u4ec0\u4e48|\u4e3a\u4f55|\u4ecd|\u8fd8\u662f",
    re.IGNORECASE,
)
"""Words that ask for the cause, or say that the trouble remains."""
_PAST = guarded_regex(
    r"\b(?:had|was|were|got|saw|said|hung|died|(?!need)\w{3,}ed|hatten?|war|waren|kam|brach|blieb|stand)\b"
    r"|\u62a5\u9519|\u51fa\u73b0|\u9047\u5230",
    re.IGNORECASE,
)
_OLD = guarded_regex(
    r"\b(?:old|before|earlier|previous(?:ly)?|original(?:ly)?|vorher|alte[nrs]?|fr\u00fcher|for\sthe\srecord)\b"
    r"|\b(?:was|were|war|waren)\W*$|\u4e4b\u524d|\u539f\u6765|\u5f53\u65f6|\u4ee5\u524d",
    re.IGNORECASE,
)
"""Words above what was so before something that the text has said already."""
_PRESENT = guarded_regex(
    r"\b(?:now|today|new|another|other|next|since|then|jetzt|nun|neue[nrs]?|seit|dann)\b|[\u73b0\u65b0\u53c8]",
    re.IGNORECASE,
)
_OUTSIDE = frozenset(" \t#|<")
"""What begins indented lines, headings, rows and markup."""
_STOPS = (".", "!", "\u3002", "\uff01")


class _Paragraph(NamedTuple):
    """Lines that somebody wrote: the first and last index, and their sentences."""

    first: int
    last: int
    said: tuple[str, ...]


def overcome(lines: Sequence[str], failures: Collection[int]) -> Iterator[tuple[int, int]]:
    """What a text shows of a trouble that is over, with the words above it; ``failures``: lines that report one."""
    if not any(_SOLVED.search(line) or _WORKS.search(line) or "done" in roles(line) for line in lines):
        return
    held = list(_paragraphs(lines, failures))
    said = [(at, each) for at, paragraph in enumerate(held) for each in paragraph.said]
    solved = [at for at, each in said if _is_solved(each)]
    stays = any(_ASKS.search(lines[at]) for at in failures if lines[at].endswith(_STOPS) and not is_printed(lines[at]))
    if not solved or stays or any(_goes_on(each) for _, each in said):
        return
    for at, (paragraph, below) in enumerate(itertools.pairwise([*held, _Paragraph(len(lines), len(lines), ())])):
        first, last = paragraph.last + 1, below.first - 1
        if any(first <= index <= last for index in failures) and _is_of_the_past(
            paragraph.said[-1], is_solved_above=solved[0] <= at, is_solved_below=solved[-1] > at
        ):
            yield paragraph.first, last


def _is_of_the_past(words: str, *, is_solved_above: bool, is_solved_below: bool) -> bool:
    """True if what is below these words was so before the trouble was solved."""
    if words.rstrip().endswith(_STOPS) or _PRESENT.search(words):
        return False
    if is_solved_above and _OLD.search(words):
        return True
    return is_solved_below and (any(form.search(words) for form in (_PAST, _OLD)) or is_of_another_time(words))


def _is_solved(sentence: str) -> bool:
    """True if somebody says that their trouble is over."""
    rest = _WORKS.sub(" ", sentence)
    is_said = rest != sentence or _SOLVED.search(sentence) is not None or "done" in roles(sentence)
    return is_said and not is_open(rest) and _DOUBT.search(rest) is None


def _goes_on(sentence: str) -> bool:
    """True if somebody says that something goes wrong now, or asks."""
    is_now = (
        is_present(sentence)
        or any(form.search(sentence) for form in (_FAILS_NOW, _ASKS))
        or is_open(_WORKS.sub(" ", sentence))
    )
    return is_now or ("fails" in roles(sentence) and "now" in roles(sentence))


def _paragraphs(lines: Sequence[str], failures: Collection[int]) -> Iterator[_Paragraph]:
    """The paragraphs that somebody wrote, outside code blocks and quotations."""
    shown = {index for first, last in fenced(lines) for index in range(first, last + 1)} | set(failures)
    written = [index not in shown and _is_written(lines, index) for index in range(len(lines))]
    for is_one, indexes in itertools.groupby(range(len(lines)), key=written.__getitem__):
        if is_one:
            places = list(indexes)
            text = " ".join(without_quotations(lines[index]).strip() for index in places)
            yield _Paragraph(places[0], places[-1], tuple(sentences(text)))


def _is_written(lines: Sequence[str], index: int) -> bool:
    """True for a sentence, the words above a log, and a line alone; not for what a program printed."""
    line = lines[index]
    if kind_of(line) != "prose" or is_printed(line) or not line.strip() or line[:1] in _OUTSIDE:
        return False
    is_alone = not "".join((*lines[max(0, index - 1) : index], *lines[index + 1 : index + 2])).strip()
    return is_sentence(line) or is_alone or line.rstrip().endswith((":", "\uff1a"))
