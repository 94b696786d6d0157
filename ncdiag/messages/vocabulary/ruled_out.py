"""What the input shows not to be the cause, so that nobody searches there.

Each function describes the condition under which it is certain. Only facts count that were seen for the whole job: what
is known for some hosts rules out nothing, and output of a host says nothing about a container on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ncdiag.base.spans import Span
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Fact, Host, Job, RuledOut
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import POD, is_container
from ncdiag.facts.vocabulary.rdma import is_active

_SHM = "/dev/shm"  # noqa: S108
_SHM_ENOUGH = 32 << 30
"""Bytes that sixteen GPUs do not fill: a connection uses 9637888 bytes per channel, and has at most 64 channels."""
_LINES, _NAMED = 3, 4


@derived
def ruled_out(job: Job, view: View) -> tuple[RuledOut, ...]:
    """Everything that the input shows not to be the cause."""
    return tuple(found for look in _LOOKS if (found := look(job, view)) is not None)


def _found(what: str, because: str, spans: Iterable[Span | None], areas: Sequence[str] = ()) -> RuledOut:
    lines = [span for span in dict.fromkeys(spans) if span is not None][:_LINES]
    provenance = {str(number or ""): span for number, span in enumerate(lines)}
    return RuledOut(what=what, because=because, areas=tuple(areas), provenance=provenance)


def _spans(facts: Iterable[Fact], field: str = "") -> list[Span | None]:
    return [fact.provenance.get(field) or fact.provenance.get("") for fact in facts]


def _hosts(job: Job, view: View) -> tuple[Host, ...]:
    """The hosts of the job, if all of them are known; else none."""
    names = {rank.host for rank in job.ranks}
    hosts = tuple(host for host in job.hosts if host.name in names) if names else job.hosts
    return hosts if len(hosts) >= (job.nhosts or 1) else ()


def _on(hosts: Iterable[Host]) -> str:
    named = fold_hosts(host.name for host in hosts if host.name != UNNAMED)
    return f" on {named}" if named else ""


def _network(job: Job, view: View) -> RuledOut | None:
    """The network: the job is on one host, as NCCL or all its ranks show, and no rank uses the network."""
    hosts = {rank.host for rank in job.ranks}
    if job.nhosts != 1 or len(hosts) > 1:
        return None
    if any(name.startswith("NET") for rank in job.ranks for name in rank.transports or ()):
        return None
    spans = [e.provenance.get("") for e in job.events if e.fields.get("nodes") == 1] or _spans(job.ranks)
    return _found("the network between hosts", "the job is on one host", spans, ("ib", "roce", "socket", "cloud"))


def _bootstrap(job: Job, view: View) -> RuledOut | None:
    """The bootstrap: all ranks of every communicator that was seen completed it."""
    sizes = [(c.nranks, set(c.ranks_ready)) for c in job.communicators]
    if not sizes or any(size is None or len(ready) < size for size, ready in sizes):
        return None
    largest = max(size or 0 for size, _ in sizes)
    if largest < 2 or largest != job.nranks:  # noqa: PLR2004
        return None
    because = f"all {largest} ranks completed their communicator"
    return _found("the bootstrap of the ranks", because, _spans(job.ranks, "state"), ("launcher", "mpi"))


def _choice(job: Job, view: View) -> RuledOut | None:
    """The choice of the network: every rank prints that it uses RDMA, so that there is no fall-back to sockets."""
    nets = [rank.net for rank in job.ranks if rank.rank is not None]
    if not nets or any(net != "IB" for net in nets) or len(nets) < (job.nranks or 1):
        return None
    names = sorted({device.name for rank in job.ranks for device in rank.net_devices or ()})
    because = f"every rank uses RDMA{' over ' if names else ''}{', '.join(names[:_NAMED])}"
    return _found("a fall-back to TCP sockets", because, _spans(job.ranks, "net"), ("socket", "plugin"))


def _versions(job: Job, view: View) -> RuledOut | None:
    """Different NCCL releases: every rank prints its release, and all are the same."""
    ranks = [rank for rank in job.ranks if rank.rank is not None]
    texts = {str(v) if (v := rank.nccl_version) is not None and v.low == v.high else "" for rank in ranks}
    spans = [span for rank in ranks if (span := rank.provenance.get("nccl_version")) is not None]
    if len(texts) != 1 or "" in texts or len(set(spans)) < max(len(ranks), job.nranks or 0, 2):
        return None
    return _found("a mix of NCCL releases", f"all {len(ranks)} ranks print {texts.pop()}", spans, ("version",))


def _in_container(job: Job, view: View) -> bool:
    """Is there a sign of a container, which has its own limits and mounts?"""
    return any(host.in_container for host in job.hosts) or any(
        launch.program == POD or is_container(launch, view) for launch in job.launches
    )


def _shared_memory(job: Job, view: View) -> RuledOut | None:
    """Shared memory: every host has enough, and there is no sign of a container, which has its own."""
    hosts = () if _in_container(job, view) else _hosts(job, view)
    mounts = [mount for host in hosts for mount in host.mounts if mount.path == _SHM]
    free = [mount.available_bytes for mount in mounts if mount.available_bytes is not None]
    if not hosts or len(free) < len(hosts) or min(free) < _SHM_ENOUGH:
        return None
    return _found("a full /dev/shm", f"{min(free) >> 30} GiB are free{_on(hosts)}", _spans(mounts), ("shm",))


def _locked_memory(job: Job, view: View) -> RuledOut | None:
    """Locked memory: the limit is unlimited on every host, and there is no sign of a container."""
    hosts = () if _in_container(job, view) else _hosts(job, view)
    limits = [limit for host in hosts for limit in host.limits if limit.name == "memlock" and limit.unlimited]
    if not hosts or len(limits) < len(hosts):
        return None
    return _found("the limit of locked memory", f"it is lifted{_on(hosts)}", _spans(limits), ("limits",))


def _rdma_ports(job: Job, view: View) -> RuledOut | None:
    """RDMA ports: the device list of every host is complete, and every port is active."""
    hosts = _hosts(job, view)
    ports = [port for host in hosts for hca in host.hcas for port in hca.ports]
    whole = all(is_closed(host, "hcas") and any(hca.ports for hca in host.hcas) for host in hosts)
    if not ports or not whole or not all(is_active(port, view) for port in ports):
        return None
    return _found("an RDMA port that is down", f"all {len(ports)} ports are active{_on(hosts)}", _spans(ports))


def _iommu(job: Job, view: View) -> RuledOut | None:
    """The IOMMU: the kernel of every host reports that no IOMMU translates addresses."""
    hosts = _hosts(job, view)
    if not hosts or any(host.iommu_translating is not False for host in hosts):
        return None
    spans = _spans(hosts, "iommu_translating")
    return _found("an IOMMU between the GPUs", f"none translates{_on(hosts)}", spans, ("p2p",))


_LOOKS: tuple[Callable[[Job, View], RuledOut | None], ...] = (
    _network, _bootstrap, _choice, _versions, _shared_memory, _locked_memory, _rdma_ports, _iommu,
)  # fmt: skip
