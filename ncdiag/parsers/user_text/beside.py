"""Which changes of a part of a sentence were made, and which are only told beside them.

That is what was there before, what it is compared to, the releases of a machine that is described, and commands.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model.told import RELEASED
from ncdiag.parsers.user_text.changes import LESS_MORE
from ncdiag.parsers.user_text.naming import Change
from ncdiag.parsers.user_text.words import Token

_FAR = 80
"""Letters before a change in which it says what the change is."""
_INSTEAD = lazy_regex(r"\b(?:instead\sof|rather\sthan)\s(?:\w+\s)?$", re.IGNORECASE)
_THAN = lazy_regex(
    r"\b(?:than|as(?=\s(?:with|on|in|for|under|using)\s)|compared\s(?:to|with)|versus|vs\.?)\s(?:(?:with|on|in"
    r"|for|using|under|that\sof|the|previous|what\swe\sget)\s){0,3}$",
    re.IGNORECASE,
)
_SET_UP = lazy_regex(
    r"\b(?:our|my|the|this)\s(?:\w+\s)?(?:set-?up|stack|environment|env|config\w*|system|cluster|machines?|nodes?"
    r"|servers?|hosts?)(?:\s(?:has|have|is|are|runs?|uses?|consists?|comes?)\b|:)",
    re.IGNORECASE,
)
"""How a description of the machines begins: the releases in it were not tried."""
_ALIKE = lazy_regex(
    r"[\s,/&+`\"'()]*(?:(?:and|or|nor|as\swell\sas)\b|[和或与、])?[\s`\"'(]*(?:(?:on|in|with|even)\b)?[\s`\"'(]*",
    re.IGNORECASE,
)
"""What is between changes that are told in one breath."""
_SAYS_DONE = frozenset({"link", "tried", "since", "before", "act", "out"})
_COMMAND = lazy_regex(
    r"\b(?:(?:mpirun|mpiexec|torchrun|srun)\s+-|python3?\s+(?:-\w|\S+\.py\b))[^`#]*?(?=`|#|$|,\s|\s(?:work|hang"
    r"|fail|crash|is|do|does|did|and)(?:s|es|n't)?\b)|\s\./\S+",
    re.IGNORECASE,
)
_SIZE = lazy_regex(r"-np?\s\d+|--n(?:proc[-_]per[-_]node|nodes)[\s=]\d+|-g\s\d+")


def without_commands(text: str) -> str:
    """The text with blanks in place of commands."""
    return _COMMAND.sub(_size_alone, text) if "-" in text or "./" in text else text


def by_role(
    changes: list[tuple[Change, Token]], tokens: list[Token], text: str
) -> tuple[list[tuple[Change, Token]], list[tuple[Change, Token]], list[tuple[Change, Token]]]:
    """The changes that were made, those that they were made instead of, and those to which they are compared.

    The releases in a description of machines were not tried.
    """
    units = [(c.unit, t.start) for c, t in changes if c.unit in RELEASED]
    if len({unit for unit, _ in units}) == len(units) > 1 and (
        _SET_UP.search(text) or not any(t.kind in _SAYS_DONE and t.start < units[0][1] for t in tokens)
    ):
        changes = [(c, t) for c, t in changes if c.unit not in RELEASED]
    instead = [(c, t) for c, t in changes if _INSTEAD.search(text, max(0, t.start - _FAR), t.start)]
    than = [(c, t) for c, t in changes if _THAN.search(text, max(0, t.start - _FAR), t.start)]
    return [each for each in changes if each not in instead and each not in than], instead, than


def against(own: list[Change], instead: list[Change]) -> tuple[list[Change], list[Change]]:
    """Numbers that are told beside those that they stand instead of, as fewer or more; and what else was instead."""
    before = {change.unit: change for change in instead if change.number}
    told = [
        Change(LESS_MORE[c.unit][c.number > before[c.unit].number]) if c.number and c.unit in before else c for c in own
    ]
    units = {change.unit for change in own if change.number}
    return told, [change for change in instead if change.unit not in units or not change.number]


def of_one_breath(changes: list[tuple[Change, Token]], text: str) -> list[tuple[Change, Token]]:
    """Of changes before an outcome those that share it: of two values of one thing, told apart, the last."""
    kept: list[tuple[Change, Token]] = []
    for change, token in changes:
        if kept and _of_one_thing(kept[-1][0], change) and not _ALIKE.fullmatch(text, kept[-1][1].end, token.start):
            kept = [(c, t) for c, t in kept if not _of_one_thing(c, change)]
        kept.append((change, token))
    return kept


def _of_one_thing(one: Change, other: Change) -> bool:
    named = one.label.partition("=")[0] == other.label.partition("=")[0]
    return one.unit == other.unit if one.unit or other.unit else named


def _size_alone(command: re.Match[str]) -> str:
    """Blanks in place of a command; what it says of the number of GPUs or hosts stays, if that is one number."""
    sizes = list(_SIZE.finditer(command[0]))
    size = sizes[0] if len(sizes) == 1 else None
    blanks = " " * len(command[0])
    return blanks if size is None else blanks[: size.start()] + size[0] + blanks[size.end() :]
