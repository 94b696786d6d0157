"""Derived fields of events: which kind of failure a line tells of, whoever printed it.

The same CUDA error reaches a log as NCCL's ``Cuda failure 'words'``, as the exception of a framework or as the line of
a tool; the words are those of cudaGetErrorString (CUDA runtime API, cudaError_t).
"""

from __future__ import annotations

from ncdiag.facts.model import Event
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View, derived

CODES = frozenset({
    "framework-nccl-error", "torch-nccl-error", "torch-result-system-error", "torch-result-cuda-error",
    "torch-result-internal-error", "torch-result-invalid-usage", "torch-result-invalid-argument",
    "torch-result-remote-error",
})  # fmt: skip
"""Events that tell a return code of NCCL and nothing else."""

_BAD_KERNEL = frozenset({
    "an illegal memory access was encountered", "unspecified launch failure", "misaligned address",
    "device-side assert triggered", "an illegal instruction was encountered",
})  # fmt: skip
_NO_DEVICE = frozenset({"no CUDA-capable device is detected", "initialization error"})
_OLD_DRIVER = frozenset({
    "CUDA driver version is insufficient for CUDA runtime version",
    "forward compatibility was attempted on non supported HW",
    "the provided PTX was compiled with an unsupported toolchain",
})  # fmt: skip
_NO_CODE = frozenset({"no kernel image is available for execution on the device", "named symbol not found"})
_MISMATCH = frozenset({"Driver/library version mismatch", "RM has detected an NVML/RM version mismatch."})
_BAD_TOOLCHAIN = "unsupported toolchain"
_RAS_SINCE = Version(2, 24)
_FATAL = ("async fatal event", "Got async event")
_RECOVERS = frozenset({
    "port error", "port active", "client reregistration", "SM change", "LID change", "P_Key change", "GID table change",
})  # fmt: skip


def _cuda_words(event: Event) -> object:
    return event.fields.get("cuda_error") if event.event == "cuda-failure" else None


@derived
def tells_code_only(event: Event, view: View) -> bool:
    """Is it a return code of NCCL without a reason?"""
    return event.event in CODES


@derived
def is_kernel_fault(event: Event, view: View) -> bool:
    """Did a kernel of the program fail: a CUDA error that sticks and that the next caller, often NCCL, gets to see?"""
    return event.event in {"cuda-illegal-access", "cuda-launch-failure"} or _cuda_words(event) in _BAD_KERNEL


@derived
def is_cuda_unavailable(event: Event, view: View) -> bool:
    """Does CUDA or NVML not start at all, for another reason than two driver versions?"""
    if event.event == "nvml-init-failed":
        return event.fields.get("error") not in _MISMATCH
    return event.event in {"cuda-no-device", "cuda-driver-unreachable"} or _cuda_words(event) in _NO_DEVICE


@derived
def is_old_driver(event: Event, view: View) -> bool:
    """Is the driver older than what the program was built with?"""
    if event.event == "cuda-no-kernel-image":
        return _BAD_TOOLCHAIN in event.text
    return event.event == "cuda-driver-too-old" or _cuda_words(event) in _OLD_DRIVER


@derived
def is_driver_mismatch(event: Event, view: View) -> bool:
    """Are kernel module and library of the driver of different versions?"""
    if event.event == "nvml-init-failed":
        return event.fields.get("error") in _MISMATCH
    return event.event in {"cuda-driver-mismatch", "gpu-driver-mismatch"}


@derived
def lacks_gpu_code(event: Event, view: View) -> bool:
    """Does the program or NCCL hold no code for this GPU?"""
    if event.event == "cuda-no-kernel-image":
        return _BAD_TOOLCHAIN not in event.text
    return event.event == "torch-arch-unsupported" or _cuda_words(event) in _NO_CODE


@derived
def is_peer_limit(event: Event, view: View) -> bool:
    """Are CUDA's peer mappings of a GPU used up (error 711)?"""
    return event.event == "cuda-peer-mapping-exhausted" or _cuda_words(event) == "peer mapping resources exhausted"


@derived
def is_port_taken(event: Event, view: View) -> bool:
    """Is the TCP port of the rendezvous in use?

    From 2.24 on NCCL prints the same words when the port of its RAS service is taken, which harms nobody
    (src/ras/ras.cc): those count only before.
    """
    if event.event == "c10d-port-in-use":
        return True
    version = view.version(event)
    before = version is not None and version.less(_RAS_SINCE)
    return event.event == "bind-failed" and event.fields.get("error") == "Address already in use" and bool(before)


@derived
def is_port_forbidden(event: Event, view: View) -> bool:
    """May the process not bind the TCP port (errno 13)?"""
    if event.event == "c10d-port-not-permitted":
        return True
    return event.event == "bind-failed" and event.fields.get("error") == "Permission denied"


@derived
def is_fatal_sxid(event: Event, view: View) -> bool:
    """An SXid of an NVSwitch that its line does not call non-fatal."""
    return event.event == "nvswitch-sxid" and not str(event.fields.get("detail", "")).lower().startswith("non-fatal")


@derived
def is_fatal_async(event: Event, view: View) -> bool:
    """An asynchronous verbs event after which the device, queue pair or queue is lost.

    Up to 2.22 one line served for all events (``Got async event``): what ports recover from is left out.
    """
    if event.event != "ib-async-event":
        return False
    if _FATAL[0] in event.text:
        return True
    return _FATAL[1] in event.text and event.fields.get("what") not in _RECOVERS


@derived
def is_stranger(event: Event, view: View) -> bool:
    """A message of something that is no peer: of the wrong size, kind or sign (kinds: src/include/socket.h)."""
    if event.event == "socket-wrong-type":
        return {event.fields.get("peer_type"), event.fields.get("expected_type")} != {3, 4}
    return event.event in {"message-truncated", "socket-wrong-magic"}
