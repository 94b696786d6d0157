"""How far the clocks of the hosts are apart, from lines that all ranks of a communicator print at the same moment.

NCCL prints the size of a communicator and of the job (``comm 0x1 rank 0 nRanks 16 nNodes 2 ...``) immediately after an
exchange between all its ranks (src/init.cc, initTransportsRank), so the times of that line differ by milliseconds and
by the clocks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View

RESOLUTION = 1.0
"""The resolution of most timestamps in seconds; smaller differences mean nothing."""
_AT_ONCE = "comm-nodes"


@derived
def clock_offsets(job: Job, view: View) -> dict[str, float] | None:
    """Seconds by which the clock of each host is ahead of the median host's; hosts without such lines are left out.

    None where fewer than two hosts have such lines, or where a rank set up its largest communicator more than once, as
    a restarted job does: then it is unknown which lines belong together.
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
    """The median, as in `statistics`, whose import takes longer than this module's work."""
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
    """Did the event come before the other? Decided by line within one source, else by time.

    None if neither is known.
    """
    if source(event) == source(other):
        return event.order < other.order
    times = shared_time(event, view), shared_time(other, view)
    return None if times[0] is None or times[1] is None else times[0] < times[1]


def source(event: Event) -> str:
    """The source in which the event was printed; lines are ordered within a source."""
    return event.provenance[""].source if "" in event.provenance else ""


def shared_time(event: Event, view: View) -> float | None:
    """The time of an event by the median host's clock, where the offset of its host is known; else as printed."""
    offsets = clock_offsets(view.job, view) or {}
    return None if event.time is None else event.time - offsets.get(event.host or "", 0.0)
