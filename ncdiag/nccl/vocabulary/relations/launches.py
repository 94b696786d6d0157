"""Launch lines against each other, against the GPUs of their hosts, and against the results that follow them."""

from __future__ import annotations

import bisect
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import FAILURES, Benchmark, Event, Fact, Job, Launch, Relation, RelationKind
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.benchmarks import program_of
from ncdiag.facts.vocabulary.launches import MPI_PROGRAMS, SLURM_PROGRAMS, starts_fewer_tasks
from ncdiag.facts.vocabulary.places import place
from ncdiag.facts.vocabulary.probes import lines_of

_VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")
_GPU_LAUNCHERS = frozenset({
    "torchrun", "torch.distributed.run", "torch.distributed.launch", "deepspeed", "accelerate launch",
})  # fmt: skip
"""Launchers whose processes each use a GPU, as a rule."""
_TEST = lazy_regex(r"\b[a-z_]{4,40}_perf\b")
_GPUS_EACH = lazy_regex(r"\s-(?:g|-ngpus)[ =](\d{1,3})\b")
_SERVER = lazy_regex(r"\bvllm-serve\b|\bvllm serve\b|launch_server|entrypoints|\blmdeploy serve\b|\btrtllm-serve\b")
_FACTORS = {
    "all_reduce_perf": 2, "all_gather_perf": 1, "reduce_scatter_perf": 1, "alltoall_perf": 1, "gather_perf": 1,
    "scatter_perf": 1,
}  # fmt: skip
_ROUNDED = 0.015
"""The largest error of the ratio times the algorithm bandwidth in GB/s: both are printed with two decimals."""
_NEAR = 0.2
"""The largest difference between results of processes that each ran the same test, as a share."""
_MISUSED = "invalid usage"
_PLAIN = lazy_regex(r"\[?[A-Za-z0-9_](?:[\w.:%-]{0,252})\]?$")
_LEFT_OPEN = lazy_regex(r"[$`<>{}*]|\bx{2,}\b|your|\.\.\.", re.IGNORECASE)
"""A variable or a placeholder in a value: what it becomes is not shown."""


def alone(job: Job, view: View) -> Iterator[Relation]:
    """Each process of one command printed a result of its own, where one result for all was due."""
    for run in filter(_repeats, job.benchmarks):
        text = f"one table has its sizes several times, and {run.summaries} summaries"
        yield Relation(what="alone", text=text, provenance=lines_of([run]))
    lines = [launch for launch in job.launches if launch.program.endswith((*MPI_PROGRAMS, "srun"))]
    places = sorted(at for launch in lines if (at := place(launch)))
    results = [event for event in job.events if _is_result(event)]
    if not (results or job.benchmarks or job.communicators):
        return
    for launch in lines:
        at = place(launch)
        if at is None or launch.np is None or launch.np <= 1:
            continue
        later = places[bisect.bisect_right(places, at) :][:1]
        end = later[0][1] if later and later[0][0] == at[0] else None
        shown = [event for event in results if _is_within(event, at, end)]
        rates = [float(rate) for event in shown if isinstance(rate := event.fields.get("average_busbw"), int | float)]
        told = len(places) == 1 or all(event.count == 1 for event in shown)  # equal results are one event, at one place
        if (
            told
            and sum(event.count for event in shown) == launch.np
            and rates
            and min(rates) >= (1 - _NEAR) * max(rates)
        ):
            text = f"{launch.program} starts {launch.np} processes, and {launch.np} results follow, where one is due"
            yield Relation(what="alone", text=text, provenance=lines_of([launch, *shown]))
        runs = [run for run in job.benchmarks if (found := place(run)) and _is_after(found, at, end)]
        tests = [run for run in runs if run.nranks == 1]
        if len(tests) == launch.np:
            text = f"{launch.program} starts {launch.np} processes, and each test is of one rank"
            yield Relation(what="alone", text=text, provenance=lines_of([launch, *tests]))
        held = [c for c in job.communicators if (found := place(c)) and _is_after(found, at, end)]
        single = [c for c in held if c.nranks == 1]
        if 1 < len(single) == len(held) <= launch.np:
            text = f"{launch.program} starts {launch.np} processes, and each sets up a communicator of one rank"
            yield Relation(what="alone", text=text, provenance=lines_of([launch, *single]))
        count = launch.np * _gpus_each(launch)
        for run in runs:
            ranks = _by_ratio(run, count, view)
            if run.nranks is None and ranks is not None:
                text = f"{launch.program} starts {count} ranks, and the bandwidths of the table are those of {ranks}"
                yield Relation(what="alone", text=text, provenance=lines_of([launch, run]))


def _by_ratio(run: Benchmark, expected: int, view: View) -> int | None:
    """The number of ranks that the ratio of bus to algorithm bandwidth shows, where fewer than expected; else None.

    The ratio is 2(n-1)/n for an all-reduce, and (n-1)/n for gathers and all-to-all (nccl-tests doc/PERFORMANCE.md).
    """
    factor = _FACTORS.get(program_of(run, view) or "")
    row = max(run.rows, key=lambda row: row.algbw or 0, default=None)
    if factor is None or row is None or not row.algbw or row.busbw is None or row.algbw < 1:
        return None
    ratio, error = row.busbw / row.algbw, _ROUNDED / row.algbw

    def fits(ranks: int) -> bool:
        return abs(ratio - factor * (ranks - 1) / ranks) <= error

    parts = [ranks for ranks in range(1, expected) if expected % ranks == 0 and fits(ranks)]
    return None if fits(expected) or len(parts) != 1 else parts[0]


def _repeats(run: Benchmark) -> bool:
    """Has the table each size several times, and several summaries at its end?"""
    return (run.summaries or 1) > 1 and len({row.size for row in run.rows}) < len(run.rows)


def _is_result(event: Event) -> bool:
    return event.event == "program-finished" and "average_busbw" in event.fields


def _is_within(event: Event, at: tuple[str, int], end: int | None) -> bool:
    found = place(event)
    return found is not None and _is_after(found, at, end)


def _is_after(found: tuple[str, int], at: tuple[str, int], end: int | None) -> bool:
    return found[0] == at[0] and at[1] < found[1] and (end is None or found[1] < end)


def more_than_gpus(job: Job, view: View) -> Iterator[Relation]:
    """More processes on one host than GPUs that its launch line, or the host, gives them."""
    for launch in job.launches:
        count = _on_one_host(launch)
        gpus = _given(launch, job, view) if count else None
        if count and gpus and count > gpus[0]:
            text = f"{launch.program} starts {count} processes on a host, and {gpus[1]}"
            yield Relation(what="more-than-gpus", text=text, provenance=lines_of([launch]))


def fewer_tasks(job: Job, _view: View) -> Iterator[Relation]:
    """Slurm starts fewer tasks than nodes times tasks per node; a framework that reads the latter expects more."""
    for launch in job.launches:
        if starts_fewer_tasks(launch.program, launch.np, launch.nproc_per_node, launch.nnodes):
            text = f"{launch.program} starts {launch.np} tasks: with --ntasks, --ntasks-per-node is only a maximum"
            yield Relation(what="fewer-tasks", text=text, provenance=lines_of([launch]))


def _on_one_host(launch: Launch) -> int | None:
    """GPUs that the processes of the line use on each of its hosts; None where it does not say."""
    each = _gpus_each(launch)
    hosts = launch.nnodes or len({host.name for host in launch.hosts}) or (None if launch.hostfile else 1)
    if launch.nproc_per_node is not None:
        return launch.nproc_per_node * each
    if launch.np is None or hosts is None or launch.program in SLURM_PROGRAMS:
        return None
    return -(-launch.np // hosts) * each


def _gpus_each(launch: Launch) -> int:
    """GPUs of each process: those that an option of nccl-tests names, else one."""
    found = _GPUS_EACH.search(launch.text) if _TEST.search(launch.text) else None
    return int(found[1]) if found else 1


def _given(launch: Launch, job: Job, view: View) -> tuple[int, str] | None:
    """The number of GPUs that the processes may use on a host, and a clause that says where from."""
    if listed := visible(launch):
        name, numbers = listed
        return len(numbers), f"{name} lists {len(numbers)} GPUs"
    if boxed := _boxed(launch, view):
        return boxed, f"its container gets {boxed} GPUs"
    if launch.program not in _GPU_LAUNCHERS and not _TEST.search(launch.text):
        return None
    if launch.gpus_per_node:
        return launch.gpus_per_node, f"{launch.gpus_per_node} GPUs are requested on each"
    host = view.host(launch.host) if launch.host else job.hosts[0] if len(job.hosts) == 1 else None
    if host is None or not host.gpus or not host.complete & {"nvidia_smi", "nvidia_smi_L", "topo_m"}:
        return None
    return len(host.gpus), f"{host.name} has {len(host.gpus)} GPUs"


@derived
def with_gpus(job: Job, view: View) -> Mapping[str, Sequence[Launch]]:
    """The launches that ask for GPUs, by their line."""
    found: dict[str, list[Launch]] = defaultdict(list)
    for launch in job.launches:
        if launch.gpus:
            found[launch.text].append(launch)
    return found


def _boxed(launch: Launch, view: View) -> int | None:
    """The GPUs of the container that the same line starts (``--gpus '"device=0,1"'``, ``--gpus 2``)."""
    given = next((la.gpus for la in with_gpus(view.job, view).get(launch.text, ()) if la is not launch), None)
    listed = re.search(r"device=(\d+(?:,\d+)*)", given or "")
    return len(listed[1].split(",")) if listed else int(given) if given and given.isdecimal() else None


def visible(launch: Launch) -> tuple[str, frozenset[str]] | None:
    """The variable by which the line limits its GPUs, and those that it lists; None for a line without one."""
    variables: Mapping[str, str] = {**launch.prefix_env, **launch.env}
    for name in _VISIBLE:
        text = variables.get(name, "").strip("'\" ")
        if re.fullmatch(r"\d{1,3}(?:,\s?\d{1,3}){0,63}", text):
            return name, frozenset(number.strip() for number in text.split(","))
    return None


def gpus_shared(job: Job, _view: View) -> Iterator[Relation]:
    """A server and its client that may use the same GPU, as their lines say, in a job that NCCL calls misused."""
    failed = [e for e in job.events if _MISUSED in str(e.fields.get("result", "")) or e.event == "duplicate-gpu"]
    servers = [launch for launch in job.launches if _SERVER.search(launch.text)] if failed else []
    if not servers:
        return
    others = [launch for launch in job.launches if launch not in servers]
    for one, other in [*((server, client) for server in servers for client in others), *combinations(servers, 2)]:
        ours, theirs = _used(one), _used(other)
        if one.host in {None, other.host} and ours & theirs:
            text = f"{one.program} and {other.program} may both use GPU {min(ours & theirs)}"
            yield Relation(what="gpus-shared", text=text, provenance=lines_of([one, other, *failed[:1]]))
            return
    if not others and len(servers) == 1 and "0" in _used(servers[0]):
        text = f"{servers[0].program} may use GPU 0, and no line shown gives its client another one"
        yield Relation(what="gpus-shared", text=text, provenance=lines_of([servers[0], *failed[:1]]))


def _used(launch: Launch) -> frozenset[str]:
    """The GPUs that the line may use; without a limit at least the first."""
    listed = visible(launch)
    return listed[1] if listed else frozenset({"0"})


def place_no_address(job: Job, _view: View) -> Iterator[Relation]:
    """A place where the ranks meet that cannot be an address or a name: a path, an empty value, a format."""
    given: list[tuple[Fact, str]] = [
        (launch, str(launch.master_addr)) for launch in job.launches if launch.master_addr is not None
    ]
    given += [
        (setting, setting.text or "") for setting in job.settings if setting.name == "MASTER_ADDR" and setting.text
    ]
    given += [(event, str(event.fields["given"])) for event in job.events if event.event == "meeting-place-odd"]
    for fact, value in given:
        bare = value.removeprefix("tcp://").strip("'\" ")
        if not _LEFT_OPEN.search(bare) and not _PLAIN.match(bare) and ip_address(bare) is None:
            is_path = bare.startswith("/")
            text = f"the ranks are to meet at {value!r}, which {'is a path' if is_path else 'cannot be an address'}"
            what: RelationKind = "place-is-path" if is_path else "place-no-address"
            yield Relation(what=what, text=text, provenance=lines_of([fact]))


def silent(job: Job, _view: View) -> Iterator[Relation]:
    """NCCL's log is on, the job hangs, and no line shown is NCCL's: it hangs before NCCL starts."""
    told = next((found for found in job.complaints if found.what in {"hangs", "cannot-start"}), None)
    lines = (launch for launch in job.launches if launch.program.endswith(MPI_PROGRAMS))
    line = next((launch for launch in lines if launch.env.get("NCCL_DEBUG") in {"INFO", "TRACE"}), None)
    if told is None or line is None or job.ranks or any(event.kind in FAILURES for event in job.events):
        return
    if any(event.origin == "nccl" for event in job.events) or job.benchmarks:
        return
    text = "NCCL_DEBUG is on, and no line of NCCL is in the output shown"
    yield Relation(what="silent-nccl", text=text, provenance=lines_of([line, told]))
