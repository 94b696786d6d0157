"""Tables and numbers that cannot be right: ids that two ranks share, transports across hosts, GID tables with gaps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import FAILURES, Job, Launch, Port, Rank, Relation
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import MPI_PROGRAMS
from ncdiag.facts.vocabulary.probes import lines_of

_INSIDE = ("P2P", "SHM")
"""Beginnings of the names of transports that connect GPUs of one host."""
_BY_NODE = lazy_regex(r"\b(?:bynode|by-node|map-by[ =]\S*node|rankfile|rank-by[ =]\S*node)\b")
"""Options that put neighbours on different hosts."""
_LINK_LOCAL = "fe80"
_FOREIGN, _FOREIGN_OF_MANY = 2.0, 1.25
"""The least ratio of the memory of a process on its own GPU to that on GPU 0, of two processes and of more.

Each of several may have loaded a checkpoint there. A model that is spread over two GPUs has like parts on both.
"""
_MANY = 2
"""Processes above which it is not by chance that each is on GPU 0 and one more."""
_BOXED = frozenset({"cni", "container", "orchestrator"})
"""What people say of a job in a network namespace of its own."""
_RDMA_FAILED = frozenset({"ib-completion-error", "ib-modify-qp-failed", "rdma-address-handle-failed", "rdma-cm-failed"})


def bus_id_twice(job: Job, view: View) -> Iterator[Relation]:
    """Two ranks of one communicator on one host with one bus id, neither of which got through its set-up."""
    held: dict[tuple[str, str | int | None, str], list[Rank]] = defaultdict(list)
    for rank in job.ranks:
        if rank.bus_id is not None and rank.rank is not None and rank.state != "ready":
            held[rank.host, rank.communicator or rank.nranks, rank.bus_id].append(rank)
    for (host, _, bus), ranks in held.items():
        numbers = sorted({rank.rank or 0 for rank in ranks})
        shown = view.host(host)
        if len(numbers) > 1 and not any(gpu.mig for gpu in (shown.gpus if shown else ())):
            text = f"ranks {numbers[0]} and {numbers[1]} on {host} both have the GPU with bus id {bus}"
            yield Relation(what="bus-id-twice", text=text, provenance=lines_of(ranks[:2]))


def contexts_on_gpu0(job: Job, _view: View) -> Iterator[Relation]:
    """Several processes that each have most of their memory on one GPU, and a smaller part of it on GPU 0.

    One process on many GPUs (a model that is spread over them) and one process for each GPU are usual.
    """
    for host in job.hosts:
        used: dict[str, dict[int, int]] = defaultdict(dict)
        for gpu in host.gpus:
            for pid, mib in (gpu.process_mib or {}).items():
                used[pid][gpu.index or 0] = mib
        on_two = [of for of in used.values() if len(of) == 2 and 0 in of]  # noqa: PLR2004  (GPU 0 and its own)
        share = _FOREIGN_OF_MANY if len(on_two) > _MANY else _FOREIGN
        foreign = [of for of in on_two if share * of[0] < max(of.values())]
        if len(foreign) > 1 and len({max(of) for of in foreign}) == len(foreign):
            text = f"{len(foreign)} processes of other GPUs have memory on GPU 0 of {host.name}"
            yield Relation(what="contexts-on-gpu0", text=text, provenance=lines_of(host.gpus[:1]))


def ipc_across_hosts(job: Job, _view: View) -> Iterator[Relation]:
    """A transport inside a host between ranks that are on different hosts, by their hosts or by their numbers."""
    homes = {(rank.communicator, rank.rank): rank.host for rank in job.ranks if rank.rank is not None}
    each = _gpus_each(job)
    for rank in job.ranks:
        for one in rank.connections:
            ends = one.source, one.target
            if not one.transport.startswith(_INSIDE) or one.source == one.target:
                continue
            hosts = {homes.get((rank.communicator, end)) for end in ends} - {None}
            apart = len(hosts) > 1 or (each is not None and one.source // each != one.target // each)
            if apart or _are_started_apart(job, max(ends), min(ends)):
                text = f"ranks {one.source} and {one.target}, which are on different hosts, use {one.transport}"
                yield Relation(what="ipc-across-hosts", text=text, provenance=lines_of([rank]))
                return


def _gpus_each(job: Job) -> int | None:
    """The number of ranks on each host, where a person says it for several hosts; None where it is unknown."""
    told = {found.kind: found.value for found in job.contexts if found.kind in {"gpu-count", "host-count"}}
    gpus, hosts = (told.get(kind, "").split(" ")[0] for kind in ("gpu-count", "host-count"))
    lined = next((la.nproc_per_node for la in job.launches if (la.nnodes or 0) > 1 and la.nproc_per_node), None)
    return lined or (int(gpus) if gpus.isdecimal() and hosts.isdecimal() and int(hosts) > 1 and int(gpus) > 1 else None)


def _are_started_apart(job: Job, one: int, other: int) -> bool:
    """Do the lines of mpirun put these ranks on different hosts, those that start so many ranks at all?

    Ranks fill the slots of a host before those of the next one (``--map-by slot`` of Open MPI and Horovod).
    """
    lines = [la for la in job.launches if la.program.endswith((*MPI_PROGRAMS, "horovodrun"))]
    able = [launch for launch in lines if launch.np is None or launch.np > max(one, other)]
    return bool(able) and all(_are_apart(launch, one, other) for launch in able)


def _are_apart(launch: Launch, one: int, other: int) -> bool:
    slots = [host.slots for host in launch.hosts]
    each = slots[0] if slots else None
    if not each or len(slots) == 1 or set(slots) != {each} or launch.np != each * len(slots):
        return False
    is_in_order = each == 1 or _BY_NODE.search(launch.text) is None
    return is_in_order and len({host.name for host in launch.hosts}) == len(slots) and one // each != other // each


def gids_start_late(job: Job, _view: View) -> Iterator[Relation]:
    """A GID table whose first entries are absent, as they belong to another network namespace.

    It counts in a job with a trouble, and where somebody says that the job runs in containers or pods.
    """
    boxed = any(found.kind in _BOXED for found in job.contexts)
    if not (boxed or job.complaints or any(event.kind in FAILURES for event in job.events)):
        return
    for port in _ports(job):
        first = min((gid.index for gid in port.gids), default=0)
        if first > 1 and len(port.gids) > 1:
            text = f"the GID table of {port.hca} on {port.host} begins at index {first}"
            yield Relation(what="gids-start-late", text=text, provenance=lines_of(port.gids[:1]))
            return


def first_gid_link_local(job: Job, view: View) -> Iterator[Relation]:
    """A GID table with a link-local entry 0 and a routable one after it, where RDMA fails and no index is chosen."""
    failed = any(event.event in _RDMA_FAILED for event in job.events)
    if not failed or any(setting.name == "NCCL_IB_GID_INDEX" and setting.is_set for setting in job.settings):
        return
    for port in _ports(job):
        first = next((gid for gid in port.gids if gid.index == 0), None)
        later = next(
            (gid for gid in port.gids if gid.ip and (found := ip_address(gid.ip)) and not found.is_link_local), None
        )
        if first is not None and later is not None and (first.address or "").lower().startswith(_LINK_LOCAL):
            text = f"GID 0 of {port.hca} is link-local, and entry {later.index} has {later.ip}"
            yield Relation(what="first-gid-link-local", text=text, provenance=lines_of([first, later]))
            return


def _ports(job: Job) -> Iterator[Port]:
    return (port for host in job.hosts for hca in host.hcas for port in hca.ports)
