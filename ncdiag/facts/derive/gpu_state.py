"""What the driver and DCGM say is wrong with a GPU or its place in the NVLink fabric.

Words of the fabric: NVML nvmlGpuFabricInfo_t (the status counts only once the state is ``Completed``); of the recovery
action: NVIDIA GPU memory error management, Error Recovery and Response Flags.
"""

from __future__ import annotations

from ncdiag.facts.model import HealthCheck
from ncdiag.facts.view import View, derived

DATA_TESTS = frozenset({"nvbandwidth", "simpleP2P"})


def noted_hit(check: HealthCheck, view: View, *, is_hit: bool) -> bool:
    """``is_hit``; a hit rests on the whole check."""
    if is_hit:
        view.note(check)
    return is_hit


@derived
def whose(check: HealthCheck, view: View) -> str:
    """``GPU 3 of n1``, ``NvSwitch 1 of n1``, or the host where the result is of all its GPUs."""
    if check.part:
        return f"{check.part} of {check.host}"
    numbers = ", ".join(map(str, check.gpus))
    return f"{'GPU' if len(check.gpus) == 1 else 'GPUs'} {numbers} of {check.host}" if numbers else check.host


@derived
def reason(check: HealthCheck, view: View) -> str:
    """``: GPU 3's NvLink link 7 is currently down``, or nothing."""
    return f": {check.message}" if check.message else ""
