"""Find settings of NCCL in a file that were not understood, so that lint reports that they were not checked."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from ncdiag.apps.lint.vocabulary import is_for_ranks
from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.fold import fold_ranks

_LIMIT, _AROUND = 2000, 300
"""Maximum number of mentions of one file that are checked, and of characters around each."""
_MENTION = lazy_regex(
    r"(?<![\w$./-])(?P<name>(?:TORCH_)?[NRH]CCL_[A-Z0-9_]{2,100})(?![\w*])"
    r"(?:(?P<quote>\\{0,3}[\"']?)[ \t]{0,8}"
    r"(?:=(?![=>~ ]*=)|:(?=[ \t\"'])|[\"']?\][ \t]{0,8}=(?!=)|,[ \t]{0,8}(?=[\"'\w(])))"
)
_REMARK = lazy_regex(r"[ \t]*(?:#|//|/?\*|REM\b|;|--)")
_READING = lazy_regex(r"(?:getenv|\.get|in|not|==|!=|unset|unsetenv|delenv|pop|Error)[ (\[]{0,4}[\"']?$")
_PRINTING = lazy_regex(
    r"[ \t]*(?:[-&|;][ \t]*)*(?:run:[ \t]*)?(?i:echo|printf|print|[ef]?grep|awk|test|log\w*|logger\.\w+)\b[^>]*$"
)
_PROSE = lazy_regex(r"[ \t]*(?:-[ \t]+)?(?:description|title|help|summary|name|notes?)[ \t]*:[ \t]*[^|>\s]")
_SHOWN = 8
NAMED = lazy_regex(r"(?:TORCH_)?[NRH]CCL_[A-Z0-9_]{2}")
"""A name of NCCL's family: without one, there is nothing to search."""


def unread(text: str, read: Container[int]) -> tuple[int, ...]:
    """The numbers of lines, from 1, that seem to set a variable of NCCL.

    ``read``: offsets of names that were understood.

    Comments, printed texts and mere uses of a variable are ignored.
    """
    if not NAMED.search(text):
        return ()
    found: list[int] = []
    number = position = counted = 0
    for mention in _MENTION.finditer(text):
        counted += 1
        if counted > _LIMIT:
            break
        start = mention.start("name")
        if start in read or not is_for_ranks(mention["name"]):
            continue
        number += text.count("\n", position, start)
        position = start
        begin = max(text.rfind("\n", 0, start) + 1, start - _AROUND)
        talk = _is_talk(text[begin : min(start + _AROUND, len(text))], start - begin, mention)
        if not talk and (not found or found[-1] != number + 1):
            found.append(number + 1)
    return tuple(found)


def _is_talk(line: str, at: int, mention: re.Match[str]) -> bool:
    """True if a mention sets nothing: a comment, printed or read text, an argument without its closing quote."""
    before = line[:at]
    line = line.split("\n", 1)[0]
    if mention[0].endswith(",") and not mention["quote"]:
        return True
    if mention[0].endswith(",") and not before.rstrip("\"' ").endswith("("):
        return True
    patterns = (_REMARK.match(line), _PROSE.match(line), _PRINTING.match(line), _READING.search(before))
    return any(pattern is not None for pattern in patterns) or " # " in before


def spoken(lines: Sequence[int]) -> str:
    """``NCCL settings on lines 2, 5-6 were not read``: of many lines the first few."""
    if len(lines) == 1:
        return f"an NCCL setting on line {_places(lines)} was not read"
    return f"NCCL settings on lines {_places(lines)} were not read"


def not_judged(lines: Sequence[int]) -> str:
    """``the value of a setting on line 2 is made at run time and was not judged``."""
    if len(lines) == 1:
        return f"the value of a setting on line {_places(lines)} is computed at run time and was not checked"
    return f"the values of settings on lines {_places(lines)} are computed at run time and were not checked"


def _places(lines: Sequence[int]) -> str:
    runs = fold_ranks(lines).split(",")
    return ", ".join(runs[:_SHOWN]) + (" and others" if len(runs) > _SHOWN else "")
