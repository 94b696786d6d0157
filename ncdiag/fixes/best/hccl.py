"""Sizes and time limits of HCCL."""

from __future__ import annotations

from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.fixes.values import Bindings, Value, best, bound


@best
def hccl_buffer_size(view: View, bindings: Bindings) -> Value:
    """HCCL_BUFFSIZE in MB: the largest size that an operator asks for in its message."""
    event = bound(bindings, Event)
    events = [event] if event is not None else [e for e in view.job.events if e.event == "hccl-buffer-too-small"]
    sizes = {size: each for each in events if isinstance(size := each.fields.get("needed_mb"), int)}
    if not sizes:
        return Value(reason="the size that the operator needs is not in the input", ask_for=("the plog of every rank",))
    most = max(sizes)
    found = sizes[most].provenance.get("")
    return Value(text=str(most), reason=f"the operator needs {most} MB", spans=(found,) if found else ())


@best
def longest_wait(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """A time limit longer than the part for which the other ranks wait, which only the program's author knows."""
    reason = "how long the slowest rank takes is not known"
    return Value(reason=reason, ask_for=("the plog of every rank",))
