"""What the merged facts of an NCCL log say, under the names that the specimens' truths use."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeVar

from ncdiag.facts.model import Event, Job, Launch, NetDevice, Rank
from ncdiag.nccl import reasons

T = TypeVar("T")

_MACROS = "+cudaCUDA_MAJOR.CUDA_MINOR"
"""What a build of 2.8 prints in place of the version of CUDA."""
VIRTUAL = re.compile(
    r"(?:veth|docker|br-|virbr|cni|flannel|tailscale|tun|tap|cali|cilium|vxlan|weave|lxc|podman|kube|wg\d|zt)"
)


def truths(job: Job) -> dict[str, Any]:
    """Every truth that this job's facts can tell; a key that they cannot tell is None or empty."""
    ranks = sorted(job.ranks, key=_first_line)
    events = job.events
    parts = (_identity(job, ranks), _network(ranks, events), _rdma(ranks, events), _life(job, ranks))
    return {name: value for part in (*parts, _from_events(events)) for name, value in part.items()}


def _identity(job: Job, ranks: list[Rank]) -> dict[str, Any]:
    versions = [r.nccl_version.text for r in ranks if r.nccl_version is not None and r.nccl_version.text]
    versions += [h.nccl_version.text for h in job.hosts if h.nccl_version is not None and h.nccl_version.text]
    hosts = _unique(r.host for r in ranks if r.host != "unnamed-host")
    table = [b for b in job.benchmarks if b.nranks is not None]
    nranks = max([r.nranks for r in ranks if r.nranks is not None] + [b.nranks or 0 for b in table], default=None)
    groups = [e.fields["nranks"] for e in job.events if e.event == "nvls-used" and "nranks" in e.fields]
    settings = {name: s.text for r in ranks for name, s in r.settings.items() if s.origin == "log echo"}
    settings |= {s.name: s.text for s in job.settings if s.origin == "log echo"}
    launched: dict[str, str] = {}
    for launch in job.launches:
        given = launch.prefix_env | launch.env
        launched |= {name: value for name, value in given.items() if _is_written(launch, name)}
    version = _first(versions)
    return {
        "nccl_version": version and version.removesuffix(_MACROS),
        "nccl_version_raw": version,
        "cmdline_env": launched,
        "n_procs": len({(r.host, r.pid) for r in ranks if r.pid is not None}),
        "comm_id": _first(c.id for c in job.communicators),
        "library": "RCCL" if any(r.library == "RCCL" for r in ranks) else "NCCL",
        "hosts": hosts,
        "n_hosts": len(hosts),
        "nranks": nranks if nranks is not None else _first(groups),
        "nranks_from": _nranks_from(job),
        "env": settings,
        "gpu_model": _first(g.model for h in job.hosts for g in h.gpus if g.model),
        "line_prefix": _line_prefix(ranks),
        "avg_bus_bw": _first(b.average_busbw for b in job.benchmarks),
    }


def _is_written(launch: Launch, name: str) -> bool:
    """Does the command line hold the variable, and not only an option that sets it?"""
    return any(name in span.text for span in launch.provenance.values())


def _line_prefix(ranks: list[Rank]) -> str | None:
    """The launcher's tag; the number of a Slurm task differs from line to line and is no part of the truth."""
    tags = {re.sub(r"^\d+:$", "N:", r.line_tag) for r in ranks if r.line_tag}
    return f"{tags.pop()} " if len(tags) == 1 else None


def _nranks_from(job: Job) -> str | None:
    if any(b.nranks for b in job.benchmarks):
        return "device table"
    return "ring/channel order" if any(e.event == "ring-order" for e in job.events) else None


def _network(ranks: list[Rank], events: Iterable[Event]) -> dict[str, Any]:
    counts: dict[str, int] = {}
    for rank in ranks:
        for transport, count in (rank.transports or {}).items():
            counts[transport] = counts.get(transport, 0) + count
    net_lines = {name: count for name, count in counts.items() if name.startswith("NET/") and "Socket" not in name}
    interfaces = _first(r.socket_interfaces for r in ranks if r.socket_interfaces) or ()
    names = [i.name for i in interfaces]
    devices = _first(r.net_devices for r in ranks if r.net_devices) or ()
    bootstrap = _first(r.bootstrap_interface for r in ranks if r.bootstrap_interface)
    oob = _first(r.oob_interface for r in ranks if r.oob_interface)
    partial = _names(_first(r.net_devices_partial for r in ranks if r.net_devices_partial) or ())
    said = [v.enabled for r in ranks for v in r.gdr]
    said += [False for e in events if e.event in {"ofi-gdr-off", "ofi-gdr-missing"}]
    refused = False if said and not any(said) else None
    return {
        "net": _first(r.net for r in ranks if r.net),
        "plugin": _first(r.net_plugin for r in ranks if r.net_plugin),
        "bootstrap_if": bootstrap.name if bootstrap else None,
        "bootstrap_addr": bootstrap.addresses[0].ip if bootstrap and bootstrap.addresses else None,
        "socket_ifs": names,
        "virtual_ifs": [name for name in names if VIRTUAL.match(name)],
        "loopback_selected": any(i.name == "lo" for i in (bootstrap, *interfaces[:1]) if i is not None),
        "oob_if": oob.name if oob else None,
        "ib_devices": _names(devices) or (partial if _is_cut_at_end(ranks) else []),
        "ib_devices_partial": partial,
        "mixed_link_layers": len({d.link_layer for r in ranks for d in r.net_devices or r.net_devices_partial or ()})
        > 1,
        "relaxed_ordering": any(r.relaxed_ordering for r in ranks),
        "gdr": all("/GDRDMA" in name for name in net_lines) if net_lines else refused,
        "gdr_channel_lines": sum(count for name, count in counts.items() if "/GDRDMA" in name),
        "p2p_channel_lines": sum(count for name, count in counts.items() if name.startswith("P2P")),
        "net_dev_indices": sorted({nic for r in ranks for nic in r.nics_used or ()}),
        "transports": sorted({name.removesuffix("/GDRDMA") for name in counts}),
        "ib_no_device": any(e.event == "ib-no-device" for e in events),
        "nics": _value(events, "ofi-provider", "nics"),
    }


def _is_cut_at_end(ranks: list[Rank]) -> bool:
    """Does what is left of the list begin it without a gap?"""
    cut = _first(r.net_devices_partial for r in ranks if r.net_devices_partial) or ()
    return [device.index for device in cut] == list(range(len(cut)))


def _gdr_reason(ranks: list[Rank]) -> str | None:
    """The reason for the verdict, else the verdict for the devices by number."""
    verdicts = [verdict for rank in ranks for verdict in rank.gdr]
    reason = _first(verdict.reason for verdict in verdicts if verdict.reason)
    index = {device.name: device.index for rank in ranks for device in rank.net_devices or ()}
    off = sorted({index[v.hca] for v in verdicts if v.gpu is None and not v.enabled and v.hca in index})
    return reason or (f"GPU Direct RDMA Disabled for HCA {'/'.join(map(str, off))}" if off else None)


def _rdma(ranks: list[Rank], events: Iterable[Event]) -> dict[str, Any]:
    """GIDs, GPUDirect RDMA and failed completions."""
    gids = [use for rank in ranks for use in rank.gids_used]
    names = _first([d.name for d in r.net_devices] for r in ranks if r.net_devices) or []
    local = _first(use.local_gid for use in gids if use.local_gid)
    distances = {
        str(r.cuda_dev): dict(zip(names, r.nic_distances, strict=False)) for r in ranks if r.nic_distances is not None
    }
    return {
        "local_gid": local,
        "remote_gid": _first(use.remote_gid for use in gids if use.remote_gid),
        "link_local_gid": any((use.local_gid or "").startswith("fe80") for use in gids),
        "hca": _first(use.hca for use in gids if use.hca) or _value(events, "ib-completion-error", "hca"),
        "gdr_reason": _gdr_reason(ranks),
        "gpu_nic_distance": distances,
        "wc_status": _value(events, "ib-completion-error", "status"),
        "wc_vendor_err": _value(events, "ib-completion-error", "vendor_err"),
    }


def _names(devices: Iterable[NetDevice]) -> list[str]:
    return [f"{d.name}:{d.port}/{d.link_layer}" + ("/SHARP" if d.sharp else "") for d in devices]


def _life(job: Job, ranks: list[Rank]) -> dict[str, Any]:
    ready = sorted(
        {n for c in job.communicators for n in c.ranks_ready}
        | {r.rank for r in ranks if r.rank is not None and r.state == "ready"}
    )
    started = {n for c in job.communicators for n in c.ranks_started}
    ended = [e for e in job.events if e.event == "comm-ended" and e.fields.get("how") == "Destroy"]
    rings = [
        nranks - 1
        for e in job.events if e.event == "ring-order" and isinstance(nranks := e.fields.get("nranks"), int)
    ]  # fmt: skip
    seen = [*ready, *started, *rings, *(r.rank for r in ranks if r.rank is not None)]
    return {
        "init_start": len(started),
        "ranks_started": sorted(started),
        "max_rank_seen": max(seen, default=None),
        "init_complete": len(ready),
        "ranks_complete": ready,
        "destroy_complete": sum(e.count for e in ended),
        "n_warn": sum(e.count for e in job.events if e.level == "WARN" and e.origin not in {"plugin", "libfabric"}),
        "warns": [e.text for e in job.events if e.level == "WARN" for _ in range(e.count)],
        "error_codes": sorted({e.fields["code"] for e in job.events if e.event == "error-return"}),
        "nnodes": _value(job.events, "comm-nodes", "nodes") or _first(la.nnodes for la in job.launches if la.nnodes),
        "local_ranks": _value(job.events, "comm-nodes", "local_ranks"),
    }


def _from_events(events: tuple[Event, ...]) -> dict[str, Any]:
    cause = _first(e.event.replace("-", " ") for e in events if e.kind == "cause")
    driver = _value(events, "cuda-driver-version", "cuda_version")
    assigned = {str(e.fields.get("plugin")) for e in events if e.event == "plugin-assigned"}
    failed = (e.fields.get("error") for e in events if e.event == "socket-connect-failed")
    reason = _first(reasons.of_text(str(error)) for error in failed if error)
    peer = _first(e.peer for e in events if e.peer and e.event.startswith("socket"))
    mismatch = any(e.event == "collective-mismatch" for e in events)
    return {
        "cuda_driver": str(driver) if driver is not None else None,
        "dmabuf": any(e.event == "dmabuf-available" for e in events),
        "nvls": any(e.event == "nvls-used" for e in events),
        "coll_channels": _value(events, "channel-counts", "coll_channels"),
        "nvls_channels": _value(events, "channel-counts", "nvls_channels"),
        "nchannels": _value(events, "ring-order", "channels"),
        "error": _words(reason) if reason else "collective mismatch" if mismatch else cause,
        "connect_peer": peer,
        "gin_plugin": _first(name for name in assigned if name.startswith("GIN")),
        "rma_plugin": _first(name for name in assigned if name.startswith("RMA")),
        "ofi_plugin": _value(events, "ofi-version", "ofi_version"),
        "ofi_provider": _value(events, "ofi-provider", "provider"),
        "ofi_warns": sum(e.count for e in events if e.level == "WARN" and e.origin == "plugin"),
        "topo_file": _value(events, "ofi-platform", "path"),
        "instance": _value(events, "ofi-platform", "instance_type"),
        "rocm": _value(events, "rocm-version", "rocm"),
        "hip": _value(events, "hip-version", "hip"),
    }


def _words(reason: reasons.Reason) -> str | None:
    """What the C library says of an error, in lower case."""
    words = (words for words, known in reasons.errors().texts.items() if known == reason)
    return _first(words)


def _value(events: Iterable[Event], name: str, field: str) -> Any:  # noqa: ANN401
    return _first(e.fields[field] for e in events if e.event == name and field in e.fields)


def _first(values: Iterable[T]) -> T | None:
    return next(iter(values), None)


def _unique(values: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(values))


def _first_line(rank: Rank) -> int:
    return min((span.line for span in rank.provenance.values()), default=0)
