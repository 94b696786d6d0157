"""Derived fields of events: which kind of failure a line tells of, whoever printed it.

The same CUDA error reaches a log as NCCL's ``Cuda failure 'words'``, as the exception of a framework or as the line of
a tool; the words are those of cudaGetErrorString (CUDA runtime API, cudaError_t).
"""

from __future__ import annotations

import re

from ncdiag.facts.model import Event, Job
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View, derived, derived_of

CODES = frozenset({
    "framework-nccl-error", "torch-nccl-error", "torch-result-system-error", "torch-result-cuda-error",
    "torch-result-internal-error", "torch-result-invalid-usage", "torch-result-invalid-argument",
    "torch-result-remote-error",
})  # fmt: skip
"""Events that tell a return code of NCCL and nothing else."""

_VAGUE = frozenset({"torch-last-error", "torch-operations-failed", "system-call-failed", "cuda-failure"})
_KNOWN_CUDA_FAILURES = (
    "is_kernel_fault", "is_cuda_unavailable", "is_old_driver", "is_driver_mismatch", "lacks_gpu_code", "is_peer_limit",
    "is_cuda_memory_failure", "is_nvls_failure", "is_shm_registration", "is_invalid_device", "is_gpu_refused",
    "is_peer_failure",
)  # fmt: skip
"""Which a rule each judges."""
_MISUSE = (
    "group-unbalanced", "group-blocking-mixed", "comm-in-progress", "comm-already-destroyed", "cuda-graph-mixed",
    "streams-mixed", "launch-threads-racing", "comm-revoked", "argument-null", "buffer-not-on-gpu", "count-invalid",
    "datatype-invalid", "reduction-op-invalid", "root-invalid",
)  # fmt: skip
_PEER_FAILURES = ("peer-access-failed", "cuda-ipc-failed", "cuda-peer-failed")
_PEER_FILE = "transport/p2p.cc"
_FAILURES = frozenset({"cause", "symptom"})
_SAYS_NOTHING = CODES | {"python-exception"}

_BAD_KERNEL = frozenset({
    "an illegal memory access was encountered", "unspecified launch failure", "misaligned address",
    "device-side assert triggered", "an illegal instruction was encountered",
})  # fmt: skip
_NO_GPU = (
    "cuda-no-device", "cuda-driver-unreachable", "container-no-gpu-runtime", "cuda-library-missing",
    "nvml-library-missing",
)  # fmt: skip
_NO_DEVICE = frozenset({
    "no CUDA-capable device is detected", "no ROCm-capable device is detected", "initialization error",
})  # fmt: skip
_OLD_DRIVER = frozenset({
    "CUDA driver version is insufficient for CUDA runtime version",
    "forward compatibility was attempted on non supported HW",
    "the provided PTX was compiled with an unsupported toolchain",
})  # fmt: skip
_NO_CODE = frozenset({"no kernel image is available for execution on the device", "named symbol not found"})
_MISMATCH = frozenset({"Driver/library version mismatch", "RM has detected an NVML/RM version mismatch."})
_BAD_TOOLCHAIN = "unsupported toolchain"
_FATAL_XIDS = frozenset({
    46, 48, 56, 57, 58, 62, 64, 65, 69, 73, 74, 79, 80, 81, 95, 119, 120, 140, 143, 149,
})  # fmt: skip
_NVLINK5_XIDS = frozenset(range(144, 151))
"""Errors of the NVLinks of Blackwell: each line says whether it is ``Fatal`` or ``Nonfatal``."""
_CALLED_FATAL = re.compile(r"(?<![Nn]on[- ])\bFatal\b")
_GSP_XIDS = frozenset({119, 120})
"""After which the driver prints its last calls as well (kernel_gsp.c, kgspLogRpcDebugInfo)."""
_TOO_MANY_PEERS = 711
"""cudaErrorTooManyPeers (CUDA runtime API, cudaError_t)."""
_RAS_SINCE = Version(2, 24)
_FATAL = ("async fatal event", "Got async event")
_RECOVERS = frozenset({
    "port error", "port active", "client reregistration", "SM change", "LID change", "P_Key change", "GID table change",
})  # fmt: skip


def _cuda_words(event: Event) -> object:
    return event.fields.get("cuda_error") if event.event == "cuda-failure" else None


@derived_of(*CODES)
def tells_code_only(event: Event, view: View) -> bool:
    """Is it a return code of NCCL without a reason?"""
    return True


@derived_of(*CODES, *_VAGUE)
def is_vague(event: Event, view: View) -> bool:
    """Does it tell that NCCL failed and nothing that a rule could judge: a code, or an error of no known kind?"""
    if event.event == "cuda-failure":
        return not any(view.get(event, field) for field in _KNOWN_CUDA_FAILURES)
    return True


@derived
def vague_text(event: Event, view: View) -> str:
    """A sentence about it."""
    if event.event in CODES:
        return "NCCL failed with a return code, which does not tell the reason"
    if event.event == "torch-operations-failed":
        return "PyTorch ended the process after a collective had failed or timed out; why stands above these lines"
    return f"NCCL failed, and no rule knows more of it: {event.text}"


@derived
def has_failed(job: Job, view: View) -> bool:
    """Does a message tell of a failure, whatever it is? Without one a job may still be slow or stand still."""
    return any(event.kind in _FAILURES for event in job.events)


@derived
def tells_no_code(job: Job, view: View) -> bool:
    """Is there no return code of NCCL?"""
    return not any(event.event in CODES for event in job.events)


@derived
def fails_without_reason(job: Job, view: View) -> bool:
    """Are return codes of NCCL all that the job tells of its failure?"""
    failures = [event for event in job.events if event.kind in _FAILURES]
    return any(e.event in CODES for e in failures) and all(e.event in _SAYS_NOTHING for e in failures)


@derived_of("cuda-illegal-access", "cuda-launch-failure", "cuda-failure")
def is_kernel_fault(event: Event, view: View) -> bool:
    """Did a kernel of the program fail: a CUDA error that sticks and that the next caller, often NCCL, gets to see?"""
    return event.event in {"cuda-illegal-access", "cuda-launch-failure"} or _cuda_words(event) in _BAD_KERNEL


@derived_of("nvml-init-failed", *_NO_GPU, "cuda-failure")
def is_cuda_unavailable(event: Event, view: View) -> bool:
    """Does CUDA or NVML not start at all, for another reason than two driver versions?"""
    if event.event == "nvml-init-failed":
        return event.fields.get("error") not in _MISMATCH
    return event.event in _NO_GPU or _cuda_words(event) in _NO_DEVICE


@derived_of("cuda-no-kernel-image", "cuda-driver-too-old", "cuda-failure")
def is_old_driver(event: Event, view: View) -> bool:
    """Is the driver older than what the program was built with?"""
    if event.event == "cuda-no-kernel-image":
        return _BAD_TOOLCHAIN in event.text
    return event.event == "cuda-driver-too-old" or _cuda_words(event) in _OLD_DRIVER


@derived_of("nvml-init-failed", "cuda-driver-mismatch", "gpu-driver-mismatch")
def is_driver_mismatch(event: Event, view: View) -> bool:
    """Are kernel module and library of the driver of different versions?"""
    if event.event == "nvml-init-failed":
        return event.fields.get("error") in _MISMATCH
    return event.event in {"cuda-driver-mismatch", "gpu-driver-mismatch"}


@derived_of("cuda-no-kernel-image", "torch-arch-unsupported", "cuda-failure")
def lacks_gpu_code(event: Event, view: View) -> bool:
    """Does the program or NCCL hold no code for this GPU?"""
    if event.event == "cuda-no-kernel-image":
        return _BAD_TOOLCHAIN not in event.text
    return event.event == "torch-arch-unsupported" or _cuda_words(event) in _NO_CODE


@derived_of("cuda-peer-mapping-exhausted", "peer-access-failed", "cuda-failure")
def is_peer_limit(event: Event, view: View) -> bool:
    """Are CUDA's peer mappings of a GPU used up (error 711)?"""
    if event.fields.get("cuda_code") == _TOO_MANY_PEERS:
        return True
    return event.event == "cuda-peer-mapping-exhausted" or _cuda_words(event) == "peer mapping resources exhausted"


@derived_of(*_PEER_FAILURES, "cuda-failure")
def is_peer_failure(event: Event, view: View) -> bool:
    """Could the memory of another GPU not be mapped: by the words of the line, or a CUDA call in NCCL's code for it?"""
    if event.event in _PEER_FAILURES:
        return True
    known = (view.get(event, field) for field in _KNOWN_CUDA_FAILURES if field != "is_peer_failure")
    return (event.file or "").endswith(_PEER_FILE) and not any(known)


@derived_of("c10d-port-in-use", "bind-failed")
def is_port_taken(event: Event, view: View) -> bool:
    """Is the TCP port of the rendezvous in use?

    From 2.24 on NCCL prints the same words when the port of its RAS service is taken, which harms nobody
    (src/ras/ras.cc): those count only before.
    """
    if event.event == "c10d-port-in-use":
        return True
    version = view.version(event)
    before = version is not None and version.less(_RAS_SINCE)
    return event.event == "bind-failed" and view.get(event, "reason") == "address-in-use" and bool(before)


@derived_of(*_MISUSE)
def is_misuse(event: Event, view: View) -> bool:
    """Does NCCL refuse what its caller passes or in which order it calls?"""
    return True


@derived_of("c10d-port-not-permitted", "bind-failed")
def is_port_forbidden(event: Event, view: View) -> bool:
    """May the process not bind the TCP port (errno 13)?"""
    if event.event == "c10d-port-not-permitted":
        return True
    return event.event == "bind-failed" and bool(view.get(event, "reason") == "denied")


@derived_of("gpu-xid", "gpu-gsp-history")
def is_fatal_gpu_failure(event: Event, view: View) -> bool:
    """Did the driver give up a GPU: an Xid after which it needs a reset, or a system processor that does not answer?"""
    if event.event == "gpu-xid":
        xid = event.fields.get("xid")
        return xid in _FATAL_XIDS or (xid in _NVLINK5_XIDS and _CALLED_FATAL.search(event.text) is not None)
    told = {e.fields.get("xid") for e in view.events_on(event.host, ["gpu-xid"])}
    return not told & _GSP_XIDS


@derived
def gpu_failure(event: Event, view: View) -> str:
    """A sentence about it."""
    where = f" on {event.host}" if event.host else ""
    if event.event == "gpu-gsp-history":
        which = f"GPU {event.fields['gpu']}" if "gpu" in event.fields else "a GPU"
        return f"The system processor (GSP) of {which}{where} does not answer the driver"
    return f"GPU {event.fields.get('pci')}{where} failed with Xid {event.fields.get('xid')}"


@derived_of("nvswitch-sxid")
def is_fatal_sxid(event: Event, view: View) -> bool:
    """An SXid of an NVSwitch that its line calls fatal; further lines of it hold its severity and registers.

    NVIDIA/open-gpu-kernel-modules 580, src/common/nvswitch/kernel/inc/error_nvswitch.h: ``Fatal, Link 08 ...``.
    """
    return str(event.fields.get("detail", "")).lower().startswith("fatal")


@derived_of("ib-async-event")
def is_fatal_async(event: Event, view: View) -> bool:
    """An asynchronous verbs event after which the device, queue pair or queue is lost.

    Up to 2.22 one line served for all events (``Got async event``): what ports recover from is left out.
    """
    if _FATAL[0] in event.text:
        return True
    return _FATAL[1] in event.text and event.fields.get("what") not in _RECOVERS


@derived_of("socket-wrong-type", "message-truncated", "bootstrap-message-truncated", "socket-wrong-magic")
def is_stranger(event: Event, view: View) -> bool:
    """A message of something that is no peer: of the wrong size, kind or sign (kinds: src/include/socket.h)."""
    if event.event == "socket-wrong-type":
        return {event.fields.get("peer_type"), event.fields.get("expected_type")} != {3, 4}
    return True
