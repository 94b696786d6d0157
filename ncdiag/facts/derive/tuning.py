"""How a host is tuned for steady speed: governors, clocks, PCIe reads, counters of its cards."""

from __future__ import annotations

from ncdiag.facts.model import Event, Host, Setting
from ncdiag.facts.view import View, derived, derived_of

RDMA_CARDS = ("ConnectX", "BlueField", "Infiniband controller")
_LEFT_AT_LEAST = 0.02
"""Share of the memory that programs can still have, below which it is used up."""
_PROVIDERS = {
    "FI_EFA_": "aws", "NCCL_FASTRAK_": "gcp", "NCCL_GPUDIRECTTCPX_": "gcp", "NCCL_SHIMNET_": "gcp",
}  # fmt: skip
_PATHS = {"/opt/microsoft/": "azure", "/opt/amazon/": "aws"}


@derived
def is_of_other_provider(setting: Setting, view: View) -> bool | None:
    """Does a variable belong to another cloud than the host's? None when the host's is not known."""
    theirs = next((name for start, name in _PROVIDERS.items() if setting.name.startswith(start)), None)
    if theirs is None and setting.name in {"NCCL_TOPO_FILE", "NCCL_GRAPH_FILE"}:
        theirs = next((name for path, name in _PATHS.items() if (setting.text or "").startswith(path)), None)
    if theirs is None or not setting.is_set:
        return False
    here = view.get(view.job, "providers")
    view.note(setting)
    return None if not here else theirs not in here


@derived_of("host-memory-exhausted", "efa-fork-unsafe")
def is_failed_fork(event: Event, view: View) -> bool:
    """Did a program of a job over libfabric fork, and its provider forbade it or memory was wanting (errno 12)?

    Memory is wanting for another reason where the host has none left, or its kernel killed for it.
    """
    if event.event == "efa-fork-unsafe":
        return True
    if "[Errno 12]" not in event.text or not view.get(view.job, "uses_ofi"):
        return False
    hosts = [host] if (host := view.host(event.host)) is not None else view.job.hosts
    return not any(map(_has_no_memory, hosts)) and not view.events_on(event.host, ["oom-kill"])


def _has_no_memory(host: Host) -> bool:
    if host.memory_bytes is None or host.memory_available_bytes is None:
        return False
    return host.memory_available_bytes < host.memory_bytes * _LEFT_AT_LEAST
