"""Metrics of xpu_timer in Prometheus' text format: which ranks have a kernel that does not end.

Source of the format: DLRover, xpu_timer/README.md (``curl 127.0.0.1:18889/metrics``): ``# TYPE``, then
``XPU_TIMER_COMMON_HANG{ip="10.0.0.4",job_name="j",local_rank="3",pod_name="p-0",rank="3"} 1``. The value is 1 while a
matrix multiplication or an NCCL kernel of the rank runs for longer than XPU_TIMER_HANG_TIMEOUT, 300 seconds by default.
"""

from __future__ import annotations

import re

from ncdiag.formats.prometheus import LABELS, labels
from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows

KIND = "xpu_timer"
COMMANDS: tuple[str, ...] = ()
ANCHOR = r"(?:# (?:HELP|TYPE) )?XPU_TIMER_[A-Z][A-Z_0-9]{2,60}[ {]"
_UNSET = "NOT_SET"
"""What xpu_timer prints for a label that its environment does not give."""


class _Metrics(Reading):
    """A `KernelWatch` for each rank that the hang metric shows."""

    def hang(self, found: re.Match[str]) -> bool:
        """Whether a kernel of one rank is overdue; a line without a rank is not read."""
        given = labels(found["labels"])
        rank = given.get("rank", "")
        if not rank.isdecimal():
            return False
        pod = given.get("pod_name", _UNSET)
        host = pod if pod not in {"", _UNSET} else given.get("ip", _UNSET)
        self.observe(
            "KernelWatch", rank=int(rank), on_host=None if host in {"", _UNSET} else host, overdue=found["value"] != "0"
        )
        return True


ROWS = Rows(
    _Metrics,
    Row(r"XPU_TIMER_COMMON_HANG\{(?P<labels>" + LABELS + r")\} (?P<value>\d{1,6})(?:\.0)?\s*$", _Metrics.hang),
    Row(r"# (?:HELP|TYPE) (?:XPU_TIMER|exposer)_"),
    Row(r"(?:XPU_TIMER_(?!COMMON_HANG)[A-Z_0-9]{3,60}|exposer_[a-z_]{4,60})[ {]"),
    BLANK,
    ELISION,
)
