"""Derived fields of events: links that were lost, devices that a virtual machine hides, memory that CUDA refuses."""

from __future__ import annotations

from ncdiag.facts.model import Event
from ncdiag.facts.view import View, derived_of

_SHM_FILES = ("shmutils.cc", "os/linux.cc", "include/shm.h")


@derived_of("cuda-failure")
def is_shm_registration(event: Event, view: View) -> bool:
    """A CUDA failure in the code that maps shared memory (src/misc/shmutils.cc, later src/os/linux.cc).

    Not one that CUDA merely repeats: memory used up, or a kernel that failed before.
    """
    if not (event.file or "").endswith(_SHM_FILES):
        return False
    return not view.get(event, "is_kernel_fault") and not view.get(event, "is_cuda_memory_failure")
