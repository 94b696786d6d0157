"""Launch lines against each other, against the GPUs of their hosts, and against the results that follow them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import combinations

from ncdiag.facts.model import FAILURES, Benchmark, Event, Job, Launch, Relation, RelationKind
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import MPI_PROGRAMS
from ncdiag.facts.vocabulary.outcome import place
from ncdiag.facts.vocabulary.probes import lines_of

_VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES")
_GPU_LAUNCHERS = frozenset({
    "torchrun", "torch.distributed.run", "torch.distributed.launch", "deepspeed", "accelerate launch",
})  # fmt: skip
"""Launchers whose processes each use a GPU, as a rule."""
_TEST = re.compile(r"\b[a-z_]{4,40}_perf\b")
_GPUS_EACH = re.compile(r"\s-(?:g|-ngpus)[ =](\d{1,3})\b")
_SERVER = re.compile(r"\bvllm-serve\b|\bvllm serve\b|launch_server|entrypoints|\blmdeploy serve\b|\btrtllm-serve\b")
_NEAR = 0.2
"""The largest difference between results of processes that each ran the same test, as a share."""
_MISUSED = "invalid usage"
_PLAIN = re.compile(r"\[?[A-Za-z0-9_](?:[\w.:%-]{0,252})\]?$")
_LEFT_OPEN = re.compile(r"[$`<>{}*]|\bx{2,}\b|your|\.\.\.", re.IGNORECASE)
"""A variable or a placeholder in a value: what it becomes is not shown."""


def alone(job: Job, _view: View) -> Iterator[Relation]:
    """Each process of one command printed a result of its own, where one result for all was due."""
    for run in filter(_repeats, job.benchmarks):
        text = f"one table has its sizes several times, and {run.summaries} summaries"
        yield Relation(what="alone", text=text, provenance=lines_of([run]))
    lines = [launch for launch in job.launches if launch.program.endswith((*MPI_PROGRAMS, "srun"))]
    places = sorted(at for launch in lines if (at := place(launch)))
    for launch in lines:
        at = place(launch)
        if at is None or launch.np is None or launch.np <= 1:
            continue
        end = next((other[1] for other in places if other[0] == at[0] and other[1] > at[1]), None)
        shown = [event for event in job.events if _is_result(event) and _is_within(event, at, end)]
        rates = [float(rate) for event in shown if isinstance(rate := event.fields.get("average_busbw"), int | float)]
        if sum(event.count for event in shown) == launch.np and rates and min(rates) >= (1 - _NEAR) * max(rates):
            text = f"{launch.program} starts {launch.np} processes, and {launch.np} results follow, where one is due"
            yield Relation(what="alone", text=text, provenance=lines_of([launch, *shown]))
        tests = [b for b in job.benchmarks if b.nranks == 1 and (found := place(b)) and _is_after(found, at, end)]
        if len(tests) == launch.np:
            text = f"{launch.program} starts {launch.np} processes, and each test is of one rank"
            yield Relation(what="alone", text=text, provenance=lines_of([launch, *tests]))


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
        count, gpus = _on_one_host(launch), _given(launch, job, view)
        if count and gpus and count > gpus[0]:
            text = f"{launch.program} starts {count} processes on a host, and {gpus[1]}"
            yield Relation(what="more-than-gpus", text=text, provenance=lines_of([launch]))


def _on_one_host(launch: Launch) -> int | None:
    """GPUs that the processes of the line use on each of its hosts; None where it does not say."""
    each = int(found[1]) if _TEST.search(launch.text) and (found := _GPUS_EACH.search(launch.text)) else 1
    hosts = launch.nnodes or len({host.name for host in launch.hosts}) or (None if launch.hostfile else 1)
    if launch.nproc_per_node is not None:
        return launch.nproc_per_node * each
    if launch.np is None or hosts is None or launch.program in {"srun", "sbatch", "salloc"}:
        return None
    return -(-launch.np // hosts) * each


def _given(launch: Launch, job: Job, view: View) -> tuple[int, str] | None:
    """The number of GPUs that the processes may use on a host, and a clause that says where from."""
    if listed := visible(launch):
        name, numbers = listed
        return len(numbers), f"{name} lists {len(numbers)} GPUs"
    if launch.program not in _GPU_LAUNCHERS and not _TEST.search(launch.text):
        return None
    if launch.gpus_per_node:
        return launch.gpus_per_node, f"{launch.gpus_per_node} GPUs are requested on each"
    host = view.host(launch.host) if launch.host else job.hosts[0] if len(job.hosts) == 1 else None
    if host is None or not host.gpus or not host.complete & {"nvidia_smi", "nvidia_smi_L", "topo_m"}:
        return None
    return len(host.gpus), f"{host.name} has {len(host.gpus)} GPUs"


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
    servers = [launch for launch in job.launches if _SERVER.search(launch.text)]
    if not failed or not servers:
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
    given = [(launch, str(launch.master_addr)) for launch in job.launches if launch.master_addr is not None]
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
