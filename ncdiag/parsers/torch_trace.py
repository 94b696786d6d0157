"""The sums of a trace of PyTorch's profiler: the times of a step, of its data, of NCCL's kernels and of all kernels.

`ncdiag.text.sources.traces` makes this line from a trace. Times are in milliseconds.
"""

from __future__ import annotations

import re

from ncdiag.parsers._rows import BLANK, Reading, Row, Rows

KIND = "torch_trace"
COMMANDS: tuple[str, ...] = ()
ANCHOR = r"\{\"torch_trace\": \{"
_TIME = r"\d{1,12}(?:\.\d{1,3})?"
_TOOL = "a trace of PyTorch's profiler"


class _Sums(Reading):
    """The parts of one mean step, or of the whole trace where no steps are marked."""

    def sums(self, found: re.Match[str]) -> None:
        """``{"torch_trace": {"rank": 3, "steps": 5, "step": 4100.2, ...}}``."""
        rank = int(found["rank"]) if found["rank"] != "null" else None
        times = {name: float(found[name]) for name in ("step", "data", "communication", "kernels")}
        steps = int(found["steps"])
        for part, sort, name, whole in (
            ("a step", "other", "step", None),
            ("the data", "data", "data", "step"),
            ("the kernels of NCCL", "communication", "communication", "kernels"),
        ):
            if times[name]:
                of = times[whole] / (steps or 1) if whole else None
                self.observe(
                    "StepPart", tool=_TOOL, part=part, sort=sort, value=times[name] / (steps or 1), unit="ms",
                    rank=rank, whole=of or None,
                )  # fmt: skip


ROWS = Rows(
    _Sums,
    Row(
        rf"{ANCHOR}\"rank\": (?P<rank>\d{{1,7}}|null), \"steps\": (?P<steps>\d{{1,9}}), \"step\": (?P<step>{_TIME})"
        rf", \"data\": (?P<data>{_TIME}), \"communication\": (?P<communication>{_TIME})"
        rf", \"kernels\": (?P<kernels>{_TIME})\}}\}}\s*$",
        _Sums.sums,
    ),
    BLANK,
)
