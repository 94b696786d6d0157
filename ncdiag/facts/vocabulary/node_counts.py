"""Why NCCL counts more or fewer nodes than there are host names, or as many as there are containers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Job, Rank
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.communicators import members

_COUNTED = "comm-nodes"
_CONTAINER = lazy_regex(r"(?=.*[a-f])[0-9a-f]{12}")
"""The host name that container engines give: the beginning of the container's id."""
_SEVERAL = 4
"""GPUs at different bus addresses that are those of one machine rather than of machines of different builds."""


@derived
def node_count_text(job: Job, view: View) -> str:
    """Why NCCL's count of nodes differs from the number of host names or machines; empty where it does not.

    NCCL counts the ranks as one node that its topology joins: those with the same hash of host name and boot id, or the
    same NCCL_HOSTID, or in one NVLink domain; GPUs of a host between which neither P2P nor shared memory works are
    separate nodes (init.cc, misc/utils.cc, graph/paths.cc, transport/shm.cc). Empty where ranks are missing, too.
    """
    nodes, by_host = _of_world(job, view) or _of_counts(job, view) or (0, {})
    if not nodes:
        return ""
    if len(by_host) == nodes:
        return _of_containers(by_host)
    ids = _values([rank for ranks in by_host.values() for rank in ranks], "NCCL_HOSTID")
    reason = _why_fewer(job, ids) if len(by_host) > nodes else _why_more(by_host, ids, nodes)
    return f"NCCL counts {nodes} for {len(by_host)} host names ({fold_hosts(by_host)}): {reason}"


def _of_world(job: Job, view: View) -> tuple[int, Mapping[str, Sequence[Rank]]] | None:
    """NCCL's count of nodes in the largest communicator, and its ranks by host; None if ranks are missing."""
    world = max(job.communicators, key=lambda one: one.nranks or 0, default=None)
    ranks = members(world, view) if world is not None else ()
    if world is None or world.nhosts is None or len({rank.rank for rank in ranks}) != world.nranks:
        return None
    by_host: dict[str, list[Rank]] = defaultdict(list)
    for rank in ranks:
        by_host[rank.host].append(rank)
    return world.nhosts, by_host


def _of_counts(job: Job, view: View) -> tuple[int, Mapping[str, Sequence[Rank]]] | None:
    """The same where lines of the count (``comm ... nNodes``) alone show ranks and hosts: filters drop Init lines.

    None if the largest communicators are several, which give a rank several hosts or other counts.
    """
    found = [(n, event) for event in view.events_named(_COUNTED) if isinstance(n := event.fields.get("nranks"), int)]
    size = max((nranks for nranks, _ in found), default=0)
    largest = [event for nranks, event in found if nranks == size]
    counts = {n for event in largest if isinstance(n := event.fields.get("nodes"), int)}
    hosts = {(event.fields.get("rank"), event.host) for event in largest}
    if len(counts) != 1 or len(hosts) != size or {rank for rank, _ in hosts} != set(range(size)):
        return None
    (nodes,) = counts
    by_host: dict[str, list[Rank]] = {host: [] for _, host in hosts if host}
    if any(host not in by_host for _, host in hosts):
        return None
    for rank in job.ranks:
        if rank.host in by_host:
            by_host[rank.host].append(rank)
    return nodes, by_host


def _values(ranks: Sequence[Rank], name: str) -> set[str | None]:
    return {setting.text for rank in ranks if (setting := rank.settings.get(name)) is not None}


def _why_fewer(job: Job, ids: set[str | None]) -> str:
    if any(event.event == "comm-nodes" and event.fields.get("mnnvl") == 1 for event in job.events):
        return "an NVLink domain over several hosts is one node (MNNVL 1)"
    if len(ids) == 1:
        return "NCCL_HOSTID is the same on several hosts, which makes them one node"
    return "hosts with the same NCCL_HOSTID, or in one NVLink domain, are one node"


def _why_more(by_host: Mapping[str, Sequence[Rank]], ids: set[str | None], nodes: int) -> str:
    ranks = [rank for of_host in by_host.values() for rank in of_host]
    if ids:
        return "NCCL_HOSTID is set, and ranks with different values are different nodes"
    if any(_have_twins(of_host) for of_host in by_host.values()):
        return "ranks of one host name have GPUs at the same bus address: they are on machines with the same name"
    if _values(ranks, "NCCL_SHM_DISABLE") == {"1"}:
        if len(ranks) == 2 * nodes:
            return "NCCL_SHM_DISABLE=1 leaves P2P alone, which joins pairs of GPUs here (such as those with an NVLink)"
        return "NCCL_SHM_DISABLE=1 leaves P2P alone, and GPUs of a host without P2P between them are different nodes"
    if all(rank.bus_id is not None for rank in ranks):
        return (
            "GPUs of a host between which neither P2P nor shared memory works are different nodes: processes in "
            "containers with a /dev/shm of their own, or, without shared memory, pairs joined by NVLink"
        )
    return (
        "machines with one host name are different nodes, and so are GPUs of a host between which neither P2P nor "
        "shared memory works (other containers, or only pairs joined by NVLink)"
    )


def _have_twins(ranks: Sequence[Rank]) -> bool:
    """Are two GPUs of one host name at the same bus address?"""
    addresses = [rank.bus_id for rank in ranks if rank.bus_id is not None]
    return len(set(addresses)) < len(addresses)


def _of_containers(by_host: Mapping[str, Sequence[Rank]]) -> str:
    """Why one machine may count as several: each rank has its own host name and its own GPU bus address."""
    addresses = [rank.bus_id for of_host in by_host.values() for rank in of_host]
    apart = len(addresses) == len(by_host) > 1 and None not in addresses and len(set(addresses)) == len(addresses)
    if not apart or (len(addresses) < _SEVERAL and not all(_CONTAINER.fullmatch(host) for host in by_host)):
        return ""
    return (
        f"NCCL counts {len(by_host)} for {len(by_host)} host names ({fold_hosts(by_host)}) with one GPU each, all at "
        "different bus addresses: containers of one machine are one node only with the same host name (or NCCL_HOSTID) "
        "and a common /dev/shm"
    )
