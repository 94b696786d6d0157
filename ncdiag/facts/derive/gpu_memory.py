"""What a GPU keeps of its memory faults (`nvidia-smi -q`): errors, rows to be replaced, pages to be retired."""

from __future__ import annotations

from ncdiag.facts.model import Gpu
from ncdiag.facts.view import View, derived


@derived
def place(gpu: Gpu, view: View) -> str:
    """``GPU 0000:17:00.0 of n1``, by the bus id or the index, whichever is known."""
    return f"GPU {gpu.bus_id if gpu.bus_id is not None else gpu.index} of {gpu.host}"
