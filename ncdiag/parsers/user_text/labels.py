"""Lines that name the run whose output follows: ``With NCCL 2.18.5:``, ``Good node:``, ``Output before it:``."""

from __future__ import annotations

import re
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.naming import Change, Naming
from ncdiag.parsers.user_text.trials import LEXER

_LONGEST = 160
_HEADS = lazy_regex(r"\s*(?:#{1,5}\s|\*\*[^*]+\*\*:?\s*$|.*[:\uff1a]\W*$)|\W*\(?[\"']?v?\d+\.\d[\w.-]*[\"']?\)?\W*$")
_ENDS = ":\uff1a*`\"')0123456789"
_WELL = lazy_regex(r"\b(?:good|working|healthy|fast|ok|successful)\b", re.IGNORECASE)
_ILL = lazy_regex(r"\b(?:bad|broken|failing|failed|faulty|slow|hanging|not\sworking)\b", re.IGNORECASE)
_SIDE = lazy_regex(
    r"\b(?:with(?:out)?|before|after|prior\sto|old|new|previous|commit)\b",
    re.IGNORECASE,
)


class Label(NamedTuple):
    """The conditions of a run, and whether the line calls it good; None if it does not say."""

    conditions: tuple[str, ...]
    well: bool | None


def read(line: str) -> Label | None:
    """The label that a line is, if it ends like one and names a side; None for any other line."""
    end = line.rstrip()[-1:]
    if len(line) > _LONGEST or (end not in _ENDS and "#" not in line) or not _HEADS.match(line):
        return None
    changes = [change for change, _ in Naming(line, LEXER.tokens(line), "nccl").changes()]
    conditions = tuple(dict.fromkeys(name for change in changes if (name := _name(change))))
    ill = _ILL.search(line) is not None
    well = None if ill is (_WELL.search(line) is not None) else not ill
    if not conditions and well is None and not _SIDE.search(line):
        return None
    return Label(conditions, well)


def _name(change: Change) -> str:
    if change.unit:
        number = ".".join(map(str, change.number))
        return f"{change.unit}-{number}" if number else f"{change.unit}-{change.name}"
    return f"unset {change.label.partition('=')[0]}" if change.without else change.label
