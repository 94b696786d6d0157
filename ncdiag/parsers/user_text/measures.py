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
from ncdiag.facts.model.told import RELEASED
from ncdiag.parsers.user_text.naming import Change
from ncdiag.parsers.user_text.words import Token

_RATE = lazy_regex(
    r"(?<![\w.])(\d+(?:\.\d+)?)\s?([KMGT]i?B/s(?:ec)?|[KMGT]i?Bps|[KMGT]bps|[KMGT]b/s|it/s|(?:tokens|samples"
    r"|steps|images)/s(?:ec)?"
    r"|ms|us|s/it|sec(?:onds)?/(?:it|step))\b",
    re.IGNORECASE,
)
_LESS_IS_FASTER = frozenset({"ms", "us", "s/it"})
_BARE = lazy_regex(r"(?<![\w.])(\d+(?:\.\d+)?)\W*$")
"""The last number of a sentence, of the unit of the one before."""
_PLACES = frozenset({"container", "no-container", "bare-metal", "host-network", "no-host-network"})
"""Where a job runs, to which rates may belong as well."""
DIFFERS = 1.3
"""The ratio of two rates from which they differ."""


def may_have(change: Change) -> bool:
    """True for a change whose rates are compared: a release, a variable with a value, or the place of the job."""
    return change.unit in RELEASED or "=" in change.label or change.label in _PLACES


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
    bare = _BARE.search(text) if len(found) == len(changes) - 1 == 1 else None
    if bare is not None and bare.start(1) > found[0].end() and bare.start(1) >= changes[-1][1].end:
        (first, _), (last, _) = changes
        unit = _unit(found[0][2])
        return [
            Measure(first, float(found[0][1]), unit, found[0].start()),
            Measure(last, float(bare[1]), unit, bare.start(1)),
        ]
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
        label = measure.change.label
        of = measure.change.unit or ("place" if label in _PLACES else label.partition("=")[0])
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
