"""What trials say beside each other: numbers are compared, and a failure counts only where something else works."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ncdiag.facts.model.told import RELEASED
from ncdiag.parsers.user_text.changes import LESS_MORE, OTHER
from ncdiag.parsers.user_text.naming import Change
from ncdiag.parsers.user_text.trials import Found

_NEAR = 3
"""Lines between ``works with Y`` and ``fails with X`` that belong together."""
_ONE = {"gpu": "one-gpu", "host": "one-host", "container": "one-container", "batch": "smaller-batch"}
_SPELT = {
    "nccl": "NCCL", "driver": "driver", "cuda": "CUDA", "framework": "framework", "kernel": "kernel",
    "firmware": "firmware", "ofed": "OFED", "rocm": "ROCm",
}  # fmt: skip
"""How the things are called whose releases are shown as people write them: their parts have no leading zeros."""
_WELL, _ILL = frozenset({"works", "faster"}), frozenset({"fails", "same", "vain", "slower"})


class Trial(msgspec.Struct, frozen=True):
    """A trial with its label and the number of the line that tells it; ``release`` is the one that was tried."""

    change: str
    outcome: str
    index: int
    release: str = ""


def settled(found: Sequence[tuple[Found, int]]) -> list[Trial]:
    """The trials of a text, each with the index of its line."""
    numbered = list(_compared([(trial, index) for trial, index in found if trial.change.unit], _labels(found)))
    named = [Trial(t.change.label, t.outcome, index) for t, index in found if not t.change.unit]
    trials = [*named, *numbered]
    well = [trial for trial in trials if trial.outcome in _WELL]
    plain = (msgspec.structs.replace(t, outcome=said) for t in trials if (said := _beside(t, well)))
    return list(dict.fromkeys(plain))


def _beside(trial: Trial, well: Sequence[Trial]) -> str:
    """What a trial says beside those that went well: a failure alone says nothing, unless it was tried as a remedy."""
    near = [other for other in well if abs(other.index - trial.index) <= _NEAR]
    if trial.outcome == "vain":
        return "fails" if any(_variable(other) == _variable(trial) for other in near) else "same"
    return "" if trial.outcome == "fails" and not near else trial.outcome.rstrip("!")


def _variable(trial: Trial) -> str:
    return trial.change.partition("=")[0]


def _labels(found: Sequence[tuple[Found, int]]) -> frozenset[str]:
    """The labels of changes that are told to fail: beside ``newer-nccl`` a release that works is the older one."""
    return frozenset(t.change.label for t, _ in found if t.outcome in {"fails", "fails!"} and t.change.label)


def _compared(found: Sequence[tuple[Found, int]], failing: frozenset[str]) -> Iterator[Trial]:
    for unit, name in dict.fromkeys((t.change.unit, "" if t.change.unit in OTHER else t.change.name) for t, _ in found):
        of_unit = [
            (t.change, t.outcome, index) for t, index in found
            if t.change.unit == unit and (unit in OTHER or t.change.name == name)
        ]  # fmt: skip
        works = [(change, index) for change, outcome, index in of_unit if outcome in _WELL]
        fails = [(change, index) for change, outcome, index in of_unit if outcome in _ILL]
        outcomes = {outcome for _, outcome, _ in of_unit}
        said = ("faster", "slower") if outcomes <= {"faster", "slower"} else ("works", "fails!")
        if unit in OTHER:
            yield from _another(unit, works, fails)
            yield from (
                Trial(OTHER[unit], outcome, index)
                for _, outcome, index in of_unit
                if outcome == "same" and unit == "launcher"
            )
            continue
        yield from _ends(unit, works, fails, said)
        if unit in RELEASED:
            in_vain = [(change, index) for change, outcome, index in of_unit if outcome in {"same", "vain"}]
            yield from _alone(unit, works, fails, in_vain, failing, said[0])
        for change, outcome, index in of_unit:
            if outcome in {"same", "vain"} and change.number == (1,) and unit in _ONE and not works:
                yield Trial(_ONE[unit], "same", index)


def _alone(  # noqa: PLR0913, PLR0917  (both sides, and what is said of them)
    unit: str,
    works: Sequence[tuple[Change, int]],
    fails: Sequence[tuple[Change, int]],
    in_vain: Sequence[tuple[Change, int]],
    failing: frozenset[str],
    well: str,
) -> Iterator[Trial]:
    """Releases of which only one side is told, under their own number where nothing says what the other side is."""
    less, more = LESS_MORE[unit]
    told, outcome = (works, well) if works else (in_vain, "same")
    for change, index in told if not (works and fails) else ():
        label = f"{change.name or unit}-{'.'.join(map(str, change.number))}"
        if outcome == well and {less, more} & failing:
            label = less if more in failing else more
        yield Trial(label, outcome, index)


def _another(unit: str, works: Sequence[tuple[Change, int]], fails: Sequence[tuple[Change, int]]) -> Iterator[Trial]:
    well, ill = ({change.name for change, _ in told} for told in (works, fails))
    if well and ill and not well & ill:
        yield Trial(OTHER[unit], "works", works[0][1])


def _ends(
    unit: str, works: Sequence[tuple[Change, int]], fails: Sequence[tuple[Change, int]], said: tuple[str, str]
) -> Iterator[Trial]:
    well, ill = said
    less, more = LESS_MORE[unit]
    one = _ONE.get(unit, less)
    if not works or not fails:
        yield from (Trial(one, "works", index) for change, index in works if change.number == (1,) and unit in _ONE)
        return
    bad = _numbers(fails)
    good = _numbers(works)
    if unit in RELEASED:  # a release that fails at times fails
        good = [number for number in good if number not in bad] or good
    if max(good) < min(bad):
        yield Trial(one if max(good) == (1,) else less, well, works[0][1], _release(works, max(good)))
        yield Trial(more, ill, fails[0][1])
    elif min(good) > max(bad):
        yield Trial(more, well, works[0][1], _release(works, min(good)))
        yield Trial(less, ill, fails[0][1])


def _numbers(changes: Iterable[tuple[Change, int]]) -> list[tuple[int, ...]]:
    return [change.number for change, _ in changes]


def _release(works: Iterable[tuple[Change, int]], number: tuple[int, ...]) -> str:
    """The release with this number among those that work, as ``nccl 2.18.3``; empty for what has no releases."""
    change = next(change for change, _ in works if change.number == number)
    if change.unit not in _SPELT:
        return ""
    parts = [f"{part:02}" if change.unit == "driver" else str(part) for part in number]
    return f"{change.name or _SPELT[change.unit]} {'.'.join(parts)}"
