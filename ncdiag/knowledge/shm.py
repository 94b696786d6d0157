"""Shared memory segments that could not be created or attached."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Host
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.pci import is_nvidia_gpu
from ncdiag.facts.vocabulary.shared_memory import is_filled
from ncdiag.messages.vocabulary.reasons import reason

_SHM_CALLS = frozenset({"shm-open-failed", "shm-extend-failed", "shm-map-failed"})
_SHM_FILE = "shmutils.cc"


@derived
def is_shm_denied(event: Event, view: View) -> bool:
    """Was access to a file in /dev/shm denied: by a line about it, or by a system call of NCCL's code for it?"""
    inside = event.event == "system-call-failed" and (event.file or "").endswith(_SHM_FILE)
    return (inside or event.event in _SHM_CALLS) and reason(event, view) == "denied"


@derived
def separate_shm(event: Event, view: View) -> str:
    """Containers that share no /dev/shm by its device number, ``; /dev/shm of c1 and c2 are two``; empty for none."""
    first: dict[int, Host] = {}
    for host in view.job.hosts:
        mount = next((mount for mount in host.mounts if mount.path == SHM and mount.device is not None), None)
        if mount is not None and mount.device is not None:
            view.note(mount, "device")
            first.setdefault(mount.device, host)
    names = sorted(host.name for host in first.values())
    return f"; /dev/shm of {' and '.join(names[:2])} are two" if len(names) > 1 else ""


SHM = "/dev/shm"  # noqa: S108

_DEFAULT = 64 << 20
"""The default size of a container's /dev/shm in Docker and Kubernetes, in bytes, too small for any number of GPUs."""
_ROOM = 1 << 30
"""The size of /dev/shm in bytes below which several GPUs of a host, and data loaders, exhaust it."""


@derived
def small_shm(host: Host, view: View) -> str | None:
    """The size of /dev/shm, ``64 MiB``, where it is small for several GPUs, or the default of containers.

    Empty where it is enough, None where it was not shown.
    """
    gpus = max(len(host.gpus), host.gpus_attached or 0, sum(map(is_nvidia_gpu, host.pci)))
    mount = next((mount for mount in host.mounts if mount.path == SHM), None)
    counted = gpus > 0 or is_closed(host, "pci")
    if gpus <= 1 and counted:
        return ""
    if mount is None or mount.size_bytes is None:
        return None
    view.note(mount)
    if not counted and mount.size_bytes > _DEFAULT:
        return None
    return f"{mount.size_bytes / (1 << 20):.3g} MiB" if mount.size_bytes < _ROOM else ""


@derived
def scarce_shm(host: Host, view: View) -> str | None:
    """The size of /dev/shm, ``64 MiB, 7 MiB free``, where it is less than several ranks of a host need.

    Empty where it is enough, None where it was not shown.
    """
    mount = next((mount for mount in host.mounts if mount.path == SHM), None)
    if mount is None or mount.size_bytes is None:
        return None
    view.note(mount)
    if mount.size_bytes >= _ROOM:
        return ""
    free = mount.available_bytes
    size = f"{mount.size_bytes / (1 << 20):.3g} MiB"
    return size if free is None else f"{size}, {free / (1 << 20):.3g} MiB free"


@derived
def is_large_and_full(event: Event, view: View) -> bool:
    """Does the host of the event have a large /dev/shm without free space?"""
    host = view.host(event.host)
    return host is not None and is_filled(host, view)
