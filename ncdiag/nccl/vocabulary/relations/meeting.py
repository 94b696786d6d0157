"""Who came to the place where the ranks meet: processes that are alone, others that nobody started, one side."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Benchmark, Event, Fact, Job, Launch, Rank, Relation, Timeout
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.addresses import STORE_UNREACHED
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.facts.vocabulary.launches import EACH_ON_ITS_HOST, MPI_PROGRAMS
from ncdiag.facts.vocabulary.outcome import went_on
from ncdiag.facts.vocabulary.places import place
from ncdiag.facts.vocabulary.probes import lines_of

_ANNOUNCED, _UNANSWERED = frozenset({"rank-announced", "program-greets"}), "rendezvous-unanswered"
_WAITED = frozenset({"torch-store-timeout", "coordination-start-timeout"})
_STARTS_SEVERAL = (*MPI_PROGRAMS, "srun")
_LOCAL = lazy_regex(
    r"(?:coordinator_address|init_method|address)\W{1,4}(?:\w{1,8}://)?(?:localhost|127\.\d|0\.0\.0\.0)", re.IGNORECASE
)
"""A local address as the place where the ranks meet, in the code of a program."""
_SEVERAL = 2
_BETWEEN = 1
"""Lines that may be between two lists: an empty comment."""
_FINISHED, _DIED = "program-finished", frozenset({"oom-kill", "torch-ranks-missing", "python-exception"})
_FEW = 8
"""The largest number of elements of a barrier, a flag or a count."""


def alone_by_rank(job: Job, view: View) -> Iterator[Relation]:
    """Several processes that ran together all call themselves the first of one."""
    if listed := _listed_apart(job):
        yield Relation(what="alone", text=listed[1], provenance=lines_of(listed[0]))
    if announced := _announced_apart(job):
        yield Relation(what="says-alone", text=announced[1], provenance=lines_of(announced[0]))


def _listed_apart(job: Job) -> tuple[list[Fact], str] | None:
    """Lists of devices of nccl-tests, line after line, of different processes, each of which begins at rank 0."""
    group: list[Benchmark] = []
    longest = group
    for before, run in pairwise(job.benchmarks):
        is_list = run.nranks is not None and run.nthreads is None  # the last one may have the table below it
        if not (_is_list(before) and is_list and _are_next(before, run)):
            group = []
            continue
        group = [*(group or [before]), run]
        longest = max(longest, group, key=len)
    group = longest
    if len(group) < _SEVERAL:
        return None
    first: list[Rank] = [rank for rank in job.ranks if rank.rank == 0]
    owners = {(rank.host, rank.pid) for rank in first}
    if len(owners) < len(group):
        return None
    return [*group, *first], f"{len(owners)} processes of one test each list their GPU as rank 0"


def _is_list(run: Benchmark) -> bool:
    return run.nranks is not None and not run.rows and not run.unreadable_rows


def _are_next(before: Benchmark, run: Benchmark) -> bool:
    """Is the list of the second in the line after the list of the first?"""
    one, other = place(before), place(run)
    if one is None or other is None or one[0] != other[0]:
        return False
    return other[1] - one[1] <= (before.nranks or 0) + _BETWEEN


def _announced_apart(job: Job) -> tuple[list[Fact], str] | None:
    """Processes of one launch line that each announce rank 0 of 1."""
    said = [e for e in job.events if e.event in _ANNOUNCED]
    alone = [e for e in said if e.fields.get("world_size") == 1]
    line = next((la for la in job.launches if la.program.endswith(_STARTS_SEVERAL) and _count(la) >= _SEVERAL), None)
    others = [e for e in said if e.fields.get("world_size") not in {1, None}]
    if line is None or sum(event.count for event in alone) < _SEVERAL or others:
        return None
    return [line, *alone], f"{line.program} starts {_count(line)} processes, and each says that it is the only one"


def _count(launch: Launch) -> int:
    return launch.np or (launch.nnodes or len(launch.hosts) or 1) * (launch.nproc_per_node or 1)


def others_not_started(job: Job, view: View) -> Iterator[Relation]:
    """The ranks meet on the host itself, so that no network can keep them apart, and the others did not come."""
    waits = [e for e in job.events if e.event in _WAITED and not went_on(e, view) and _others_lack(e)]
    if not waits or any(rank.nranks for rank in job.ranks):
        return
    local: list[Fact] = [
        f for f in job.script_faults if f.kind in {"fixed-rank", "world-size"} and _LOCAL.search(f.text)
    ]
    local += [s for s in job.settings if s.name == "MASTER_ADDR" and (s.text or "") in {"localhost", "127.0.0.1"}]
    if local:
        text = f"the ranks meet on this host, where {_missing(waits[0])}"
        yield Relation(what="others-not-started", text=text, provenance=lines_of([waits[0], local[0]]))


def _others_lack(event: Event) -> bool:
    joined, expected = event.fields.get("joined"), event.fields.get("expected", event.fields.get("world_size"))
    if isinstance(joined, int) and isinstance(expected, int):
        return joined < expected
    return bool(event.fields.get("tasks"))


def _missing(event: Event) -> str:
    fields = event.fields
    if fields.get("joined") is not None:
        return f"{fields['joined']} of {fields.get('expected', fields.get('world_size'))} came"
    return f"the tasks {fields['tasks']} did not come"


def one_side_started(job: Job, view: View) -> Iterator[Relation]:
    """A launcher that every host needs is shown on some hosts only, and processes of the others are waited for."""
    waits = [e for e in job.events if e.event == _UNANSWERED and not went_on(e, view) and e.fields.get("peer_host")]
    lines = [la for la in job.launches if la.program in EACH_ON_ITS_HOST and la.host is not None and la.hosts]
    if not waits or not lines or any(rank.nranks for rank in job.ranks):
        return
    started = {line.host for line in lines}
    lacking = {str(e.fields["peer_host"]) for e in waits}
    listed = {host.name for line in lines for host in line.hosts}
    if started <= listed and lacking and lacking <= listed - started:
        text = f"{lines[0].program} is shown on {', '.join(sorted(map(str, started)))}, and the processes on"
        text += f" {', '.join(sorted(lacking))} do not listen"
        yield Relation(what="one-side-started", text=text, provenance=lines_of([lines[0], waits[0]]))


def still_meeting(job: Job, view: View) -> Iterator[Relation]:
    """The last that torchrun prints on a host is that it waits at the rendezvous for the other hosts."""
    meets = [e for e in job.events if e.event == "elastic-meets"]
    if not meets or any(e.event == "elastic-met" for e in job.events) or job.ranks or went_on(meets[-1], view):
        return
    printed = next((e for e in job.events if e.event == "elastic-hosts-awaited"), None)
    line = next((la for la in job.launches if la.program in EACH_ON_ITS_HOST and la.nnodes is not None), None)
    count = printed.fields.get("min_hosts") if printed is not None else line.nnodes if line is not None else None
    if isinstance(count, int) and count >= _SEVERAL:
        known: Fact | None = printed or line
        text = f"torchrun waits at the rendezvous for {count} hosts, and prints nothing after that"
        yield Relation(what="still-meeting", text=text, provenance=lines_of([meets[-1], *([known] if known else [])]))


def lists_differ(job: Job, view: View) -> Iterator[Relation]:
    """Two lines of a launcher that every host needs list the same hosts in another order, which numbers the ranks."""
    lines = [la for la in job.launches if la.program in EACH_ON_ITS_HOST and len(la.hosts) >= _SEVERAL]
    for one, other in pairwise(lines):
        first, second = [host.name for host in one.hosts], [host.name for host in other.hosts]
        if one.program == other.program and first != second and sorted(first) == sorted(second):
            text = f"one {one.program} begins its list of hosts with {first[0]}, another one with {second[0]}"
            yield Relation(what="lists-differ", text=text, provenance=lines_of([one, other]))


def first_is_elsewhere(job: Job, view: View) -> Iterator[Relation]:
    """Node rank 0, which all others connect to, is started on one host, and the master address is another host's."""
    owners: dict[str, list[str]] = defaultdict(list)
    for host in job.hosts:
        for address in (address for one in host.interfaces or () for address in one.addresses or ()):
            owners[address.ip].append(host.name)
    for launch in job.launches:
        own = owners.get(launch.master_addr or "", [])
        shown = view.host(launch.host) if launch.host else None
        if launch.node_rank == 0 and len(own) == 1 and shown is not None and shown.interfaces and shown.name not in own:
            owner = own[0]
            text = f"node rank 0 is started on {shown.name}, and {launch.master_addr} is an address of {owner}"
            yield Relation(what="first-is-elsewhere", text=text, provenance=lines_of([launch]))
            return


def seeks_itself(job: Job, view: View) -> Iterator[Relation]:
    """A process other than rank 0 of a multi-host job tries to reach the store at a loopback address."""
    later = any(s.name == "NODE_RANK" and s.is_set and (s.number or 0) > 0 for s in job.settings)
    if not later and not any(launch.node_rank for launch in job.launches) and not is_multi_host(job, view):
        return
    for event in job.events:
        address = ip_address(str(event.fields.get("peer_host") or ""))
        if event.event in STORE_UNREACHED and event.rank != 0 and address is not None and address.is_loopback:
            text = f"a process of a multi-host job looks for the store at {address}"
            yield Relation(what="seeks-itself", text=text, provenance=lines_of([event]))
            return


def first_waits_alone(job: Job, view: View) -> Iterator[Relation]:
    """After the work was done, the first rank alone waits in a collective of a few elements: the others had left."""
    gave_up = [t for t in job.timeouts if t.given_up]
    small = [t for t in gave_up if (t.numel_in or 0) <= _FEW]
    if not small or {t.rank for t in gave_up} != {0} or any(event.event in _DIED for event in job.events):
        return
    end = next((e for e in job.events if e.event == _FINISHED and _is_before(e, small[0])), None)
    if end is not None:
        text = "the work was done, and rank 0 alone waited in a collective"
        yield Relation(what="first-waits-alone", text=text, provenance=lines_of([end, small[0]]))


def _is_before(event: Event, timeout: Timeout) -> bool:
    one, other = place(event), place(timeout)
    return one is not None and other is not None and one[0] == other[0] and one[1] < other[1]
