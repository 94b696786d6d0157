"""Lines of program text that say nothing, each told by itself: no message, no failure, no sentence of a person.

Most of what a job prints is so. What is judged here must agree with what `ncdiag.parsers.text` makes of the line.
"""

from __future__ import annotations

import re
from typing import Literal

from ncdiag.messages.match import default_matcher
from ncdiag.parsers import _bare_nccl, _complaints, _context, _events, _program, _progress, told

Silence = Literal["chatter", "unread", "bar", "counter", "sentence"]
"""Known to say nothing; not understood; a known, or another, counter: its first and its last states count; a sentence,
which is a person's unless it comes again and again."""

_NUMBER = re.compile(r"\d+")
_SEVENS = str.maketrans("012345689", "777777777")
_CODES = {1: "1", 2: "12", 3: "700"}
"""Numbers by their digits that are codes of failures, to CUDA and as statuses of completions."""


def silent(line: str, *, notes: bool) -> Silence | None:
    """How the line says nothing; None where it says something, or where what stands around it decides."""
    context, text = _context.split(line)
    if not text:
        return "chatter"
    if _program.is_led(text) or _bare_nccl.is_bare(line) or _program.of_line(text, context):
        return None
    if _complaints.is_sentence(line, text) or told.may_tell(line, notes=notes):
        return "sentence"
    known = _program.known(line)
    if _progress.counts(text):
        return "bar" if known else "counter"
    return "chatter" if known else "unread"


def digits_may_tell(line: str) -> bool:
    """May a line say something that differs from this one, which does not, in digits alone?

    Where failures are counted, zero of them is none; of codes, one is known and the next is not: both are tried.
    """
    context, text = _context.split(line)
    if not _NUMBER.search(text):
        return False
    return (
        default_matcher().may_depend_on_digits(text)
        or bool(_events.by_form(_NUMBER.sub(_code, text)))
        or _program.form_of_program(text.translate(_SEVENS), context) is not None
    )


def _code(number: re.Match[str]) -> str:
    return _CODES.get(len(number[0]), number[0])
