"""Facts of the containers that launch lines and manifests describe: GPUs, shared memory, locks, RDMA, network."""

from __future__ import annotations

from ncdiag.facts.derive.launches import CONTAINER_PROGRAMS
from ncdiag.facts.model import Launch
from ncdiag.facts.view import View, derived

POD = "kubernetes"
_LOCKING = frozenset({"IPC_LOCK", "CAP_IPC_LOCK", "ALL"})


@derived
def gpu_count(launch: Launch, view: View) -> int | None:
    """GPUs that the container is given; None when the line does not say, or says all."""
    text = (launch.gpus or "").strip("\"'")
    if text.startswith("device="):
        return len(text.removeprefix("device=").split(","))
    return int(text) if text.isascii() and text.isdigit() else None


@derived
def has_several_gpus(launch: Launch, view: View) -> bool | None:
    """Whether several GPUs share the container; ``all`` is taken for several, None when nothing is said."""
    if launch.gpus == "all":
        return True
    count = view.get(launch, "gpu_count")
    return None if count is None else count > 1


@derived
def has_default_shm(launch: Launch, view: View) -> bool | None:
    """Whether a pod has nothing but the default /dev/shm of 64 MiB (kubelet and containerd, as Docker)."""
    if launch.program != POD:
        return None
    if launch.ipc == "host":
        return False
    return None if launch.shm_mounted is None else not launch.shm_mounted


@derived
def asks_rdma(launch: Launch, view: View) -> bool | None:
    """Whether the container is given RDMA devices; None for a line that is no container."""
    if launch.program == POD:
        return bool(launch.rdma_resources)
    if launch.program in CONTAINER_PROGRAMS:
        return bool(launch.privileged) or any("infiniband" in device for device in launch.devices)
    return None


@derived
def can_lock_memory(launch: Launch, view: View) -> bool | None:
    """Whether the container may lock memory without limit: privileged, IPC_LOCK, or an unlimited memlock."""
    if launch.program != POD and launch.program not in CONTAINER_PROGRAMS:
        return None
    return bool(launch.privileged) or launch.memlock == "unlimited" or not _LOCKING.isdisjoint(launch.cap_add)


@derived
def asks_efa_only(launch: Launch, view: View) -> bool | None:
    """Whether the RDMA devices that a pod asks for are AWS's EFA alone, whose nodes lift the limit of locked memory."""
    asked = launch.rdma_resources
    return None if asked is None else bool(asked) and all(name.endswith("/efa") for name in asked)


@derived
def reaches_host_devices(launch: Launch, view: View) -> bool | None:
    """Whether a pod sees the RDMA devices of its host without asking for them: privileged, in the host's network."""
    return bool(launch.privileged) and launch.network == "host" if launch.program == POD else None
