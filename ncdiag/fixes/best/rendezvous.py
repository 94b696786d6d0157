"""The rendezvous of the ranks: address and port."""

from __future__ import annotations

from ncdiag.facts.model import Event, Launch
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.usual import platform
from ncdiag.fixes.values import Bindings, Value, best, bound
from ncdiag.nccl.on_host import seen

_PORT = 29500
"""PyTorch's default port (torch/distributed/run.py)."""
_STEP = 17
_HIGHEST = 32_000
"""Below the ports that the kernel assigns automatically (net.ipv4.ip_local_port_range begins at 32768)."""

_SLURM = frozenset({"sbatch", "srun", "salloc"})
_FIRST_OF_SLURM = 'export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1) in the batch script'
"""Task 0 runs on the first host of the list unless the distribution is arbitrary (Slurm, srun --distribution)."""


@best
def other_port(view: View, bindings: Bindings) -> Value:
    """A port for MASTER_PORT other than the one that is taken."""
    event, setting = bound(bindings, Event), view.setting(view.job, "MASTER_PORT")
    told = str(event.fields.get("port") or event.fields.get("local_address") or "") if event is not None else ""
    text = told.rpartition(":")[2] or (setting.text if setting is not None else "") or ""
    taken = int(text) if text.isdecimal() and len(text) < len("65536") + 1 else _PORT
    port = taken + _STEP if taken + _STEP < _HIGHEST else _PORT + _STEP
    return Value(text=str(port), reason=f"a port other than {taken}", ask_for=("ss -ltn (on the host of rank 0)",))


@best
def master_address(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The address of rank 0's host that other hosts can reach, for MASTER_ADDR (PyTorch, torchrun)."""
    first = next((rank for rank in view.job.ranks if rank.rank == 0), None)
    if first is None:
        if any(launch.program in _SLURM for launch in view.job.launches) or "slurm" in platform(view.job, view):
            return Value(reason=f"under Slurm it is the first host of the job: {_FIRST_OF_SLURM}")
        return Value(reason="the host of rank 0 was not seen", ask_for=("NCCL_DEBUG=INFO output of rank 0",))
    held = seen.interfaces(first.host, view)
    for interface in held.interfaces:
        address = seen.address(interface, view)
        if address is not None and seen.suits(interface, view, held.interfaces):
            found = interface.provenance.get("addresses") or interface.provenance.get("")
            reason = f"the address of {interface.name} on {first.host}, the host of rank 0"
            return Value(text=address.ip, reason=reason, spans=(found,) if found else ())
    reason = f"no address of {first.host}, the host of rank 0, was seen that other hosts can reach"
    return Value(reason=reason, ask_for=(f"ip addr (on {first.host})",))


@best
def bare_master_address(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """MASTER_ADDR as it is set, without the brackets of a URL: ``fd00::1`` for ``[fd00::1]``."""
    setting = view.setting(view.job, "MASTER_ADDR")
    launches: list[Launch] = [one for one in view.job.launches if one.master_addr]
    text = (setting.text if setting is not None else None) or next((one.master_addr for one in launches), None) or ""
    bare = text.removeprefix("[").removesuffix("]")
    if bare == text or ip_address(bare) is None:
        return Value(reason="no address in brackets was seen", ask_for=("env (inside the job)",))
    return Value(text=bare, reason="the address that is set, without brackets")
