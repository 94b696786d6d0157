"""Where the ranks of a job meet."""

from __future__ import annotations

from ncdiag.facts.view import View
from ncdiag.fixes import seen
from ncdiag.fixes.values import Bindings, Value, best


@best
def master_address(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The address of rank 0's host that other hosts can reach, for MASTER_ADDR (PyTorch, torchrun)."""
    first = next((rank for rank in view.job.ranks if rank.rank == 0), None)
    if first is None:
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
