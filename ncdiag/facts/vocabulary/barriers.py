"""Who did not come to a barrier of DeepEP, by the lines of those that waited: each names its own rank.

The line of a barrier over NCCL's GIN also names the peer that did not signal: its thread number is that of the peer
(deepseek-ai/DeepEP, deep_ep/include/deep_ep/common/comm.cuh, gin_barrier_wo_local_sync).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_ranks
from ncdiag.facts.model import Difference, Event, Job
from ncdiag.facts.view import View

_TIMEOUT = "deepep-timeout"
_NUMBERS = lazy_regex(r"\b(tag|rank|nvl|scaleout|scaleup|thread): (\d{1,6})")
_OWN = ("rank", "nvl", "scaleup", "scaleout")
"""The words before the number of a rank; of two of a barrier, that which differs between the ranks counts."""
_GIN = "gin"
OF_KERNELS = " of DeepEP"
"""The end of the name of a barrier that kernels wait in."""
_TRAP = "unspecified launch failure"
_FEW = 4
"""More than one missing rank in this number is a regular pattern."""


def barrier_waits(job: Job) -> Iterator[Difference]:
    """Barriers in which several ranks waited up to the limit, with the few that did not come; none without them."""
    barriers: dict[tuple[str, int | None], list[tuple[Event, dict[str, int]]]] = defaultdict(list)
    for event in job.events:
        step = "barrier" if "barrier_value" in event.fields else str(event.fields.get("step", ""))
        if event.event == _TIMEOUT and "barrier" in step.lower():
            numbers = {name: int(number) for name, number in _NUMBERS.findall(str(event.fields.get("detail", "")))}
            if isinstance(rank := event.fields.get("rank"), int):
                numbers["rank"] = rank
            barriers[step, numbers.get("tag")].append((event, numbers))
    for (step, _), found in barriers.items():
        word, came = _own([numbers for _, numbers in found])
        late = _absent(came, [numbers for _, numbers in found], names_peers=_GIN in step.lower())
        if late and _FEW * len(late) <= len(came):
            groups = {
                "waiting": f"{word}s {fold_ranks(came)}",
                "late": f"{word}{'s'[: len(late) - 1]} {fold_ranks(late)}",
            }
            spans = dict.fromkeys(span for event, _ in found for span in event.provenance.values())
            provenance = {str(n) if n else "": span for n, span in enumerate(spans)}
            yield Difference(what="wait", name=f"a {step}{OF_KERNELS}", groups=groups, provenance=provenance)


def is_late_at_barrier(view: View) -> bool:
    """Do the lines of a barrier show which ranks did not come?"""
    return view.remembered(("late at a barrier",), lambda: next(barrier_waits(view.job), None) is not None)


@derived
def is_barrier_trap(event: Event, view: View) -> bool:
    """Is it the launch failure with which DeepEP ends a kernel that waited for a late rank (``trap``)?"""
    return _TRAP in event.text.lower() and is_late_at_barrier(view)


def _own(found: list[dict[str, int]]) -> tuple[str, set[int]]:
    """The kind of rank number by which the lines differ, and its values; no values unless it is exactly one kind."""
    held = {name: {numbers[name] for numbers in found if name in numbers} for name in _OWN}
    apart = [(name, values) for name, values in held.items() if len(values) > 1]
    if len(apart) != 1:
        return "", set()
    name, values = apart[0]
    return "scaleout rank" if name == "scaleout" else "rank", values


def _absent(came: set[int], found: list[dict[str, int]], *, names_peers: bool) -> set[int]:
    """The peers that the lines name, else the numbers between those that came."""
    if not came:
        return set()
    peers = {numbers["thread"] for numbers in found if "thread" in numbers} if names_peers else set()
    if peers:
        return peers if peers.isdisjoint(came) else set()
    return set(range(max(came) + 1)) - came
