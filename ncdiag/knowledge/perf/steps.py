"""What the times of a training's steps show: a rank that is late in each, or the share of data and communication."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job, StepAccount, StepPart
from ncdiag.facts.view import View
from ncdiag.knowledge.perf.entries import enters_late

_RANKS = 3
"""Minimum number of ranks to compare."""
_LATE = 1.25
"""Minimum ratio of the time of a late rank to the median of the others; caches and clocks explain less."""
_SPREAD = 1.5
"""Minimum ratio of the slowest rank to the fastest, where only these two are known."""
_WORTH = 10.0
"""Minimum difference in milliseconds, where the unit is known."""
_IS_STEP = lazy_regex(r"(?:(?:step|iter(?:ation)?|batch)[-_ /]?)?(?:time|elapsed)|step|iter(?:ation)?", re.IGNORECASE)
"""Names of the time of the whole step."""
_MILLI = {"us": 1e-3, "ms": 1.0, "s": 1e3}

_Times = Mapping[int, float]
"""The mean time of a part, by rank."""


@derived
def step_accounts(job: Job, view: View) -> tuple[StepAccount, ...]:
    """A late rank, or the part in which ranks differ most; the share of the data; the share of NCCL in each profile."""
    by_rank: dict[tuple[str, str, str], dict[int, list[StepPart]]] = defaultdict(lambda: defaultdict(list))
    for part in job.step_parts:
        if part.rank is not None and not _is_apart(part.part):
            by_rank[part.part, part.sort, part.unit][part.rank].append(part)
    late = _late(by_rank)
    spread = None if late else _spread(job.step_parts)
    enters = enters_late(view)
    return tuple(found for found in (late, enters, spread, _data(job.step_parts), *_profiles(job.step_parts)) if found)


def _late(by_rank: Mapping[tuple[str, str, str], Mapping[int, Sequence[StepPart]]]) -> StepAccount | None:
    """The one rank that needs longer than the others for a part, with the time that they wait for it."""
    means = {
        key: {rank: fmean(one.value for one in parts) for rank, parts in ranks.items()}
        for key, ranks in by_rank.items() if len(ranks) >= _RANKS
    }  # fmt: skip
    waits = {key: times for key, times in means.items() if key[1] == "communication"}
    work = {key: times for key, times in means.items() if key not in waits}
    odd = [
        (most - usual, rank, key, most, usual) for key, times in work.items() for rank, most, usual in _odd(times, key)
    ]
    if odd:
        _, rank, key, most, usual = max(odd)
        part = "" if _IS_STEP.fullmatch(key[0]) else f" for {key[0]}"
        text = f"rank {rank} needs {_amount(most, key)}{part}, where the others need {_amount(usual, key)}"
        text += "" if part or waits else f" and wait {_amount(most - usual, key)} for it"
        for other, times in waits.items():
            if rank in times and (rest := [value for one, value in times.items() if one != rank]):
                waited = _amount(median(rest), other)
                text += f" and spend {waited} in {other[0]}, which takes it {_amount(times[rank], other)}"
                break
        return _account("late", text, by_rank[key][rank][0], rank=rank)
    for key, times in waits.items():
        for rank, least, usual in _odd(times, key, lowest=True):
            text = f"rank {rank} spends {_amount(least, key)} in {key[0]}, where the others spend {_amount(usual, key)}"
            return _account("late", f"{text}: they wait for it", by_rank[key][rank][0], rank=rank)
    return None


def _odd(times: _Times, key: tuple[str, str, str], *, lowest: bool = False) -> Iterator[tuple[int, float, float]]:
    """(rank, its time, the median of the others) of the one rank that differs; nothing if several do."""
    ordered = sorted(times, key=lambda rank: times[rank], reverse=not lowest)
    rank, rest = ordered[0], [times[other] for other in ordered[1:]]
    usual, own = median(rest), times[rank]
    gap = abs(own - usual)
    differs = own * 2 < usual if lowest else own > _LATE * usual
    if usual > 0 and differs and abs(rest[0] - usual) < gap / 2 and gap * _MILLI.get(key[2], _WORTH) >= _WORTH:
        yield rank, own, usual


def _spread(parts: Sequence[StepPart]) -> StepAccount | None:
    """The part of which the slowest rank needs much longer than the fastest, by the largest difference."""
    wide = [
        one for one in parts
        if one.least is not None and one.sort != "communication" and one.value > _SPREAD * one.least
        and (one.value - one.least) * _MILLI.get(one.unit, _WORTH) >= _WORTH and not _is_apart(one.part)
    ]  # fmt: skip
    names = [one.part for one in wide]
    usual = [one for one in wide if names.count(one.part) > 1] or wide
    if not usual:
        return None
    worst = max(usual, key=lambda one: one.value - (one.least or 0.0))
    key = (worst.part, worst.sort, worst.unit)
    least, most = _amount(worst.least or 0.0, key), _amount(worst.value, key)
    return _account("spread", f"one rank needs {most} for {worst.part}, another {least}", worst)


def _is_apart(part: str) -> bool:
    """True for a timer of the start, of a checkpoint, of batches that some ranks load, or with a collective in it."""
    return part.endswith("setup") or any(word in part for word in ("checkpoint", "batch-generator", "clip", "unscale"))


def _data(parts: Sequence[StepPart]) -> StepAccount | None:
    """The usual share of the data in a step; the first steps of a run and of each epoch wait for their data."""
    known = [one for one in parts if one.sort == "data" and one.whole]
    steps = [one for one in known if one.rank is None][1:] or [one for one in known if one.rank is not None]
    if not steps:
        return None
    data, whole = median(one.value for one in steps), median(one.whole or 0.0 for one in steps)
    text = f"loading the data takes {data:.3g} of {whole:.3g} {steps[0].unit} of a step"
    return _account("data", text, steps[0], share=data / whole)


def _profiles(parts: Sequence[StepPart]) -> Iterator[StepAccount]:
    """For each profile the share of the GPU's time that the kernels of NCCL have, and the time of a step."""
    for one in parts:
        if one.sort == "communication" and one.whole:
            share = min(one.value / one.whole, 1.0)
            times = f"{one.value:.4g} of {one.whole:.4g} {one.unit}, {one.tool}"
            text = f"{one.part} take {share:.0%} of the GPU's time ({times}{_of_rank(one)})"
            step = [each for each in parts if each.tool == one.tool and each.rank == one.rank]
            text += "".join(f"; a step takes {each.value:.4g} ms" for each in step if each.part == "a step")
            text += "".join(f", of which the data take {each.value:.4g} ms" for each in step if each.sort == "data")
            yield _account("communication", text, one, share=share)


def _of_rank(part: StepPart) -> str:
    return f" of rank {part.rank}" if part.rank is not None else ""


def _account(
    what: str, text: str, part: StepPart, *, rank: int | None = None, share: float | None = None
) -> StepAccount:  # fmt: skip
    return StepAccount(what=what, text=text, rank=rank, share=share, provenance=part.provenance)  # type: ignore[arg-type]


def _amount(value: float, key: tuple[str, str, str]) -> str:
    return f"{value:.4g} {key[2]}".rstrip()
