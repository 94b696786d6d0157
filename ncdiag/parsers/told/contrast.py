"""What trials say beside each other: numbers are compared, and a failure counts only where something else works."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ncdiag.parsers.told.changes import LESS_MORE, OTHER
from ncdiag.parsers.told.trials import Change, Found

_NEAR = 3
"""Lines between ``works with Y`` and ``fails with X`` that belong together."""
_ONE = {"gpu": "one-gpu", "host": "one-host"}
_WELL = frozenset({"works", "faster"})


class Trial(msgspec.Struct, frozen=True):
    """A trial with its label and the number of the line that tells it."""

    change: str
    outcome: str
    index: int


def settled(found: Sequence[tuple[Found, int]]) -> list[Trial]:
    """The trials of a text, each with the index of its line."""
    numbered = list(_compared([(trial, index) for trial, index in found if trial.change.unit]))
    named = [Trial(t.change.label, t.outcome, index) for t, index in found if not t.change.unit]
    trials = [*named, *numbered]
    well = [trial.index for trial in trials if trial.outcome in _WELL]
    kept = (t for t in trials if t.outcome != "fails" or any(abs(t.index - index) <= _NEAR for index in well))
    plain = (msgspec.structs.replace(t, outcome=t.outcome.rstrip("!")) for t in kept)
    return list(dict.fromkeys(plain))


def _compared(found: Sequence[tuple[Found, int]]) -> Iterator[Trial]:
    for unit in dict.fromkeys(trial.change.unit for trial, _ in found):
        of_unit = [(t.change, t.outcome, index) for t, index in found if t.change.unit == unit]
        works = [(change, index) for change, outcome, index in of_unit if outcome in _WELL]
        fails = [(change, index) for change, outcome, index in of_unit if outcome in {"fails", "same"}]
        if unit in OTHER:
            yield from _another(unit, works, fails)
            continue
        yield from _ends(unit, works, fails)
        for change, outcome, index in of_unit:
            if outcome == "same" and change.number == (1,) and unit in _ONE:
                yield Trial(_ONE[unit], "same", index)


def _another(unit: str, works: Sequence[tuple[Change, int]], fails: Sequence[tuple[Change, int]]) -> Iterator[Trial]:
    well, ill = ({change.name for change, _ in told} for told in (works, fails))
    if well and ill and not well & ill:
        yield Trial(OTHER[unit], "works", works[0][1])


def _ends(unit: str, works: Sequence[tuple[Change, int]], fails: Sequence[tuple[Change, int]]) -> Iterator[Trial]:
    less, more = LESS_MORE[unit]
    one = _ONE.get(unit, less)
    if not works or not fails:
        yield from (Trial(one, "works", index) for change, index in works if change.number == (1,) and unit in _ONE)
        return
    good, bad = _numbers(works), _numbers(fails)
    if max(good) < min(bad):
        yield Trial(one if max(good) == (1,) else less, "works", works[0][1])
        yield Trial(more, "fails!", fails[0][1])
    elif min(good) > max(bad):
        yield Trial(more, "works", works[0][1])
        yield Trial(less, "fails!", fails[0][1])


def _numbers(changes: Iterable[tuple[Change, int]]) -> list[tuple[int, ...]]:
    return [change.number for change, _ in changes]
