"""Metrics of DCGM in Prometheus' text format, as dcgm-exporter serves them: a line for each metric and GPU.

Source of the format: NVIDIA/dcgm-exporter, etc/default-counters.csv and internal/pkg/rendermetrics: ``# HELP`` and
``# TYPE``, then ``DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-...",...,Hostname="n1"} 100``.
"""

from __future__ import annotations

import re
from typing import Any

from ncdiag.formats.prometheus import LABELS, labels
from ncdiag.parsers._rows import BLANK, ELISION, Reading, Row, Rows

KIND = "dcgm_exporter"
COMMANDS: tuple[str, ...] = ()
ANCHOR = r"(?:# (?:HELP|TYPE) )?DCGM_FI_[A-Z][A-Z_0-9]{2,60}[ {]"
_FIELDS = {
    "DCGM_FI_DEV_GPU_UTIL": ("load_percent", 1), "DCGM_FI_PROF_GR_ENGINE_ACTIVE": ("load_percent", 100),
    "DCGM_FI_DEV_MEM_COPY_UTIL": ("memory_activity_percent", 1),
    "DCGM_FI_PROF_DRAM_ACTIVE": ("memory_activity_percent", 100),
    "DCGM_FI_DEV_POWER_USAGE": ("power_watts", 1), "DCGM_FI_DEV_POWER_MGMT_LIMIT": ("power_limit_watts", 1),
    "DCGM_FI_DEV_FB_USED": ("memory_used_mib", 1), "DCGM_FI_DEV_SM_CLOCK": ("sm_clock_mhz", 1),
}  # fmt: skip
"""Field of a Gpu and the factor to its unit, by the metric; those of PROF are shares from 0 to 1."""


class _Metrics(Reading):
    """The values of GPUs, each on the host that its labels name."""

    def metric(self, found: re.Match[str]) -> bool:
        """One value; a line without a number of a GPU is not read, a metric that no field holds says nothing."""
        given = labels(found["labels"])
        number = given.get("gpu", "")
        if not number.isdecimal():
            return False
        if "GPU_I_ID" in given or found["name"] not in _FIELDS:
            return True
        field, factor = _FIELDS[found["name"]]
        values: dict[str, Any] = {
            field: round(float(found["value"]) * factor),
            "model": given.get("modelName") or None,
        }
        self.observe("Gpu", (int(number),), host=given.get("Hostname") or None, **values)
        return True


ROWS = Rows(
    _Metrics,
    Row(r"# (?:HELP|TYPE) DCGM_FI_"),
    Row(
        r"(?P<name>DCGM_FI_[A-Z_0-9]{3,60})\{(?P<labels>" + LABELS + r")\} "
        r"(?P<value>\d{1,15}(?:\.\d{1,15})?)(?: \d{10,14})?\s*$",
        _Metrics.metric,
    ),
    BLANK,
    ELISION,
)
