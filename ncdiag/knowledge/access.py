"""Which way to the GPUs or RDMA devices is closed: what works in one place and fails in another names the layer."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Access, Host, Job, Setting
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.gpus import listed
from ncdiag.facts.vocabulary.launches import is_container
from ncdiag.messages.vocabulary.cuda_errors import UNAVAILABLE, is_cuda_unavailable

_NVIDIA, _AMD, _NPU = ("nvidia-smi", "cuda"), ("rocm-smi", "rocm"), ("npu-smi", "npu")
_BOXES = frozenset({"docker", "podman", "enroot", "pyxis", "apptainer", "singularity", "kubernetes"})


@derived
def nvidia_closed_to(job: Job, view: View) -> tuple[str, ...]:
    """Who cannot use the NVIDIA GPUs although others can: `programs`, `container`, `job`, `user`; or the `host` itself.

    `programs`: nvidia-smi works in the same place. `container`: it works on the host. `job`: outside of the scheduler's
    job. `user`: as root. Empty if nothing says so.
    """
    return tuple(_closed(job, view, *_NVIDIA))


@derived
def nvidia_open_to(job: Job, view: View) -> tuple[str, ...]:
    """The places in which nvidia-smi works, and nothing says that it fails there: `host`, `container`, ..."""
    mine = [access for access in job.accesses if access.tool == "nvidia-smi"]
    shut = {access.place for access in mine if not access.works}
    found = {access.place: access for access in mine if access.works and access.place and access.place not in shut}
    for access in found.values():
        view.note(access)
    return tuple(found)


@derived
def amd_closed_to(job: Job, view: View) -> tuple[str, ...]:
    """Who cannot use the AMD GPUs although others can, in the words of ``nvidia_closed_to``."""
    return tuple(_closed(job, view, *_AMD))


@derived
def npu_closed_to(job: Job, view: View) -> tuple[str, ...]:
    """Who cannot use the Ascend NPUs although others can, in the words of ``nvidia_closed_to``."""
    return tuple(_closed(job, view, *_NPU))


@derived
def rdma_closed_to(job: Job, view: View) -> tuple[str, ...]:
    """Who cannot use the RDMA devices although others can: `container`, `job` or `user`."""
    return tuple(who for who in _closed(job, view, "rdma", "rdma") if who not in {"programs", "host"})


@derived
def gpus_not_reached(job: Job, view: View) -> bool:
    """Are the GPUs not reached, as people say, who say nothing of RDMA: does it fail before its network matters?"""
    shut = next((a for a in job.accesses if not a.works and a.tool not in {"rdma", "program"}), None)
    if shut is None or any(a.tool == "rdma" for a in job.accesses):
        return False
    view.note(shut)
    return True


@derived
def in_container(job: Job, view: View) -> bool:
    """Does the job, or the program that fails, run in a container or pod, as far as anything says so?"""
    if any(is_container(launch, view) or launch.program == "kubernetes" for launch in job.launches):
        return True
    if any(host.in_container for host in job.hosts) or any(a.place == "container" for a in job.accesses):
        return True
    return any(c.kind in {"container", "orchestrator"} and c.value in _BOXES for c in job.contexts)


def _closed(job: Job, view: View, query: str, use: str) -> Iterator[str]:
    """Who is shut out, for the tool that queries the driver and the one that uses the device."""
    tools = {query, use} | ({"program"} if any(a.tool in {query, use} for a in job.accesses) else set())
    mine = [a for a in job.accesses if a.tool in tools]
    worked = [a for a in mine if a.works]
    failed = [a for a in mine if not a.works and not any(_same(a, b) for b in worked)]
    if query != use and _programs(job, view, query, worked, failed):
        yield "programs"
    for who, others in _PAIRS.items():
        shut = next((a for a in failed if a.place == who), None)
        free = next((a for a in worked if a.place in others), None)
        if shut is not None and free is not None:
            view.note(shut)
            view.note(free)
            yield who
    broken = next((a for a in failed if a.tool == query and a.place in {"host", "root"}), None)
    if broken is not None and query != use and not any(a.tool != "program" for a in worked):
        view.note(broken)
        yield "host"


_PAIRS = {"container": ("host", "root"), "job": ("host", ""), "user": ("root",)}
"""Who may be shut out, and the places that show that the device itself works."""


def _same(a: Access, b: Access) -> bool:
    return (a.tool, a.place) == (b.tool, b.place)


def _programs(job: Job, view: View, query: str, worked: list[Access], failed: list[Access]) -> bool:
    """Does the query work where a program fails: in the same place, or in one that is not named?"""
    asked = [a for a in worked if a.tool == query]
    for broken in (a for a in failed if a.tool != query):
        for free in asked:
            if free.place == broken.place or (not free.place and broken.place == "container" and not _on_host(asked)):
                view.note(free)
                view.note(broken)
                return True
    if query == "nvidia-smi" and not asked and not any(a.tool == query for a in failed):
        shut = next((a for a in failed if a.place != "host"), None)
        shown = next((gpus[0] for host in job.hosts if (gpus := listed(host))), None)
        if shut is not None and shown is not None:
            view.note(shown)
            view.note(shut)
            return True
    return False


def _on_host(asked: list[Access]) -> bool:
    return bool(asked) and all(a.place == "host" for a in asked)


_SLURM = frozenset({"sbatch", "srun", "salloc"})
_ASKS = lazy_regex(r"\s(?:--(?:gres|gpus|tres|exclusive)|-G)|gpu:|--gpu", re.IGNORECASE)
_VISIBLE = frozenset({
    "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
    "ASCEND_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
})  # fmt: skip
_NONE = frozenset({"", "-1", "nodevfiles", "none", "void", "null"})
"""Values that mean no GPU: CUDA ends at the first number that is not a device, Slurm and the runtimes have words."""


@derived
def slurm_without_gpus(job: Job, view: View) -> str | None:
    """The Slurm line that asks for no GPU, if no other line of the job does; empty if one does, None without lines."""
    mine = [launch for launch in job.launches if launch.program in _SLURM]
    if not mine:
        return None
    if any(_ASKS.search(launch.text) for launch in mine):
        return ""
    view.note(mine[0])
    return mine[0].text[:80]


@derived
def finds_no_gpu(host: Host, view: View) -> bool | None:
    """Does nvidia-smi list no GPU, or CUDA find none, on this host?"""
    event = next((e for e in view.events_on(host.name, UNAVAILABLE) if is_cuda_unavailable(e, view)), None)
    if event is not None:
        view.note(event)
        return True
    if host.gpus_attached is not None:
        view.note(host, "gpus_attached")
        return host.gpus_attached == 0
    return False if host.gpus else None


@derived
def hides_all_gpus(setting: Setting, view: View) -> bool:
    """Does the variable hide all GPUs from the program?"""
    hit = setting.name in _VISIBLE and setting.text is not None and setting.text.strip("\"' ").lower() in _NONE
    if hit:
        view.note(setting)
    return hit
