"""Rates that a sentence gives beside changes: ``with NCCL 2.18 we get 180 GB/s, with 2.21 only 80 GB/s``.

Each rate belongs to the change before it, or after it where the first rate comes first. Rates of one unit are
compared; a small difference says nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.naming import Change
from ncdiag.parsers.user_text.words import Token

_RATE = lazy_regex(
    r"(?<![\w.])(\d+(?:\.\d+)?)\s?([KMGT]i?B/s(?:ec)?|[KMGT]i?Bps|[KMGT]bps|[KMGT]b/s|it/s|(?:tokens|samples|steps|images)/s(?:ec)?"
    r"|ms|us|s/it|sec(?:onds)?/(?:it|step))\b",
    re.IGNORECASE,
)
_LESS_IS_FASTER = frozenset({"ms", "us", "s/it"})
DIFFERS = 1.3
"""The ratio of two rates from which they differ."""


class Measure(msgspec.Struct, frozen=True):
    """A change with the rate that was reached with it; ``at`` is the place of the rate in the sentence."""

    change: Change
    rate: float
    unit: str
    at: int


def read(text: str, changes: Sequence[tuple[Change, Token]]) -> list[Measure]:
    """The rates of a sentence, each with its change; none where their numbers differ."""
    if not changes:
        return []
    inside = [(token.start, token.end) for _, token in changes]
    found = [m for m in _RATE.finditer(text) if not any(begin <= m.start() < end for begin, end in inside)]
    if len(found) != len(changes):
        return []
    return [
        Measure(change, float(rate[1]), _unit(rate[2]), rate.start())
        for (change, _), rate in zip(changes, found, strict=True)
    ]


def _unit(text: str) -> str:
    unit = text.lower().replace("sec", "s").replace("ps", "/s") if not text.lower().endswith("it") else "s/it"
    return f"{unit}{'' if text[1:2] != 'b' else ' of bits'}"


def compared(measures: Iterable[tuple[Measure, int]]) -> Iterator[tuple[Change, str, int]]:
    """The changes with which it is faster or slower than with another of their kind, with the index of the line."""
    kinds: dict[tuple[str, str], list[tuple[Measure, int]]] = defaultdict(list)
    for measure, index in measures:
        of = measure.change.unit or measure.change.label.partition("=")[0]
        kinds[of, measure.unit].append((measure, index))
    for (_, unit), told in kinds.items():
        rates = [measure.rate for measure, _ in told]
        low, high = min(rates), max(rates)
        if len({measure.change for measure, _ in told}) < 2 or not low or high < DIFFERS * low:  # noqa: PLR2004
            continue
        middle = (low * high) ** 0.5
        for measure, index in told:
            is_fast = (measure.rate > middle) is not (unit in _LESS_IS_FASTER)
            yield measure.change, "faster" if is_fast else "slower", index
