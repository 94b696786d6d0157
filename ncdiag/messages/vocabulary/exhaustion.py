"""Failures due to a lack of memory or disk space, file descriptors, or resources of a card."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import FAILURES, Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import container_shm_bytes
from ncdiag.messages.vocabulary.reasons import reason

_WORDED = "failure-words"
"""Events that mention a failure in words only.

They are facts until another line reports it (`ncdiag.parsers._failing`).
"""


OPEN_FAILURES = ("ib-open-device-failed", "verbs-open-failed")
"""Events that report that a listed RDMA device could not be opened."""
_USED_UP = frozenset({"no-memory", "no-space", "too-many-files", "limit-reached", "not-ready"})


@derived
def is_used_up(event: Event, view: View) -> bool:
    """Did the operation fail because a resource is exhausted: memory, space, file descriptors, or another one?"""
    return reason(event, view) in _USED_UP


@derived
def is_out_of_files(event: Event, view: View) -> bool:
    """Does a program report that it cannot open more files (EMFILE)?"""
    if event.kind not in FAILURES and event.event != _WORDED:
        return False  # saves computing the reason of a hundred thousand lines that are facts
    return event.event == "too-many-files" or reason(event, view) == "too-many-files"


_CONTAINER_SHM = 64 << 20
_NO_ROOM = {"shm-extend-failed", "container-shm-small", "shared-memory-full", "torch-dataloader-bus-error"}
_BUS_ERROR = "Bus error"
"""The shell's message for SIGBUS: a write to a page of a file for which the file system has no space."""


@derived
def is_out_of_space(event: Event, view: View) -> bool | None:
    """Did the operation fail for lack of space? None for a failed segment where /dev/shm was not shown.

    Releases up to 2.21 print no errno when they cannot extend a file; the only reason for that is missing space. A
    segment that failed without errno counts only where such a line is present (CUDA's refusal to register it looks the
    same: src/misc/shmutils.cc, v2.12.7-1 to v2.22.3-1), where /dev/shm is too small for it, or where the container has
    only the default size.
    """
    if "shm_file" in event.fields:
        return str(event.fields["shm_file"]).startswith("/dev/shm/")  # noqa: S108  (nothing is written there)
    error = event.fields.get("error")
    if error is not None:
        return reason(event, view) == "no-space"
    if event.event == "shm-segment-failed":
        beside = (e for e in view.events_on(event.host, ["shm-extend-failed"]) if e.host == event.host)
        if _is_in_small_container(view) or any(_lacks_space(e, view) for e in beside):
            return True
        small = _is_in_small_mount(event, view)
        return False if small is None and event.fields.get("action") != "creating" else small
    if event.event == "torch-dataloader-killed":
        return _BUS_ERROR in event.text
    return event.event in _NO_ROOM


def _is_in_small_container(view: View) -> bool:
    sizes = [container_shm_bytes(launch, view) for launch in view.job.launches]
    return any(size is not None and size <= _CONTAINER_SHM for size in sizes)


def _is_in_small_mount(event: Event, view: View) -> bool | None:
    """Does /dev/shm of the host have too little space for the segment, or only the default size of a container?"""
    size = event.fields.get("size")
    shown = False
    for mount in (mount for host in view.job.hosts if event.host in {host.name, None} for mount in host.mounts):
        if mount.path != "/dev/shm" and mount.filesystem != "shm":  # noqa: S108  (a mount point that is compared)
            continue
        shown = True
        free, whole = mount.available_bytes, mount.size_bytes
        is_tight = free is not None and isinstance(size, int) and free < size
        if is_tight or (whole is not None and whole <= _CONTAINER_SHM):
            view.note(mount)
            return True
    return False if shown else None


def _lacks_space(event: Event, view: View) -> bool:
    told = event.fields.get("error") is not None
    return event.event == "shm-extend-failed" and (not told or reason(event, view) == "no-space")
