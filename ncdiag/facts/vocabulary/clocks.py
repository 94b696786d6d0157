"""How far the clocks of the hosts are apart, from lines that all ranks of a communicator print at one moment.

NCCL prints the size of a communicator and of the job (``comm 0x1 rank 0 nRanks 16 nNodes 2 ...``) right behind an
exchange between all its ranks (src/init.cc, initTransportsRank): the times of that line differ by milliseconds and by
the clocks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View

RESOLUTION = 1.0
"""Seconds that most stamps count in: smaller differences tell nothing."""
_AT_ONCE = "comm-nodes"


@derived
def clock_offsets(job: Job, view: View) -> dict[str, float] | None:
    """Seconds by which the clock of each host is ahead of the median host's; hosts that told nothing are left out.

    None where fewer than two hosts told, or where a rank set up its largest communicator more than once, as a job that
    was started again does: nobody knows then which lines belong together.
    """
    lines = [e for e in job.events if e.event == _AT_ONCE and e.time is not None and e.host is not None]
    largest = max((size for e in lines if (size := _size(e)) is not None), default=None)
    told: dict[str, list[float]] = defaultdict(list)
    ranks: set[int] = set()
    for event in lines:
        rank = event.fields.get("rank")
        if _size(event) != largest or not isinstance(rank, int) or event.host is None or event.time is None:
            continue
        if rank in ranks or event.count > 1:
            return None
        ranks.add(rank)
        told[event.host].append(event.time)
    if len(told) < 2:  # noqa: PLR2004
        return None
    moments = {host: _median(times) for host, times in told.items()}
    middle = _median(moments.values())
    return {host: moment - middle for host, moment in moments.items()}


def _median(values: Iterable[float]) -> float:
    """As `statistics` has it, which takes longer to import than all of this to run."""
    ordered = sorted(values)
    return (ordered[len(ordered) // 2] + ordered[~(len(ordered) // 2)]) / 2


def _size(event: Event) -> int | None:
    size = event.fields.get("nranks")
    return size if isinstance(size, int) else None


@derived
def clock_skew(job: Job, view: View) -> float | None:
    """The largest difference between the clocks of two hosts in seconds, at least `RESOLUTION`; None when unknown."""
    offsets = clock_offsets(job, view)
    return None if offsets is None else max(RESOLUTION, max(offsets.values()) - min(offsets.values()))


def is_before(event: Event, other: Event, view: View) -> bool | None:
    """True if the event came before the other: by its line in one source, else by time; None where neither tells."""
    if source(event) == source(other):
        return event.order < other.order
    times = shared_time(event, view), shared_time(other, view)
    return None if times[0] is None or times[1] is None else times[0] < times[1]


def source(event: Event) -> str:
    """The source that told of the event, within which lines have an order."""
    return event.provenance[""].source if "" in event.provenance else ""


def shared_time(event: Event, view: View) -> float | None:
    """The time of an event by the median host's clock, where the offset of its host is known; else as printed."""
    offsets = clock_offsets(view.job, view) or {}
    return None if event.time is None else event.time - offsets.get(event.host or "", 0.0)
