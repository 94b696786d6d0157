"""The kernel summary of ``nsys stats``: how much of the GPU's time the kernels of NCCL take.

Source of the format: Nsight Systems 2021 to 2025, report ``cuda_gpu_kern_sum`` (``gpukernsum`` before 2023), as a table
and as CSV. Other summaries have another column after the total than ``Instances``, or ``Range`` in the place of
``Name``.
"""

from __future__ import annotations

import re

from ncdiag.formats.step_parts import communicates
from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows

KIND = "nsys_stats"
COMMANDS = ("nsys stats",)
ANCHOR = (
    r"[ ]{0,4}\*\* CUDA GPU Kernel Summary"
    r"|[ ]{0,4}Time ?\(%\)[ ,]{1,4}Total Time ?\(ns\)[ ,]{1,4}Instances(?=.*Name\s*$)"
)
_MOST = 100_000
_NUMBER = r"[\d.,]{1,20}"


class _Kernels(Reading):
    """The sum over the kernels that communicate, and over all."""

    communication = whole = 0.0
    first: int | None = None

    def kernel(self, found: re.Match[str]) -> None:
        """``   62.5   1,234,567,890   1000 ... ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)``."""
        total = float(found["total"].replace(",", "").replace(".", ""))
        self.whole += total
        if communicates(found["name"]):
            self.communication += total
            self.first = self.index if self.first is None else self.first

    def end(self) -> None:
        """One `StepPart` for all kernels of NCCL."""
        if self.first is not None:
            self.observe(
                "StepPart", at=self.first, tool="Nsight Systems", part="the kernels of NCCL", sort="communication",
                value=self.communication / 1e6, whole=self.whole / 1e6, unit="ms",
            )  # fmt: skip


ROWS = Rows(
    _Kernels,
    Row(ANCHOR),
    Row(r"[ ]{1,4}-{4,20}(?:[ ]{1,4}-{3,200}){3,12}\s*$"),
    Row(
        rf"[ ]{{0,8}}{_NUMBER}[ ]{{1,20}}(?P<total>\d[\d,.]{{0,19}})[ ]{{1,20}}{_NUMBER}"
        rf"(?:[ ]{{1,20}}{_NUMBER}){{2,12}}"
        r"[ ]{1,8}(?P<name>[A-Za-z_]\S{0,400}.{0,2000})$",
        _Kernels.kernel,
    ),
    Row(
        r"[\d.]{1,6},(?P<total>\d{1,18}),\d{1,12}(?:,[\d.]{1,20}){3,6},\"?(?P<name>[A-Za-z_].{0,2000})$",
        _Kernels.kernel,
    ),
    BLANK,
    ELISION,
    most=_MOST,
)
