"""Derived fields of settings, launches, differences and timeouts."""

from __future__ import annotations

from ncdiag.facts.model import Difference, Event, Job, Launch, Setting, Timeout
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View, derived

_FORWARDS_ALL = {"srun", "torchrun", "deepspeed", "docker", "python", "accelerate", "horovodrun"}


@derived
def p2p_is_disabled(setting: Setting, view: View) -> bool:
    """NCCL_P2P_DISABLE=1, which 2.7 to 2.22 echo as ``NCCL_P2P_LEVEL ... to LOC`` (src/graph/paths.cc)."""
    if setting.name == "NCCL_P2P_DISABLE":
        return setting.number == 1
    return setting.name == "NCCL_P2P_LEVEL" and setting.text in {"LOC", "0"}


@derived
def is_local_address(setting: Setting, view: View) -> bool:
    """Does the value name the own machine: localhost or a loopback address?"""
    text = (setting.text or "").strip()
    address = ip_address(text)
    return text == "localhost" or (address is not None and address.is_loopback)


@derived
def left_behind(launch: Launch, view: View) -> tuple[str, ...]:
    """NCCL variables set in front of the command that it does not forward, of launchers that forward only what they.

    Are told.
    """
    if launch.program in _FORWARDS_ALL or not view.get(launch, "is_multi_host"):
        return ()
    return tuple(
        sorted(n for n in launch.prefix_env if n.startswith("NCCL_") and n not in {*launch.forwarded, *launch.env})
    )


@derived
def leaves_variables_behind(launch: Launch, view: View) -> bool:
    """Are there such variables?"""
    return bool(view.get(launch, "left_behind"))


@derived
def unforwarded_names(launch: Launch, view: View) -> str:
    """Their names, for people."""
    return ", ".join(view.get(launch, "left_behind"))


@derived
def forwarding_example(launch: Launch, view: View) -> str:
    """The launch options that forward them, for Open MPI and for MPICH."""
    names = view.get(launch, "left_behind")
    open_mpi = " ".join(f"-x {name}" for name in names)
    mpich = " ".join(f"-genv {name} {launch.prefix_env[name]}" for name in names)
    return f"Open MPI: {launch.program} {open_mpi} ...   MPICH: {launch.program} {mpich} ..."


@derived
def summary(difference: Difference, view: View) -> str:
    """``2.22.3 (ranks 0-7 on n1), 2.23.4 (ranks 8-15 on n2)``."""
    return ", ".join(f"{value} ({who})" for value, who in difference.groups.items())


@derived
def is_timeout(timeout: Timeout, view: View) -> bool:
    """A collective that ran longer than allowed (other records only tell the state of a rank)."""
    return timeout.ran_ms is not None


@derived
def is_nvls_failure(event: Event, view: View) -> bool:
    """A CUDA failure that NCCL reports from its NVLS code (src/transport/nvls.cc)."""
    return event.event == "cuda-failure" and (event.file or "").endswith("nvls.cc")


@derived
def loads_topology(job: Job, view: View) -> bool | None:
    """Does a variable make NCCL load a topology or a graph from a file?"""
    found = [view.setting(job, name) for name in ("NCCL_TOPO_FILE", "NCCL_GRAPH_FILE")]
    if any(s is not None and s.is_set for s in found):
        return True
    return False if all(s is not None and s.is_set is False for s in found) else None
