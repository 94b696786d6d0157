"""Which error of CUDA or HIP a line reports, independent of the program and of the wording."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.messages.vocabulary.phases import traced_files
from ncdiag.messages.vocabulary.reasons import error_name, reason
from ncdiag.messages.vocabulary.xids import BY_PLUGIN, is_contained_by_plugin, is_memory_xid, is_unfit, memory_xids

PRINTED = ("cuda-failure", "program-cuda-failure", "cuda-alloc-failed")
"""Events of a failed CUDA call whose error decides what is wrong."""
_OUT_OF_MEMORY = ("cuda-out-of-memory", "cuda-memory-exhausted")
_BAD_KERNEL = frozenset({
    "cudaErrorIllegalAddress", "cudaErrorLaunchFailure", "cudaErrorPriorLaunchFailure", "cudaErrorMisalignedAddress",
    "cudaErrorAssert", "cudaErrorIllegalInstruction", "cudaErrorInvalidAddressSpace", "cudaErrorInvalidPc",
    "cudaErrorHardwareStackError", "cudaErrorLaunchTimeout", "cudaErrorSynchronizationError",
    "cudaErrorTensorMemoryLeak",
})  # fmt: skip
_NO_GPU = (
    "cuda-no-device", "cuda-driver-unreachable", "gpu-driver-absent", "container-toolkit-missing",
    "container-gpu-setup-failed", "container-gpu-unknown",
    "cuda-library-missing", "nvml-library-missing",
)  # fmt: skip
_NO_DEVICE = frozenset({
    "cudaErrorNoDevice", "cudaErrorInitializationError", "cudaErrorStubLibrary", "cudaErrorDeviceNotLicensed",
    "cudaErrorSoftwareValidityNotEstablished", "cudaErrorStartupFailure",
})  # fmt: skip
_OLD_DRIVER = frozenset({
    "cudaErrorInsufficientDriver", "cudaErrorCompatNotSupportedOnDevice", "cudaErrorUnsupportedPtxVersion",
    "cudaErrorCallRequiresNewerDriver",
})  # fmt: skip
_NO_CODE = frozenset({
    "cudaErrorNoKernelImageForDevice", "cudaErrorSymbolNotFound", "cudaErrorInvalidDeviceFunction",
    "cudaErrorInvalidKernelImage", "cudaErrorInvalidSource", "cudaErrorInvalidPtx", "cudaErrorJitCompilerNotFound",
    "cudaErrorJitCompilationDisabled", "cudaErrorUnsupportedDevSideSync",
})  # fmt: skip
_HELD = frozenset({"cudaErrorDevicesUnavailable", "cudaErrorDeviceAlreadyInUse"})
_UNMAPPED = frozenset({"cudaErrorPeerAccessUnsupported", "cudaErrorPeerAccessNotEnabled"})
_MISMATCH = frozenset({"Driver/library version mismatch", "RM has detected an NVML/RM version mismatch."})
_BAD_TOOLCHAIN = "unsupported toolchain"
_PEER_FAILURES = ("peer-access-failed", "cuda-ipc-failed", "cuda-peer-failed", "mpi-cuda-ipc-failed")
_NO_HANDLE = lazy_regex(r"\b(?:CUBLAS|CUDNN|CUSOLVER|CUSPARSE|HIPBLAS)_STATUS_NOT_INITIALIZED\b")
_PEER_FILE = "transport/p2p.cc"
_SAID = lazy_regex(
    r"(?i)(?:cuda|hip)[ \w]{0,20} ?(?:error|failure)|(?:cuda|hip)Error|CUDA_ERROR_|gpuassert|triton error"
    r"|\b[A-Z]\w{2,60}Error:|returned \d|^-> |^test failure|\(error code "
)
"""The beginning of a line in which a program prints a CUDA error; the error's words alone may be prose."""


@derived
def cuda_error(event: Event, view: View) -> str:
    """The name of the error in the runtime (``cudaErrorNoDevice``); empty if the line names none."""
    name = error_name(event, view) if event.event in PRINTED else None
    return name if name and name.startswith("cuda") else ""


def _is(event: Event, view: View, *names: str) -> bool:
    return event.event in PRINTED and cuda_error(event, view) in names


@derived_of("cuda-failure")
def is_known_cuda_failure(event: Event, view: View) -> bool:
    """Is a rule about this CUDA error, or about the NCCL code in which it occurred?"""
    return any(known(event, view) for known in (*_KNOWN, is_peer_failure)) or bool(cuda_class(event, view))


_MISUSES = frozenset({
    "mps-failed", "capture-misused", "launch-config", "context-gone", "unnamed", "device-failed",
})  # fmt: skip
"""Reasons that explain the failure wherever the call is made."""
_CALLS = frozenset({
    "exists", "bad-address", "invalid-argument", "unsupported", "denied", "not-found", "timed-out", "again",
})  # fmt: skip
"""Reasons that say little about the fault: the place of the call in NCCL says more."""


@derived
def cuda_class(event: Event, view: View) -> str:
    """The kind of error, as the group that `reason` returns; empty where another rule covers the error."""
    found = (reason(event, view) or "") if cuda_error(event, view) else ""
    if found not in _MISUSES | _CALLS or any(known(event, view) for known in _KNOWN):
        return ""
    return found if found in _MISUSES or not is_peer_failure(event, view) else ""


_KERNEL_FAULTS = ("cuda-illegal-access", "cuda-launch-failure", "amdgpu-page-fault", "amdgpu-kernel-fault")


@derived_of(*_KERNEL_FAULTS, *PRINTED)
def is_kernel_fault(event: Event, view: View) -> bool:
    """Did a kernel of the program fail, with a sticky CUDA error that the next caller, often NCCL, reports?"""
    return event.event in _KERNEL_FAULTS or _is(event, view, *_BAD_KERNEL)


UNAVAILABLE = ("nvml-init-failed", *_NO_GPU, *PRINTED)
"""Events that may report that CUDA or NVML does not start."""


@derived_of(*UNAVAILABLE)
def is_cuda_unavailable(event: Event, view: View) -> bool:
    """Does CUDA or NVML not start at all, for another reason than mismatched driver versions?"""
    if event.event == "nvml-init-failed":
        return event.fields.get("error") not in _MISMATCH
    return event.event in _NO_GPU or _is(event, view, *_NO_DEVICE)


@derived_of("cuda-no-kernel-image", "cuda-driver-too-old", "container-compat-unavailable", *PRINTED)
def is_old_driver(event: Event, view: View) -> bool:
    """Is the driver older than the CUDA release that the program was built with?"""
    if event.event == "container-compat-unavailable":  # the container runs nevertheless, unless it also says this
        return any("CUDA failed to initialize" in e.text for e in view.events_on(event.host, ["program-error"]))
    if event.event == "cuda-no-kernel-image":
        return _BAD_TOOLCHAIN in event.text
    return event.event == "cuda-driver-too-old" or _is(event, view, *_OLD_DRIVER)


@derived_of("nvml-init-failed", "cuda-driver-mismatch", "gpu-driver-mismatch", *PRINTED)
def is_driver_mismatch(event: Event, view: View) -> bool:
    """Do the kernel module and the library of the driver have different versions?"""
    if event.event == "nvml-init-failed":
        return event.fields.get("error") in _MISMATCH
    known = {"cuda-driver-mismatch", "gpu-driver-mismatch"}
    return event.event in known or _is(event, view, "cudaErrorSystemDriverMismatch")


@derived_of("cuda-no-kernel-image", "torch-arch-unsupported", *PRINTED)
def lacks_gpu_code(event: Event, view: View) -> bool:
    """Does the program or NCCL contain no code for this GPU?"""
    if event.event == "cuda-no-kernel-image":
        return _BAD_TOOLCHAIN not in event.text
    return event.event == "torch-arch-unsupported" or _is(event, view, *_NO_CODE)


@derived_of("cuda-peer-mapping-exhausted", "peer-access-failed", *PRINTED)
def is_peer_limit(event: Event, view: View) -> bool:
    """Are the peer mappings of a GPU in CUDA exhausted (error 711)?"""
    if event.event == "peer-access-failed":
        return error_name(event, view) == "cudaErrorTooManyPeers"
    return event.event == "cuda-peer-mapping-exhausted" or _is(event, view, "cudaErrorTooManyPeers")


@derived_of(*_PEER_FAILURES, "cuda-peer-unsupported", *PRINTED)
def is_peer_failure(event: Event, view: View) -> bool:
    """Could the memory of another GPU not be mapped: by the words of the line, or a CUDA call in NCCL's code for it?"""
    if event.event == "cuda-peer-unsupported":
        return is_said(event)
    if event.event in _PEER_FAILURES or _is(event, view, *_UNMAPPED):
        return not is_cumem_host_failure(event, view)
    here = event.event == "cuda-failure" and (event.file or "").endswith(_PEER_FILE)
    return here and not any(known(event, view) for known in _KNOWN) and reason(event, view) not in _MISUSES


@derived_of(*PRINTED)
def is_cuda_memory_failure(event: Event, view: View) -> bool | None:
    """Did a CUDA call fail because the GPU is out of memory, as opposed to a call that maps host memory?

    None for a call that pins host memory, if the memory of no GPU is shown. The handle of a library of mathematics
    needs memory as well: on a GPU that is shown as full, "not initialized" is a lack of it.
    """
    if event.event in PRINTED and _NO_HANDLE.search(event.text):
        return view.remembered(("GPU memory used up",), lambda: _is_gpu_full(view))
    if not _is(event, view, "cudaErrorMemoryAllocation") or is_cumem_host_failure(event, view):
        return False
    return not _pins(event) or view.remembered(("GPU memory used up",), lambda: _is_gpu_full(view))


@derived_of("cuda-invalid-device", "cuda-device-invalid", *PRINTED)
def is_invalid_device(event: Event, view: View) -> bool:
    """Did a rank select a GPU that it does not have?"""
    told = event.event not in PRINTED or _is(event, view, "cudaErrorInvalidDevice")
    return told and not is_cumem_host_failure(event, view)


REFUSED = ("cuda-device-busy", *PRINTED)
"""Events that may report that another process holds a GPU, or that it cannot be used as a whole."""


@derived_of(*REFUSED)
def is_gpu_refused(event: Event, view: View) -> bool:
    """Did a CUDA call fail because another process uses the GPU exclusively?"""
    return is_said(event) if event.event not in PRINTED else _is(event, view, *_HELD)


def is_said(event: Event) -> bool:
    """Did a program print the words of a CUDA error as an error, as opposed to a person in prose?"""
    span = event.provenance.get("")
    return span is not None and _SAID.search(span.text or "") is not None


@derived_of("cuda-fabric-not-ready", *PRINTED)
def is_fabric_wait(event: Event, view: View) -> bool:
    """Does CUDA wait for the NVSwitches to be set up (error 802)?"""
    return event.event == "cuda-fabric-not-ready" or _is(event, view, "cudaErrorSystemNotReady")


@derived_of("cuda-nvlink-error", *PRINTED)
def is_nvlink_error(event: Event, view: View) -> bool:
    """Did a transfer over NVLink fail for good (errors 220 and 226)?"""
    return event.event == "cuda-nvlink-error" or _is(event, view, "cudaErrorNvlinkUncorrectable", "cudaErrorContained")


_SHM_FILES = ("shmutils.cc", "os/linux.cc", "include/shm.h")


@derived_of("cuda-failure")
def is_shm_registration(event: Event, view: View) -> bool:
    """Did CUDA fail in the code that maps shared memory (src/misc/shmutils.cc, later src/os/linux.cc)?

    False for errors that CUDA merely repeats: lack of memory that other calls report too, or an earlier kernel failure.
    """
    if not (event.file or "").endswith(_SHM_FILES):
        return False
    return not is_kernel_fault(event, view) and not is_cuda_memory_failure(event, view)


_FULL = 0.95
_PINS = lazy_regex(
    r"pin_memory|cu(?:da)?HostAlloc|cu(?:da)?(?:Mem)?HostRegister|cudaMallocHost|cuMemHostAlloc|hipHost\w+"
)
"""Calls that pin host memory: their "out of memory" is not about the memory of the GPU."""


def _is_gpu_full(view: View) -> bool | None:
    """Does another call lack memory of a GPU, or does nvidia-smi show one that is full? None if neither is shown."""
    if any(
        other.event in _OUT_OF_MEMORY or (_is(other, view, "cudaErrorMemoryAllocation") and not _pins(other))
        for other in view.job.events
    ):
        return True
    used = [
        gpu.memory_used_mib / gpu.memory_mib
        for host in view.job.hosts for gpu in host.gpus if gpu.memory_mib and gpu.memory_used_mib is not None
    ]  # fmt: skip
    return max(used) >= _FULL if used else None


def _pins(event: Event) -> bool:
    """Does the failed call pin host memory? NCCL's code for segments in /dev/shm calls no other (shmutils.cc)."""
    span = event.provenance.get("")
    in_file = event.event == "cuda-failure" and (event.file or "").endswith(_SHM_FILES)
    return in_file or _PINS.search((span.text if span else None) or event.text) is not None


_SHM_TRANSPORT = "transport/shm.cc"
_ALLOCATOR = "include/alloc.h"


@derived_of("cuda-failure")
def is_cumem_host_failure(event: Event, view: View) -> bool:
    """Did cuMem fail to create, import or map host memory that ranks share (src/transport/shm.cc from 2.23 on)?

    NCCL prints the number of an error for driver calls only (CUCHECK, src/include/cudawrap.h), and its transport for
    shared memory makes no driver calls other than cuMem. An error of the GPU as a whole may be reported by any call.
    """
    file = event.file or ""
    if "cuda_code" not in event.fields or not file.endswith((_SHM_TRANSPORT, _ALLOCATOR)):
        return False
    if any(whole(event, view) for whole in _WHOLE_GPU):
        return False
    return file.endswith(_SHM_TRANSPORT) or _SHM_TRANSPORT in traced_files(view.job, view).get(
        (event.host, event.pid), ()
    )


@derived_of("gpu-xid", BY_PLUGIN, "cuda-memory-error", *PRINTED)
def is_memory_error(event: Event, view: View) -> bool:
    """Did the GPU report a memory error that it contained or repaired, and no Xid that its memory failed for good?"""
    if event.event in PRINTED:
        found = cuda_error(event, view) == "cudaErrorECCUncorrectable"
    elif event.event == BY_PLUGIN:
        found = is_contained_by_plugin(event) and not memory_xids(view)
    else:
        found = is_memory_xid(event) if event.event == "gpu-xid" else "ECC" in event.text
    return found and not any(is_unfit(each, view) for each in memory_xids(view))


@derived_of("cuda-failure")
def is_nvls_failure(event: Event, view: View) -> bool:
    """Did CUDA fail in NCCL's NVLS code (src/transport/nvls.cc)?"""
    return (event.file or "").endswith("nvls.cc")


_WHOLE_GPU = (
    is_kernel_fault, is_cuda_unavailable, is_old_driver, is_driver_mismatch, lacks_gpu_code, is_peer_limit,
    is_gpu_refused, is_fabric_wait, is_memory_error, is_nvlink_error,
)  # fmt: skip
"""Errors that mean the same wherever the call is made."""
_KNOWN = (
    *_WHOLE_GPU, is_cuda_memory_failure, is_nvls_failure, is_shm_registration, is_invalid_device, is_cumem_host_failure,
)  # fmt: skip
"""Functions for errors that a rule covers, except `is_peer_failure`."""
