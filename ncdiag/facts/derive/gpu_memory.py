"""What a GPU keeps of its memory faults (`nvidia-smi -q`): errors, rows to be replaced, pages to be retired."""

from __future__ import annotations

from ncdiag.facts.model import Gpu
from ncdiag.facts.view import View, derived

_FIELDS = {
    "remapping_failed": "the replacement of a bad memory row failed",
    "remapping_pending": "bad memory rows wait for a reset to be replaced",
    "retirement_pending": "bad memory pages wait for a reset to be retired",
    "sram_threshold_exceeded": "its SRAM had more uncorrectable errors than NVIDIA tolerates",
}


@derived
def memory_fault(gpu: Gpu, view: View) -> str | None:
    """What is left to be done about its memory, in words; empty when nothing is. None when no output told."""
    told = {name: getattr(gpu, name) for name in _FIELDS}
    if all(value is None for value in told.values()):
        return None
    found = [name for name, value in told.items() if value]
    for name in found:
        view.note(gpu, name)
    return " and ".join(_FIELDS[name] for name in found)


@derived
def place(gpu: Gpu, view: View) -> str:
    """``GPU 0000:17:00.0 of n1``, by the bus id or the index, whichever is known."""
    return f"GPU {gpu.bus_id if gpu.bus_id is not None else gpu.index} of {gpu.host}"
