"""GPUs that are held back: by a setting, or by something that only their clock shows."""

from __future__ import annotations

from statistics import median_high

from ncdiag.base.products import product_of
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Gpu, Host
from ncdiag.facts.view import View

_SLOW, _AT_WORK, _BUSY, _OTHERS = 0.75, 0.5, 90, 2
"""A GPU is slow below this share of the others' clock, and busy from this share of their power or this load (percent).

``_OTHERS`` is the number of GPUs that it takes to compare.
"""
_HARD = frozenset({"HW Slowdown", "HW Thermal Slowdown", "HW Power Brake Slowdown", "SW Thermal Slowdown"})
_CAPPED = 0.9
"""The share of its usual power limit below which a GPU is said to be capped."""


@derived
def is_held_down(gpu: Gpu, view: View) -> bool | None:
    """Does heat, power or the board limit the GPU's clocks? Its power limit under full load does not count."""
    return None if gpu.slowdowns is None else not _HARD.isdisjoint(gpu.slowdowns)


@derived
def is_capped(gpu: Gpu, view: View) -> bool | None:
    """Is its power limit lower than that of another GPU of its model in the job, or than its model's?

    None where its limit or its model is not known.
    """
    limit, model = gpu.power_limit_watts, gpu.model
    if limit is None or model is None:
        return None
    product = product_of(model)
    others = (other for host in view.job.hosts for other in host.gpus if other.model == model)
    usual = [other.power_limit_watts or 0 for other in others] + [(product and product.watts) or 0]
    view.note(gpu, "power_limit_watts")
    return limit < _CAPPED * max(usual)


@derived
def gpu_behind(host: Host, view: View) -> str | None:
    """A busy GPU whose clock is far lower than that of the others, for a reason that is not shown.

    ``GPU 5 at 615 MHz, the others at 1410``; empty if there is none. None if too few clocks are known, or they may be
    those of several models. An idle GPU, which draws little power, has a low clock and does not count.
    """
    return _slow_gpu(host, view, unthrottled=False)


@derived
def gpu_locked_low(host: Host, view: View) -> str | None:
    """The same for a GPU of which nvidia-smi shows that neither heat nor power holds its clock down.

    A power limit may be set low as well; not where the GPU draws as much as the others, and is slow nevertheless.
    """
    return _slow_gpu(host, view, unthrottled=True)


def _slow_gpu(host: Host, view: View, *, unthrottled: bool) -> str | None:
    known = [gpu for gpu in host.gpus if gpu.sm_clock_mhz is not None]
    named = {context.value for context in view.job.contexts if context.kind == "gpu-model"}
    if len(known) <= _OTHERS or (len(named) > 1 and any(gpu.model is None for gpu in known)):
        return None
    for gpu in known:
        others = [other for other in known if other is not gpu and other.model == gpu.model]
        usual = median_high(other.sm_clock_mhz or 0 for other in others) if len(others) >= _OTHERS else 0
        is_slow = (gpu.sm_clock_mhz or 0) < _SLOW * usual and _works(gpu, others)
        if is_slow and (is_held_down(gpu, view) is False and not _is_at_power(gpu, others)) is unthrottled:
            view.note(gpu, "sm_clock_mhz")
            return f"GPU {gpu.index} at {gpu.sm_clock_mhz} MHz, the others at {usual}"
    return ""


def _is_at_power(gpu: Gpu, others: list[Gpu]) -> bool:
    """Does the power limit hold the GPU down at a power that is usual for the others?"""
    usual = median_high(other.power_watts or 0 for other in others)
    return "SW Power Cap" in (gpu.slowdowns or ()) and (gpu.power_watts or 0) >= _CAPPED * usual > 0


def _works(gpu: Gpu, others: list[Gpu]) -> bool:
    """Is the GPU busy, by its load or, if that is not known, by its power compared with that of the others?"""
    if gpu.load_percent is not None:
        return gpu.load_percent >= _BUSY
    return (gpu.power_watts or 0) >= _AT_WORK * median_high(other.power_watts or 0 for other in others) > 0
