"""IMEX, which lets GPUs of several hosts share memory over NVLink: whether it works, rests, or is needed.

Source: NVIDIA, IMEX Service for NVLink Networks (multi-node-nvlink-systems/imex-guide): only systems whose NVLink spans
hosts, such as GB200 NVL72, have a domain. NVIDIA/k8s-dra-driver-gpu, README: a ComputeDomain starts the daemons of its
nodes for a workload and ends them with it.
"""

from __future__ import annotations

from typing import Literal

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure

_UP = "UP"
_OF_ONE_HOST = lazy_regex(r"(?:NVIDIA )?(?:Tesla|GeForce|Quadro|RTX|TITAN|[AHLV]\d{1,3}S?|T4|B[23]00)\b")
"""GPUs whose NVLink, if they have any, ends at the host. GH200 and GB200 begin with another letter."""


@derived
def is_imex_needless(job: Job, view: View) -> bool:
    """Is a domain of IMEX up, or does the NVLink of all GPUs that were shown end at their hosts?"""
    up = next((host for host in job.hosts if host.imex_domain == _UP), None)
    if up is not None:
        view.note(up, "imex_domain")
        return True
    gpus = [gpu for host in job.hosts for gpu in host.gpus if gpu.model]
    if not gpus or not all(_OF_ONE_HOST.match(gpu.model or "") for gpu in gpus):
        return False
    view.note(gpus[0], "model")
    return True


_REFUSED = ("mnnvl-not-working", "mnnvl-degraded")
"""NCCL's messages when GPUs of several hosts should share memory, and the attempt failed."""
OWN_DAEMON = "its daemon"
"""Stands in `Host.imex_lost` for the host that was asked."""
_DOWN = "DOWN"
_IMEX, _AWAY = "nvidia-imex", "UNAVAILABLE"
_RESTS_TOLD = frozenset({"hosts-idle", "imex-not-ready"})
_SHOWN = 3


@derived
def imex_fault(host: Host, view: View) -> Literal["", "domain", "channels"] | None:
    """The part of IMEX that fails, empty for none; None where NCCL failed with it and its state was not shown."""
    if imex_rests(host, view):
        return ""
    if host.imex_lost or host.imex_domain not in {None, _UP}:
        view.note(host, "imex_lost" if host.imex_lost else "imex_domain")
        return "domain"
    refused = view.events_on(host.name, _REFUSED)
    if refused and host.imex_channels is not None and not host.imex_channels:
        view.note(host, "imex_channels")
        return "channels"
    return "" if host.imex_domain == _UP or not refused else None


@derived
def imex_rests(host: Host, view: View) -> bool:
    """Is IMEX off on a host without a job? It comes up for a job or a ComputeDomain, with the list of its nodes.

    Off means also that no node of its domain has a daemon: one that is asked for starts those of the others. Daemons
    that run and are not connected do not rest.
    """
    if not _is_without_job(view.job, view) or view.events_on(host.name, _SHARES):
        return False
    return is_imex_asleep(host, view) or any(s.name == _IMEX and s.active is False for s in host.services)


@derived
def is_imex_asleep(host: Host, view: View) -> bool:
    """Is the domain DOWN without a daemon that runs, or the daemon of the host not ready?"""
    lost = host.imex_lost or ()
    if host.imex_domain not in {None, _DOWN} or not (host.imex_domain or lost):
        return False
    view.note(host, "imex_domain" if host.imex_domain else "imex_lost")
    away = all(_AWAY in node or node.startswith(OWN_DAEMON) for node in lost)
    return away and (not lost or host.imex_domain is None or len(lost) >= (host.imex_nodes or 1))


@derived
def imex_rests_told(job: Job, view: View) -> bool:
    """Does somebody say of idle hosts that IMEX is not ready there, and complain of nothing else?"""
    told = [context for context in job.contexts if context.kind == "state" and context.value in _RESTS_TOLD]
    if {context.value for context in told} != _RESTS_TOLD or not _is_without_job(job, view):
        return False
    for context in told:
        view.note(context)
    return not any(host.imex_domain or host.imex_lost for host in job.hosts)


def _is_without_job(job: Job, view: View) -> bool:
    """Does nothing show or tell of a job? Whoever complains of IMEX alone must say that the hosts are idle."""
    said = any(context.kind == "state" and context.value == "hosts-idle" for context in job.contexts)
    if job.ranks or job.benchmarks or job.throughputs or (job.complaints and not said) or fails_beside_imex(job, view):
        return False
    return not any(is_open_failure(event, view) for event in job.events if event.origin != "kernel")


@derived
def fails_beside_imex(job: Job, view: View) -> bool:
    """Does somebody complain of anything but of IMEX itself: of a job, a program, a call?"""
    return any("imex" not in complaint.text.lower() for complaint in job.complaints)


_SHARES = ("mnnvl-state", *_REFUSED)
"""Lines of ranks whose GPUs are in one NVLink domain with those of other hosts."""


@derived
def imex_stop(host: Host, view: View) -> str | None:
    """Why programs on the host cannot share GPU memory with other hosts, as a phrase; empty if they can.

    A host without a daemon or channels is at fault only where its ranks print that their NVLink spans hosts, or without
    channels, where its daemon runs, as only in a rack, and CUDA calls fail. None where neither was seen.
    """
    if imex_rests(host, view):
        return ""
    if host.imex_domain == _DOWN:
        view.note(host, "imex_domain")
        return "is DOWN"
    spans = view.events_on(host.name, _SHARES)
    service = next((s for s in host.services if s.name == _IMEX and s.active is False), None)
    if spans and service is not None:
        view.note(service)
        return "has no daemon: nvidia-imex does not run"
    if imex_lacks_channels(host, view):
        return "cannot be used: programs see no channel"
    return None if host.imex_domain is None and spans else ""


@derived
def imex_lacks_channels(host: Host, view: View) -> bool:
    """Do programs see no channel on a host whose daemon is not known to be off, and whose NVLink spans hosts?"""
    if host.imex_channels is None or host.imex_channels or imex_rests(host, view) or host.imex_domain == _DOWN:
        return False
    spans = view.events_on(host.name, _SHARES)
    off = any(s.name == _IMEX and s.active is False for s in host.services)
    if off or not (spans or _fails_in_rack(host, view)):
        return False
    view.note(host, "imex_channels")
    return True


_CALLS = ("cuda-failure", "cuda-invalid-device", "program-cuda-failure", "unknown-warn")
_OWN_WORDS = ("not permitted", "not_permitted", "invalid device ordinal", "mnnvl", "imex")
"""Words of errors that follow from a channel that cannot be opened."""


def _fails_in_rack(host: Host, view: View) -> bool:
    """Does the daemon of the host run, or is its domain known, and did CUDA or NCCL complain of a call?"""
    runs = any(s.name == _IMEX and s.active for s in host.services) or host.imex_domain == _UP or bool(host.imex_nodes)
    if not runs:
        return False
    told = (e for e in view.job.events if e.event in _CALLS and e.host in {host.name, None})
    return any(any(word in event.text.lower() for word in _OWN_WORDS) for event in told)


@derived
def imex_size(host: Host, view: View) -> str:
    """The size of the IMEX domain, `` (18 nodes)``; empty where it was not shown."""
    return f" ({host.imex_nodes} nodes)" if (host.imex_nodes or 0) > 1 else ""


@derived
def imex_state(host: Host, view: View) -> str:
    """The state of the IMEX domain and the nodes that it lost: ``DEGRADED: n2 (UNAVAILABLE)``."""
    lost = list(host.imex_lost or ())
    more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
    return (host.imex_domain or "not whole") + (f": {', '.join(lost[:_SHOWN])}{more}" if lost else "")
