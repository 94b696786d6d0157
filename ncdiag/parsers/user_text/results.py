"""Which outcomes a part of a sentence tells, each by the word that says so: denied, repeated, or as two rates."""

from __future__ import annotations

import itertools
import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text import speeds
from ncdiag.parsers.user_text.outcomes import INVERSE
from ncdiag.parsers.user_text.words import Token

_FEW = 2
"""Words that may be between a denial and what it denies."""
_PURPOSE = lazy_regex(
    r"\bto\s(?:(?:make|get|have)\s(?:it|this|everything|nccl|the\s\w+)\s)?(?:\w+ly\s)?$", re.IGNORECASE
)
_HAD_TO = lazy_regex(
    r"\b(?:i|we)\s(?:had|have|needed|need)\sto\b|\b(?:seems?|appears?|managed|able|continue[sd]?|keeps?|tends?"
    r"|turn(?:s|ed)\sout|prove[sd]|got\sit|start(?:s|ed)?|began|used|enough|sufficient)\sto\s(?:make\s(?:it|this)\s)?$",
    re.IGNORECASE,
)
_LEARNS = lazy_regex(r"\b(?:loss|accuracy|converg\w+|perplexity)\s(?:\w+\s)?$", re.IGNORECASE)
"""What changes as a model learns, which is not the speed of a job."""
_END = lazy_regex(
    r"\W*(?:now\W*|again\W*|then\W*|here\W*|$)|\s*[,.;!()]|\s(?:but|and|now|if|when|once|as\ssoon\sas)\b",
    re.IGNORECASE,
)

_CAUSES = lazy_regex(
    r"(?:caus|trigger|provok|produc|introduc|creat|induc)\w*|(?:lead|led|result|give|bring|brought)s?\s(?:rise\s"
    r"|about\s)?(?:to|in)\b",
    re.IGNORECASE,
)
"""Verbs whose denial exonerates the change, and does not say that it cures: ``a reboot does not cause the hang``."""


def outcomes_of(tokens: list[Token], text: str, base: str, said: str) -> tuple[list[tuple[Token, str]], str]:
    """The outcomes of a segment, and what the last of them would be without a denial."""
    result: list[tuple[Token, str]] = []
    for place, token in enumerate(tokens):
        outcome = ""
        if token.kind == "out":
            outcome = _outcome(tokens, place, text)
            base = _base(token) if outcome else base
        elif token.kind == "ellipsis":
            outcome = said if token.value == "so" else _repeated(token, base)
        if outcome in {"same", "other"} and result and result[-1][1] == "fails" and not token.text.startswith("so "):
            between = [t for t in tokens[:place] if t.start >= result[-1][0].end]
            if not between:
                result[-1] = result[-1][0], outcome
                continue
        if outcome == "fails" and result and result[-1][1] == "same" and tokens[place - 1] is result[-1][0]:
            continue  # the same happens
        if token.value == "gone" and result and result[-1][1] == "fails" and tokens[place - 1] is result[-1][0]:
            result.pop()  # the error has vanished
        if outcome:
            result.append((token, outcome))
            said = outcome
    return result, base


_DENIES = lazy_regex(r"(?:\w+n't|\w+\s(?:not|never)|cannot|can't|never|no\slonger|unable|refuse[sd]?)\s", re.IGNORECASE)


def _base(token: Token) -> str:
    """What an auxiliary verb behind the word repeats: that of ``it won't start, with B it does`` is to start."""
    plain = _PLAINLY.get(token.value, token.value)
    return INVERSE[plain] if plain in {"works", "fails"} and _DENIES.match(token.text) else plain


_PLAINLY = {"gone": "works", "weak": "works", "weak-fails": "fails"}


def _repeated(token: Token, base: str) -> str:
    """What an auxiliary verb alone says: what was told before, or its contrary."""
    if token.value == "yes":
        return base
    return INVERSE.get(base, "") if base else "fails" if token.value == "not" and token.text[0] in "dD" else ""


def _onset(before: list[Token], token: Token, text: str) -> str:
    """That it fails since then; empty where that is denied: ``so this is not a ROCm 10 regression``."""
    near = itertools.takewhile(lambda t: t.kind != "out", reversed(before))
    denied = any(t.kind == "not" and text[t.end : token.start].count(" ") <= 2 * _FEW for t in near)
    return "" if denied else "fails"


def _relative(before: list[Token], token: Token, text: str) -> str:
    if token.value == "onset":
        return _onset(before, token, text)
    return speeds.direction(token.value, text, token.start, token.end)


def _says_nothing(tokens: list[Token], place: int, text: str) -> bool:
    """True for a weak word that is a noun (``all runs hang``), or neither at the end nor beside another outcome."""
    token = tokens[place]
    others = any(other.kind in {"out", "ellipsis"} and other is not token for other in tokens)
    following = tokens[place + 1] if place + 1 < len(tokens) else None
    is_noun = following is not None and following.kind == "out" and following.start == token.end + 1
    return is_noun or not (others or _END.match(text, token.end))


def _outcome(tokens: list[Token], place: int, text: str) -> str:
    """What the word says where it stands; empty for nothing."""
    token = tokens[place]
    outcome = _PLAINLY.get(token.value, token.value)
    if token.value == "onset" or token.value in speeds.RELATIVE:
        return _relative(tokens[:place], token, text)
    if token.value.startswith("weak") and _says_nothing(tokens, place, text):
        return ""
    if any(t.value == "neither" for t in tokens[:place]):
        needed = any(t.value == "off" for t in tokens[place + 1 : place + 2])  # nothing works without it
        return "same" if outcome in {"cures", "works", "differs"} and not needed else INVERSE.get(outcome, "")
    if outcome in {"slower", "faster"} and _LEARNS.search(text, 0, token.start):
        return ""
    previous = tokens[place - 1] if place else None
    if previous is not None and previous.kind == "not" and text[previous.end : token.start].count(" ") <= _FEW:
        return "" if outcome == "fails" and _CAUSES.match(token.text) else INVERSE.get(outcome, "")
    purpose = _PURPOSE.search(text[: token.start]) and not _HAD_TO.search(text[: token.start])
    return "" if purpose or outcome == "differs" else outcome
