"""Derived fields of settings, launches, differences and timeouts."""

from __future__ import annotations

from ncdiag.facts.model import Difference, Event, Launch, Timeout
from ncdiag.facts.view import View, derived, derived_of

_PASSES_ON_REQUEST = {"mpirun", "mpiexec", "orterun", "prterun"}
_FORWARDS_ALL = {"srun", "torchrun", "deepspeed", "docker", "python", "accelerate", "horovodrun"}


def values_left_behind(launch: Launch, view: View) -> dict[str, str]:
    """NCCL variables, with their values, that the launcher does not forward, of launchers that forward only what they.

    Are told: those set in front of the command, and those that what another host chose shows not to be set there.
    """
    if launch.program in _FORWARDS_ALL or view.get(launch, "is_container"):
        return {}
    values: dict[str, str] = dict(launch.prefix_env) if view.get(launch, "is_multi_host") else {}
    if launch.program in _PASSES_ON_REQUEST:
        values |= {s.name: s.text or "" for s in view.get(view.job, "unheeded_settings")}
    passed = {*launch.forwarded, *launch.env}
    return {name: values[name] for name in sorted(values) if name.startswith("NCCL_") and name not in passed}


@derived
def left_behind(launch: Launch, view: View) -> tuple[str, ...]:
    """The NCCL variables that the launcher does not pass on, by name."""
    return tuple(values_left_behind(launch, view))


@derived
def summary(difference: Difference, view: View) -> str:
    """``2.22.3 (ranks 0-7 on n1), 2.23.4 (ranks 8-15 on n2)``."""
    return ", ".join(f"{value} ({who})" for value, who in difference.groups.items())


@derived
def is_timeout(timeout: Timeout, view: View) -> bool:
    """A collective that ran longer than allowed.

    Other records only tell the state of a rank, unless PyTorch looks for the stack of a collective that failed and no
    code of NCCL tells why.
    """
    if timeout.ran_ms is not None or timeout.only_stack:
        return True
    sought = [event for event in view.job.events if event.event == "torch-flight-recorder-off"]
    return bool(sought) and bool(view.get(view.job, "tells_no_code"))


@derived_of("cuda-failure")
def is_nvls_failure(event: Event, view: View) -> bool:
    """A CUDA failure that NCCL reports from its NVLS code (src/transport/nvls.cc)."""
    return (event.file or "").endswith("nvls.cc")
