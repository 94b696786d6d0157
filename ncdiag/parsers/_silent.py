"""Lines of program text that say nothing, each told by itself: no message, no failure, no sentence of a person.

Most of what a job prints is so. What is judged here must agree with what `ncdiag.parsers.text` makes of the line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ncdiag.base.patterns import lazy_regex
from ncdiag.messages.match import default_matcher
from ncdiag.parsers import _bare_nccl, _complaints, _context, _program, _progress, _signs, _work, user_text

Silence = Literal["chatter", "unread", "bar", "counter", "sentence"]
"""How a line says nothing. It is known to; it is not understood; it is a known, or another, counter, whose first and
last states count; it is a sentence, which is a person's unless it comes again and again."""

_NUMBER, _ALONE = lazy_regex(r"\d+"), lazy_regex(r"(?<![\w.:/-])\d+(?:\.\d+)?(?![\w/-]|\.\w|:\S)")
_CODES = ("1", "12", "700")
"""Codes of failures, to CUDA and as statuses of completions."""
_WIDTHS = {range(3): "1", range(5, 20): "65536"}
"""Numbers short and long, for those that nothing is beside: elsewhere the width tells what a number is.

A line whose numbers are all of a width is not asked for it again.
"""


def silent(line: str, *, notes: bool) -> Silence | None:
    """How the line says nothing; None where it says something, or where what is around it decides."""
    context, text = _context.split(line)
    if not text:
        return "chatter"
    if (
        _program.is_led(text)
        or _bare_nccl.is_bare(line)
        or _program.of_line(text, context)
        or (_work.MAY_TELL.search(text) and _work.tells(text))
    ):
        return None
    if _complaints.is_sentence(line, text) or user_text.may_tell(line, notes=notes):
        return "sentence"
    known = _program.is_chatter(text)
    if _progress.counts(text):
        return "bar" if known else "counter"
    return "chatter" if known else "unread"


def is_eventless(line: str) -> bool:
    """True if no program reports an event or progress with the line, whatever people may say in it."""
    context, text = _context.split(line)
    return not text or not (
        _program.is_led(text) or _progress.counts(text) or _bare_nccl.is_bare(line) or _program.of_line(text, context)
        or (_work.MAY_TELL.search(text) and _work.tells(text))
    )  # fmt: skip


def with_other_numbers(line: str) -> Iterator[str]:
    """The line with other numbers behind its times and tags, which a line that says something may have.

    Where failures are counted, zero of them is none; of codes, one is known and the next is not; of long numbers, a
    shorter one may be told. A line that has the words of no message, and no sign of a failure, has neither with any
    numbers.
    """
    text = _context.split(line)[1]
    begin = line.rfind(text) if text else len(line)
    if not _NUMBER.search(text):
        return
    signed = _signs.are_in(text)
    if signed:
        yield from (line[:begin] + _NUMBER.sub(code, line[begin:]) for code in _CODES)
    if not signed and not default_matcher().can_match(text):
        return  # no number makes a message of it
    alone = _ALONE.findall(line)
    for width, sample in _WIDTHS.items():
        if not all(number.isdecimal() and len(number) in width for number in alone):
            yield _ALONE.sub(sample, line)
