"""How busy the GPUs are, by NVML: load, use of the memory and power of several samples, in nvidia-smi's words.

A GPU whose collective waits shows a load of 100% with hardly any use of its memory, one whose rank has not entered
shows none. Between two steps of a job that makes progress a single sample shows that too: the largest values count.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any

SAMPLES, APART = 3, 0.4
"""The number of samples, and the seconds between two of them. NVML measures the load over 1/6 s to 1 s."""
_HEAD = "index, utilization.gpu [%], utilization.memory [%], power.draw [W], power.limit [W], memory.used [MiB]"
_LIMIT = 5.0
"""Seconds after which NVML has not answered: a call on a GPU that is gone may never return."""
Value = float | int | None
Row = tuple[Value, ...]


def use(sleep: Callable[[float], object] = time.sleep) -> str:
    """The largest values of each GPU as ``nvidia-smi --query-gpu --format=csv`` prints them; empty without NVML.

    A GPU that does not answer has no line, a value that it does not support is ``[N/A]``. Empty also if NVML does not
    answer within `_LIMIT`.
    """
    answers: list[str] = []
    asking = threading.Thread(target=lambda: answers.append(_use(sleep)), daemon=True)
    asking.start()
    asking.join(_LIMIT)
    return answers[0] if answers else ""


def _use(sleep: Callable[[float], object]) -> str:
    try:
        import pynvml
    except ImportError:
        return ""
    try:
        pynvml.nvmlInit()
    except (pynvml.NVMLError, OSError):
        return ""
    try:
        rows = _largest(pynvml, sleep)
    except (pynvml.NVMLError, OSError):
        return ""
    finally:
        with contextlib.suppress(pynvml.NVMLError):
            pynvml.nvmlShutdown()
    lines = [_line(index, row) for index, row in sorted(rows.items()) if any(value is not None for value in row)]
    return "\n".join([_HEAD, *lines, ""]) if lines else ""


def _largest(nvml: Any, sleep: Callable[[float], object]) -> dict[int, Row]:  # noqa: ANN401  (a module without types)
    found: dict[int, Row] = {}
    for sample in range(SAMPLES):
        if sample:
            sleep(APART)
        for index in range(nvml.nvmlDeviceGetCount()):
            new = _sample(nvml, index)
            old = found.get(index, (None,) * len(new))
            found[index] = tuple(
                max((value for value in pair if value is not None), default=None) for pair in zip(old, new, strict=True)
            )
    return found


def _sample(nvml: Any, index: int) -> Row:  # noqa: ANN401
    """Load and use of the memory in percent, power and its limit in W, memory in use in MiB."""

    def ask(name: str) -> Any:  # noqa: ANN401
        try:
            return getattr(nvml, name)(nvml.nvmlDeviceGetHandleByIndex(index))
        except (nvml.NVMLError, AttributeError, OSError):
            return None

    load, memory = ask("nvmlDeviceGetUtilizationRates"), ask("nvmlDeviceGetMemoryInfo")
    power, limit = ask("nvmlDeviceGetPowerUsage"), ask("nvmlDeviceGetEnforcedPowerLimit")
    return (
        load.gpu if load else None, load.memory if load else None,
        power / 1000 if power is not None else None, limit / 1000 if limit is not None else None,
        memory.used >> 20 if memory else None,
    )  # fmt: skip


def _line(index: int, row: Row) -> str:
    units = ("%", "%", "W", "W", "MiB")
    cells = (
        "[N/A]" if value is None else f"{value:.2f} {unit}" if unit == "W" else f"{value} {unit}"
        for value, unit in zip(row, units, strict=True)
    )
    return ", ".join([str(index), *cells])
