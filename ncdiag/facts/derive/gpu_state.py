"""What the driver and DCGM say is wrong with a GPU or its place in the NVLink fabric.

Words of the fabric: NVML nvmlGpuFabricInfo_t (the status counts only once the state is ``Completed``); of the recovery
action: NVIDIA GPU memory error management, Error Recovery and Response Flags.
"""

from __future__ import annotations

from ncdiag.facts.model import Gpu, HealthCheck, Host
from ncdiag.facts.view import View, derived

_NO_ACTION = "None"
"""A GPU's ``Recovery Action`` where nothing is to be done."""
_SET_UP = frozenset({"persistence mode", "graphics processes", "environment variables", "permissions and os blocks"})
"""Tests of ``dcgmi diag`` that look at settings of the host, not at its hardware."""
DATA_TESTS = frozenset({"nvbandwidth", "simpleP2P"})


@derived
def needed_recovery(gpu: Gpu, view: View) -> str | None:
    """What the driver wants to be done: ``Reset``; empty for nothing, None when it was not asked."""
    if gpu.recovery_action is not None:
        view.note(gpu, "recovery_action")
        return "" if gpu.recovery_action == _NO_ACTION else gpu.recovery_action
    if gpu.reset_required is not None:
        view.note(gpu, "reset_required")
        return "Reset" if gpu.reset_required else ""
    return None


@derived
def is_unreadable(gpu: Gpu, view: View) -> bool:
    """True if nvidia-smi prints an error in place of its values."""
    if gpu.unreadable:
        view.note(gpu, "unreadable")
    return bool(gpu.unreadable)


@derived
def sees_no_gpu(host: Host, view: View) -> bool | None:
    """True if nvidia-smi finds no GPU at all."""
    if host.gpus_attached is None:
        return None
    view.note(host, "gpus_attached")
    return host.gpus_attached == 0


@derived
def is_hardware_failure(check: HealthCheck, view: View) -> bool:
    """True if a test of hardware failed; those that look at the host's settings, and at data, are left out."""
    is_of_hardware = check.program not in DATA_TESTS and check.name.lower() not in _SET_UP
    return noted_hit(check, view, is_hit=check.result == "fail" and is_of_hardware)


@derived
def is_warning(check: HealthCheck, view: View) -> bool:
    """True if a test warned, or one of the host's settings failed."""
    is_setting = check.result == "fail" and check.name.lower() in _SET_UP
    return noted_hit(check, view, is_hit=check.result == "warn" or is_setting)


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
