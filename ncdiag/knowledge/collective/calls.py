"""Compare the collective traces and stacks of all ranks: which are late, and which called something else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Span
from ncdiag.facts.fold import fold_ranks
from ncdiag.facts.model import Difference, Event, Job, LastOp, Rank, StackDump
from ncdiag.facts.scalars import Version
from ncdiag.facts.vocabulary.stacks import (
    WAITS,
    awaited_by,
    is_helper,
    own_frame,
    place_text,
    process_name,
    telling_frame,
)

_COUNTED_BY_COMMUNICATOR = Version(2, 22)
_EQUAL_SIZES = {"AllReduce", "Broadcast", "Reduce", "AllGather", "ReduceScatter"}
"""Functions to which all ranks must pass the same number of elements."""
Caller = tuple[Rank, LastOp]


def call_mismatches(job: Job) -> Iterator[Event]:
    """Ranks of a communicator whose last calls have the same number but differ, in a job with a failure."""
    yield from _mismatches(_compared(job) if _went_wrong(job) else ())


def calls_apart(job: Job) -> Iterator[Event]:
    """Ranks whose last calls differ or are behind others, without any failure: the log may simply end there."""
    compared = () if _went_wrong(job) else list(_compared(job))
    yield from _mismatches(compared)
    for difference in _waits(compared):
        text = (
            f"{difference.groups['waiting']} called {difference.name} last, {difference.groups['late']} an earlier one"
        )
        yield Event(event="collective-mismatch", origin="nccl", text=text, provenance=difference.provenance)


def _mismatches(compared: Iterable[tuple[str, Sequence[Caller]]]) -> Iterator[Event]:
    for communicator, callers in compared:
        calls: dict[int, dict[str, list[Caller]]] = defaultdict(lambda: defaultdict(list))
        for caller in callers:
            calls[caller[1].op_count][_described(caller[1])].append(caller)
        for number, groups in calls.items():
            if len(groups) > 1:
                parts = ", ".join(f"{_named(found)} called {what}" for what, found in groups.items())
                first = [found[0] for found in groups.values()]
                yield Event(
                    event="collective-mismatch", origin="nccl", kind="cause",
                    text=f"as opCount {number:x} of communicator {communicator} {parts}", provenance=_spans(first),
                )  # fmt: skip


def call_waits(job: Job) -> Iterator[Difference]:
    """Communicators on which most ranks are at one call and few at an earlier one, in a job with a failure."""
    yield from (wait for wait, many in _apart(_compared(job) if _went_wrong(job) else ()) if many)


def _waits(compared: Iterable[tuple[str, Sequence[Caller]]]) -> Iterator[Difference]:
    yield from (wait for wait, _ in _apart(compared))


def _apart(compared: Iterable[tuple[str, Sequence[Caller]]]) -> Iterator[tuple[Difference, bool]]:
    """Ranks at a later call than others, and whether these are the majority."""
    for communicator, callers in compared:
        numbers = {op.op_count for _, op in callers}
        waiting = [caller for caller in callers if caller[1].op_count == max(numbers)]
        late = [caller for caller in callers if caller[1].op_count == min(numbers)]
        if len(numbers) > 1:
            wait = Difference(
                what="wait",
                name=f"{waiting[0][1].function} opCount {max(numbers):x} of communicator {communicator}",
                groups={"waiting": _named(waiting), "late": _named(late)},
                provenance=_spans([late[0], waiting[0]]),
            )
            yield wait, 2 * len(waiting) > len(callers)


def _went_wrong(job: Job) -> bool:
    return bool(job.timeouts) or any(e.kind in {"cause", "symptom"} for e in job.events)


def _compared(job: Job) -> Iterator[tuple[str, Sequence[Caller]]]:
    """The last calls on each communicator, where the numbers of the ranks are comparable."""
    found: dict[str, list[Caller]] = defaultdict(list)
    for rank in job.ranks:
        for op in rank.last_ops:
            if op.communicator is not None and rank.rank is not None and _counts_alike(rank):
                found[op.communicator].append((rank, op))
    yield from ((communicator, callers) for communicator, callers in found.items() if len(callers) > 1)


def _counts_alike(rank: Rank) -> bool:
    version = rank.nccl_version
    return len(rank.last_ops) == 1 or (version is not None and version.low >= _COUNTED_BY_COMMUNICATOR)


def _described(op: LastOp) -> str:
    return f"{op.function} of {op.count} {op.datatype}" if op.function in _EQUAL_SIZES else op.function


def _named(callers: Sequence[Caller]) -> str:
    """The ranks by their numbers in the job, as text."""
    numbers = [rank.rank for rank, _ in callers if rank.rank is not None]
    return f"{'rank' if len(numbers) == 1 else 'ranks'} {fold_ranks(numbers)}"


def _spans(callers: Sequence[Caller]) -> dict[str, Span]:
    """The lines of the last calls; the first one is the provenance of the fact as a whole."""
    lines = [span for rank, _ in callers if (span := rank.provenance.get("last_ops")) is not None]
    return {"": lines[0]} | {str(number): line for number, line in enumerate(lines)} if lines else {}


_NAMED = 4
"""The largest number of processes that are named; of more, only the number is given."""


def stack_waits(job: Job) -> Iterator[Difference]:
    """Collectives in which most processes with known stacks wait, while a few are somewhere else."""
    calls: dict[str, list[StackDump]] = defaultdict(list)
    elsewhere: list[StackDump] = []
    for dump in job.stack_dumps:
        told = telling_frame(dump)
        if told is not None and told[0] == "collective":
            calls[told[1].function.rpartition(".")[2]].append(dump)
        elif dump.has_failed or is_helper(dump):
            continue
        elif own_frame(dump) if told is None else told[0] not in WAITS:
            elsewhere.append(dump)
    name, waiting = max(calls.items(), key=lambda call: len(call[1]), default=("", []))
    if len(waiting) > max(len(elsewhere), 1):
        groups = {"waiting": _listed(waiting)}
        if elsewhere:
            groups["late"] = ", ".join(
                f"{process_name(dump)}, which is {place_text(dump)}," for dump in elsewhere[:_NAMED]
            )
        spans = {
            str(n): d.provenance[""]
            for n, d in enumerate([*elsewhere[:_NAMED], *waiting[:_NAMED]])
            if "" in d.provenance
        }
        yield Difference(what="wait", name=name, groups=groups, provenance=spans)


_BETWEEN_TWO = lazy_regex(r"i?(?:send|recv)|batch_isend_irecv|send_object_list|recv_object_list")
"""Calls in which ranks legitimately differ."""


_ANY = "wait_tensor"
"""The function that waits for a collective of any kind, so that it does not show which one."""


def stack_splits(job: Job) -> Iterator[Difference]:
    """Processes whose stacks are in different collectives: those in the most common one, and those in another."""
    calls: dict[str, list[StackDump]] = defaultdict(list)
    for dump in job.stack_dumps:
        placed = telling_frame(dump)
        if placed is not None and placed[0] == "collective":
            frame = awaited_by(dump) or placed[1]
            calls[frame.function.rpartition(".")[2]].append(dump)
    calls.pop(_ANY, None)
    if len(calls) > 1 and not any(_BETWEEN_TWO.match(name) for name in calls):
        groups = {
            f"{name}{_called_in(dumps[0], [d for o in calls for d in calls[o] if o != name])}": _listed(dumps)
            for name, dumps in sorted(calls.items(), key=lambda call: (len(call[1]), call[0]))
        }
        first = [dumps[0] for dumps in calls.values()]
        spans = {str(n): d.provenance[""] for n, d in enumerate(first) if "" in d.provenance}
        yield Difference(what="call", name="stacks", groups=groups, provenance=spans)


def _called_in(dump: StackDump, others: Sequence[StackDump]) -> str:
    """Where it was called, `` by evaluate (train.py:31)``: the outermost function that no other process is in."""
    elsewhere = {frame for other in others for thread in other.threads[:1] for frame in thread.frames}
    own = (frame for thread in dump.threads[:1] for frame in reversed(thread.frames) if frame not in elsewhere)
    found = next((frame for frame in own if frame.line is not None), None)
    return f" by {found.function} ({found.file}:{found.line})" if found else ""


def _listed(dumps: Sequence[StackDump]) -> str:
    return ", ".join(map(process_name, dumps)) if len(dumps) <= _NAMED else f"{len(dumps)} processes"
