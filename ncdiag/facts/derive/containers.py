"""Facts of the containers that launch lines and manifests describe: GPUs, shared memory, locks, RDMA, network."""

from __future__ import annotations

from ncdiag.facts.derive.launches import CONTAINER_PROGRAMS
from ncdiag.facts.model import Launch
from ncdiag.facts.view import View, derived

POD = "kubernetes"


@derived
def asks_rdma(launch: Launch, view: View) -> bool | None:
    """Whether the container is given RDMA devices; None for a line that is no container."""
    if launch.program == POD:
        return bool(launch.rdma_resources)
    if launch.program in CONTAINER_PROGRAMS:
        return bool(launch.privileged) or any("infiniband" in device for device in launch.devices)
    return None
