"""Talk: questions with answers, chats about the past, mails that quote the troubles of others."""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Iterable, Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.documents import is_instruction
from ncdiag.formats.blocks.over import is_of_another_time, is_over, is_past, says_failure
from ncdiag.formats.blocks.own_trouble import is_of_one_person, is_present, is_reported
from ncdiag.formats.blocks.stretches import end_of_paragraph, stretches
from ncdiag.formats.guarded import guarded_regex
from ncdiag.formats.line_kinds import is_item, is_printed, is_sentence, without_quotations

_Q = lazy_regex(r"\s{0,3}(?:[*_#]{0,4}\s?)?(?:Q|Question|\u95ee)\s?\d{0,3}\s?[.:)\uff1a]", re.IGNORECASE)
_A = lazy_regex(r"\s{0,3}(?:[*_#]{0,4}\s?)?(?:A|Answer|\u7b54)\s?\d{0,3}\s?[.:)\uff1a]", re.IGNORECASE)
_NUMBERED_Q = lazy_regex(
    r"\s{0,3}(?:[*_#]{0,4}\s?)?(?:Q|Question|Frage|\u95ee)\s?\d{1,3}\s?[.:)\uff1a].*[?\uff1f]", re.IGNORECASE
)
"""A question with a number, below which anything else is its answer."""
_ASKED = lazy_regex(
    r"(?:#{1,6} |\d{1,2}[.)] |\*\*)\S.*[?\uff1f](?:\*\*)?\s*$"
    r"|\s*<(?P<tag>h[1-6]|summary|dt|strong)\b[^>]{0,80}>.*[?\uff1f]\s*</(?P=tag)>\s*$"
)
_HEADING = lazy_regex(r"#{1,6} \S")
_NAMED = lazy_regex(r"[A-Z][A-Z0-9_]|[a-z][A-Z]|(?<![</])[A-Za-z]\d|\w_\w")
"""An acronym, a variable, the name of a function."""
_PAIRS = 2
_NAME = r"[^\W\d][\w.'-]{0,29}(?: [\w.'-]{1,30}){0,2}"
_DATE = r"(?:\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}(?:,? |T))?"
_TIME = r"\d{1,2}:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?"
_SPEAKER = lazy_regex(
    rf"(?:\[?{_DATE}\d{{1,2}}:\d\d(?::\d\d)?\]?\s<[\w .-]{{1,30}}>\s"
    rf"|\[\d{{1,2}}:\d\d(?::\d\d)?\]\s@?[^\W\d][\w.-]{{0,29}}: "
    rf"|[\w.-]{{1,30}}(?: [\w.-]{{1,30}})?[, \u2014\u2013-]{{1,3}}\[?{_DATE}{_TIME}\]?(?:\s*$|: )"
    rf"|[^\w\s]{{0,4}}\s?{_NAME}[^\w\n]{{1,8}}(?:(?:[Tt]oday|[Yy]esterday|[Hh]eute|[Gg]estern),?\s?)?(?:(?:at|um|@)\s)?"
    rf"{_DATE}{_TIME}[^\w\n]{{0,4}}$"
    rf"|\[?\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}},? {_TIME}\]?"
    rf"(?:(?: - | ){_NAME}: |\s{{1,4}}{_NAME}(?:\s\([^()\d]{{1,30}}\))?\s*$))"
)
"""The line with a speaker and a time, as messengers export it: before what is said, or above it."""
_SPEAKERS, _PAST_SIGNS = 3, 2
"""Minimum number of lines that begin with a speaker, and of words about another time or the end of a trouble."""
_WROTE = lazy_regex(
    r"(?:On .{4,100}wrote:|-+ ?(?:Forwarded|Original) [Mm]essage|.{0,80}\b(?:[Tt]icket|[Cc]ase|[Dd]igest"
    r"|[Tt]hread|[Cc]ustomer)s?\b|Subject: .*\b(?:tickets?|cases?|digest|threads?)\b)"
)
_QUOTED = lazy_regex(r"\s*>")
_HEADER = lazy_regex(r"(?:From|To|Cc|Date|Sent|Subject|Reply-To): ")
_LEAST_QUOTED = 2
_NOT_OURS = guarded_regex(
    r"\b(?:fyi|for\s(?:your\sinformation|the\srecord)|no\saction|(?:does\snot|doesn't)\sconcern"
    r"|another\s(?:group|customer|team|user|site)"
    r"|other\s(?:people|users|customers))\b",
    re.IGNORECASE,
)


def questions(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Questions with their answers: marked as such, or headings that ask."""
    marked = [index for index, line in enumerate(lines) if _Q.match(line)]
    answered = sum(_A.match(line) is not None for line in lines)
    written = [index for index, line in enumerate(lines) if line.strip()]
    asked = _asked(lines)
    numbered = [
        at
        for at, answer in itertools.pairwise(written)
        if _NUMBERED_Q.match(lines[at]) and not (_Q.match(lines[answer]) or is_printed(lines[answer]))
    ]
    is_answered = answered >= _PAIRS or (len(numbered) >= _PAIRS and not any(map(is_of_one_person, lines)))
    begins = marked if len(marked) >= _PAIRS and is_answered else asked if len(asked) >= _PAIRS else []
    if begins:
        yield begins[0], _end_of_answer(lines, begins)


def is_faq(lines: Sequence[str], runs: Sequence[bool], first: int, last: int) -> bool:
    """True if a block of questions is a collection with answers, and the logs below its questions are examples.

    Each question with a log has an answer as well: it says what to do, or explains. Nobody reports a trouble.
    """
    if asks_reporters(lines):
        return False
    heads = [at for at in range(first, last + 1) if _Q.match(lines[at]) or _ASKED.match(lines[at])]
    sections = [range(at + 1, end) for at, end in itertools.pairwise([*heads, last + 1])]
    written = [[lines[at] for at in section if not runs[at] and lines[at].strip()] for section in sections]
    if any(is_reported(_without_answer_marks(section)) for section in written):
        return False
    answered = [any(map(_is_answer, section)) for section in written]
    shows = [any(runs[at] for at in section) for section in sections]
    instructs = sum(any(map(is_instruction, section)) for section in written)
    return instructs > 0 and sum(answered) >= _PAIRS and all(map(operator.le, shows, answered))


def _is_answer(line: str) -> bool:
    """True for a sentence that does more than announce what is below it, and for an instruction."""
    return not line.rstrip().endswith((":", "\uff1a")) and (is_sentence(line) or is_instruction(line))


def _without_answer_marks(lines: Iterable[str]) -> list[str]:
    return [_A.sub("", line, count=1) for line in lines]


def _end_of_answer(lines: Sequence[str], begins: Sequence[int]) -> int:
    """The last line of the last answer, which has no more paragraphs than the longest one above it."""
    held = (list(map(str.strip, lines[at:end])) for at, end in itertools.pairwise(begins))
    longest = max("\n".join(section).strip().count("\n\n") for section in held)
    last = end_of_paragraph(lines, begins[-1], gap=1)
    for _ in range(longest - 1):
        last = end_of_paragraph(lines, last, gap=1)
    return last


def _asked(lines: Sequence[str]) -> list[int]:
    """The indexes of headings that ask, with something else below each."""
    written = [index for index, line in enumerate(lines) if line.strip()]
    return [
        at for at, below in itertools.pairwise(written) if _ASKED.match(lines[at]) and not _ASKED.match(lines[below])
    ]


def asks_reporters(lines: Sequence[str]) -> bool:
    """True if headings that ask are those of a form: somebody reports below them, and answers nobody.

    A heading of a collection of questions names what it is about, or the text below it instructs. Below one of a form,
    there is the report of a person, a log, a command or a few words.
    """
    asked = _asked(lines)
    sections = [[line for line in lines[at + 1 : end] if line.strip()] for at, end in _sections(lines, asked)]
    answers = sum(
        _names(lines[at]) or (any(map(is_instruction, section)) and not is_reported(section))
        for at, section in zip(asked, sections, strict=True)
    )
    if len(asked) < _PAIRS or 2 * answers >= len(asked):
        return False
    return any(map(is_printed, lines)) or any(
        is_reported(section) or not any(map(is_sentence, section)) for section in sections
    )


def _sections(lines: Sequence[str], heads: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Each head with the index of the next heading, or of the end."""
    ends = [*(index for index, line in enumerate(lines) if index in heads or _HEADING.match(line)), len(lines)]
    return ((at, next(end for end in ends if end > at)) for at in heads)


def _names(heading: str) -> bool:
    """True if a heading quotes a message, mentions a failure or contains an identifier such as an acronym."""
    return says_failure(heading) or without_quotations(heading) != heading or _NAMED.search(heading) is not None


def chats(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Talk about a trouble that is over: nobody in it asks for help or reports one."""
    spoken = [index for index, line in enumerate(lines) if _SPEAKER.match(line)]
    if len(spoken) < _SPEAKERS:
        return
    block = spoken[0], end_of_paragraph(lines, spoken[-1])
    said = lines[block[0] : block[1] + 1]
    signs = itertools.accumulate(map(_signs_of_past, said))
    if any(count >= _PAST_SIGNS for count in signs) and not any(map(_is_of_now, said)):
        yield block


def _signs_of_past(line: str) -> int:
    """How often somebody says that a trouble was at another time, or is over; not that it was, and came back."""
    return is_of_another_time(line) + is_over(line)


def _is_of_now(line: str) -> bool:
    """True if somebody says that something goes wrong now, or reports a failure of theirs of no other time."""
    return is_present(line) or (says_failure(without_quotations(line)) and is_of_one_person(line) and not is_past(line))


def quotations(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """What a mail quotes of others, if its writer says that it is over, or of no concern."""
    own = [line for line in lines if not _QUOTED.match(line)]
    if (
        len(own) > len(lines) - _LEAST_QUOTED
        or not any(map(_WROTE.match, own))
        or not any(is_over(line) or _NOT_OURS.search(line) for line in own)
    ):
        return
    if is_reported(own):
        return
    yield from stretches(index for index, line in enumerate(lines) if _QUOTED.match(line) or _of_mail(line))


def _of_mail(line: str) -> bool:
    """True if the line is one of a mail: a header, or what its writer says."""
    return _HEADER.match(line) is not None or is_sentence(line) or is_item(line)
