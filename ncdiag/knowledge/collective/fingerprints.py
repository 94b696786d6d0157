"""Calls that PyTorch compared between ranks: its report of the first two that differ.

With TORCH_DISTRIBUTED_DEBUG=DETAIL each rank compares its call with those of the others (pytorch v2.4.0
torch/csrc/distributed/c10d/ProcessGroupWrapper.cpp, CollectiveFingerPrint).
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.view import View

_EVENT = "torch-collective-mismatch"
_PARTS = {
    name: lazy_regex(rf"\b{name}=(\[[\d, ]{{0,200}}\]|\w{{1,40}})")
    for name in ("OpType", "TensorShape", "TensorDtypes", "SequenceNumber")
}


@derived
def unlike_calls(event: Event, view: View) -> str:
    """The two calls, ``rank 3 calls ALLREDUCE, rank 0 BARRIER (collective 7)``; empty if the line lacks them."""
    if event.event != _EVENT:
        return ""
    calls = [str(event.fields.get(name) or "") for name in ("fingerprint", "peer_fingerprint")]
    operation, shape, kind, number = ([_part(name, call) for call in calls] for name in _PARTS)
    if not all(operation):
        return ""
    if operation[0] == operation[1]:
        differ = shape if shape[0] != shape[1] else kind
        operation = [f"{name} of {what}" if all(differ) else name for name, what in zip(operation, differ, strict=True)]
    ranks = [event.fields.get(name) for name in ("rank", "peer_rank")]
    at = f" (collective {number[0]})" if number[0] and number[0] == number[1] else ""
    return f"rank {ranks[0]} calls {operation[0]}, rank {ranks[1]} {operation[1]}{at}"


def _part(name: str, call: str) -> str:
    found = _PARTS[name].search(call)
    return found[1] if found else ""
