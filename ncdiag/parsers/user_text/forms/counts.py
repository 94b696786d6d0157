"""What numbers of GPUs, nodes or processes say: from which on it fails, or how many are not seen."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.forms.vocabulary import worded

_WORDS = {
    word: number
    for number, words in enumerate(
        (
            "two both pair 2nd",
            "three third",
            "four fourth",
            "five fifth",
            "six sixth",
            "seven seventh",
            "eight eighth",
            "nine ninth",
            "ten tenth",
            "eleven",
            "twelve",
        ),
        start=2,
    )
    for word in words.split()
} | {"one": 1, "single": 1, "fifteen": 15, "sixteen": 16, "thirty-two": 32, "sixty-four": 64}
_GPU = r"gpus?|cards?|devices?|[avhlb]\d{2,3}s?|[1-7]0[5-9]0s?"
_HOST = r"nodes?|hosts?|machines?|servers?|instances?|pods?"
_RANK = r"ranks?|process(?:es)?|workers?"
_UNIT = rf"(?:{_GPU}|{_HOST}|{_RANK})"
_CLAUSE = lazy_regex(r"[,;:]\s|\.\s|\s(?:but|while|whereas|and|yet|though|although|however|then)\s")
_NUMBER = lazy_regex(
    rf"(?<![\w.=/,-])(?P<number>(?![1-7]0[5-9]0)\d{{1,5}}|{'|'.join(re.escape(word) for word in _WORDS)})(?:rd"
    rf"|th|nd|st)?(?![\w%/]|\.\d)"
    r"(?!\s?(?:[kmgt]i?b\w*|ms|s|secs?|seconds?|mins?|minutes?|h|hours?|days?|weeks?|times?|x|percent|steps?"
    r"|epochs?|iterations?|it/s"
    r"|batch\w*|gbps|gbit\w*|mhz|watts?|w)\b)"
    rf"(?=(?:\s\w+)?\s(?:(?P<gpu>{_GPU})|(?P<host>{_HOST})|(?P<rank>{_RANK}))\b|)"
)
_HAS_UNIT = lazy_regex(rf"\b{_UNIT}\b|device_count")
_OTHER = lazy_regex(
    r"\b(?:nics?|hcas?|ports?|rails?|steps?|epochs?|bandwidth|gb/s|mb/s|slow\w*|fast\w*|speed\w*"
    r"|throughput|samples|tokens|loss|same|time|expected|(?:each|every|per|one)\s(?:container|pod|vm|tenant|user))\b"
)
_DENIED = lazy_regex(r"\b(?:no|without|zero)\s(?:\w+\s)?(?:problems?|issues?|errors?|troubles?|hangs?|failures?)\b")
_TOTAL = lazy_regex(
    r"\b(?:there\s(?:are|should\sbe|is)|has|have|had|asked\sfor|request\w*|install\w*|plugged|with|expect\w*"
    r"|should|box|machine|server|host|attached|physical\w*"
    r"|instead\sof|out\sof|of|all|own|lspci|built\sin|contains?|comes\swith|bought|ordered|although|though|but)\b"
)
_SEEN = lazy_regex(
    r"\b(?:sees?|saw|shows?|showed|detects?|detected|finds?|found|lists?|listed|recogni[sz]es?|recogni[sz]ed?"
    r"|reports?|reported|says?|returns?|prints?|counts?|enumerates?"
    r"|brings?\sup|exposes?|hands?\sout|visible|available|appears?|usable|identif\w+|device_count)\b"
)
_BEGAN = lazy_regex(r"\b(?:start(?:ed|s)?|began|begins?|booted|came\sup|boots|were|had|went\sin)\b")
_LEFT = lazy_regex(r"\b(?:had|has|only|left|remain\w*|shows?|showed|lists?|listed|sees?|saw|down\sto|just)\b")
_OTHERS = lazy_regex(
    r"\b(?:new|old|other|another|steps?|epochs?|bandwidth|gb/s|slow\w*|fast\w*|use|using|need\w*|util\w*)\b"
)
"""What says that the two numbers are not of one machine, or not of what is lost."""
_PAIR = 2
_BESIDE = 45
"""The greatest distance of a number from the verb that says that so many are seen."""
_GOES_ON = lazy_regex(r"(?:then\s)?(?:it|they|this|that)\b")
"""A clause about what the clause before counted."""
_BYTES = {prefix: 1 << 10 * power for power, prefix in enumerate("kmgt", start=1)}
_SIZE = lazy_regex(r"(?<![\w.])(?P<number>\d{1,6}(?:\.\d+)?)\s?(?P<prefix>[kmgt])(?:i?b)?\b(?!/s|ps)")
_SPEED = lazy_regex(
    r"/s\b|gbps|slow\w*|fast\w*|\b(?:v?ram|gpus?|cards?|hosts?|machines?)\s(?:with|of|has)\b"
    r"|memory\b(?!\s(?:region|regist))|disk"
)


@functools.cache
def _works() -> re.Pattern[str]:
    return lazy_regex(rf"(?<!\w)(?:{worded('<fine>')}|do(?:es)?|did|up\sto|succeeds?|good)(?!\w)")


@functools.cache
def _fails() -> re.Pattern[str]:
    return lazy_regex(
        rf"(?<!\w)(?:{worded('<bad>')}|do(?:es)?n't|do(?:es)?\snot|won't|will\snot|don't|didn't|not|never"
        rf"|no\smore)(?!\w)"
    )


class _Count(NamedTuple):
    """A number, what it counts where that is said, and where it is."""

    value: int
    unit: str | None
    start: int


def _counts(text: str) -> list[_Count]:
    return [
        _Count(
            _WORDS.get(found["number"]) or int(found["number"]),
            next((unit for unit in ("gpu", "host", "rank") if found[unit]), None),
            found.start(),
        )
        for found in _NUMBER.finditer(text)
    ]


def _value(count: _Count) -> int:
    return count.value


def fails_from(sentence: str) -> bool:
    """True if it works with some number of GPUs, nodes or processes, above one, and fails with more of them."""
    if not _HAS_UNIT.search(sentence) or _OTHER.search(sentence):
        return False
    well, ill = _sides(sentence, _counts)
    return bool(well) and max(count.value for count in well) > 1 and _are_more(ill, well)


def fails_above(sentence: str) -> bool:
    """True if it works up to a size of messages or buffers, and fails above it."""
    return not _SPEED.search(sentence) and _are_more(*reversed(_sides(sentence, _sizes)))


def _sides(sentence: str, counted: Callable[[str], list[_Count]]) -> tuple[list[_Count], list[_Count]]:
    """The numbers of the clauses in which it works, and of those in which it fails."""
    well: list[_Count] = []
    ill: list[_Count] = []
    here: list[_Count] = []
    for clause in _CLAUSE.split(sentence):
        own = [count for count in counted(clause) if count.value > 1]
        here = own or (here if _GOES_ON.match(clause) else [])
        plain = _DENIED.sub(" fine ", clause)
        if _fails().search(plain):
            ill += here
        elif _works().search(plain):
            well += here
    return well, ill


def _are_more(counts: list[_Count], others: list[_Count]) -> bool:
    return bool(counts and others) and all(_is_more(count, other) for count in counts for other in others)


def _sizes(text: str) -> list[_Count]:
    return [
        _Count(int(float(found["number"]) * _BYTES[found["prefix"]]), "size", found.start())
        for found in _SIZE.finditer(text)
    ]


def _is_more(count: _Count, other: _Count) -> bool:
    return count.value > other.value and (count.unit is None or other.unit is None or count.unit == other.unit)


def sees_fewer(sentence: str) -> bool:
    """True if fewer GPUs are seen than there are: ``nvidia-smi lists six cards, eight are installed``."""
    if not _HAS_UNIT.search(sentence) or _OTHER.search(sentence):
        return False
    counts = _counts(sentence)
    if len(counts) != _PAIR or len({count.value for count in counts}) == 1:
        return False
    if any(count.unit in {"host", "rank"} for count in counts):
        return False
    if "device_count" not in sentence and all(count.unit is None for count in counts):
        return False
    seen = min(counts, key=_value)
    near = [found.start() for found in _SEEN.finditer(sentence) if abs(found.start() - seen.start) <= _BESIDE]
    return bool(near) and _TOTAL.search(sentence) is not None


def loses_some(sentence: str) -> bool:
    """True if there were more GPUs before than later: ``we started with eight cards, now the box has six``."""
    counts = _counts(sentence)
    if len(counts) < _PAIR:
        return False
    first, last = counts[0], counts[-1]
    if first.value <= last.value or first.unit != "gpu" or last.unit in {"host", "rank"}:
        return False
    before, between = sentence[: first.start], sentence[first.start : last.start]
    return not _OTHERS.search(sentence) and _BEGAN.search(before) is not None and _LEFT.search(between) is not None
