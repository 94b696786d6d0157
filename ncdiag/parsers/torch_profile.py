"""The table of PyTorch's profiler: how much of the GPU's time the kernels of NCCL take.

Source of the format: pytorch torch/autograd/profiler_util.py (``key_averages().table()``): a rule, the heading, a rule,
a row for each operator or kernel, a rule, and ``Self CUDA time total``. The time of a kernel is in the column
``Self CUDA``; operators that launch it have none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.step_parts import communicates
from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows

KIND = "torch_profile"
COMMANDS: tuple[str, ...] = ()
ANCHOR = r"[ ]{1,200}Name[ ]{2,8}Self CPU %[ ]{2,10}Self CPU[ ]"
_MOST = 10_000
_UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3}
_TIME = lazy_regex(r"(\d{1,12}(?:\.\d{1,6})?)(us|ms|s)$")
_SELF = ("Self CUDA", "Self XPU", "Self HIP")


class _Table(Reading):
    """The sum over the kernels that communicate, and the total of the last lines."""

    column: int | None = None
    names: tuple[str, ...] = ()
    communication = share = 0.0
    ended = False
    first: int | None = None

    def heading(self, found: re.Match[str]) -> None:
        """The names of the columns."""
        self.names = tuple(re.split(r" {2,}", found[0].strip()))
        self.column = next((at for at, name in enumerate(self.names) if name in _SELF), None)

    def row(self, found: re.Match[str]) -> bool:
        """``ncclDevKernel_AllReduce...   0.00%   0.000us ...``; False for a row with other columns than the heading."""
        cells = re.split(r" {2,}", found[0].strip())
        if len(cells) != len(self.names):
            return False
        if self.column is not None and communicates(cells[0]):
            self.communication += _milliseconds(cells[self.column])
            self.share += _percent(cells, self.names, self.column)
            self.first = self.index if self.first is None else self.first
        return True

    def total(self, found: re.Match[str]) -> None:
        """``Self CUDA time total: 2.218s`` ends the table: one `StepPart` for all kernels of NCCL."""
        self.ended = True
        self._part(_milliseconds(found["time"]))

    def end(self) -> None:
        """Of a table without its last lines, the shares in its rows give the total."""
        if not self.ended and self.share:
            self._part(self.communication / self.share)

    def _part(self, whole: float) -> None:
        if self.first is not None:
            self.observe(
                "StepPart", at=self.first, tool="PyTorch's profiler", part="the kernels of NCCL", sort="communication",
                value=self.communication, whole=round(whole, 3), unit="ms",
            )  # fmt: skip


def _percent(cells: Sequence[str], names: Sequence[str], column: int) -> float:
    """The share of a row in the time of the GPU, from 0 to 1; 0 where the table has no such column."""
    at = next((at for at, name in enumerate(names) if name == f"{names[column]} %"), None)
    cell = "" if at is None else cells[at].removesuffix("%")
    return float(cell) / 100 if cell.replace(".", "", 1).isdecimal() else 0.0


def _milliseconds(cell: str) -> float:
    found = _TIME.match(cell)
    return float(found[1]) * _UNITS[found[2]] if found else 0.0


ROWS = Rows(
    _Table,
    Row(r"[ ]{1,200}Name[ ]{2,8}Self CPU %.*$", _Table.heading),
    Row(r"[- ]{10,2000}\s*$"),
    Row(r"Self CPU time total: [\d.]{1,20}(?:us|ms|s)\s*$"),
    Row(r"Self (?:CUDA|XPU|HIP) time total: (?P<time>[\d.]{1,20}(?:us|ms|s))\s*$", _Table.total),
    Row(r"[ ]{0,200}\S.{0,300}?[ ]{2,20}[\d.]{1,8}%[ ]{2,20}[\d.]{1,20}(?:us|ms|s)[ ]{2,}.*$", _Table.row),
    BLANK,
    ELISION,
    most=_MOST,
)
