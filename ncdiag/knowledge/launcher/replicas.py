"""Failures of nn.DataParallel, by which one process drives all GPUs that it sees."""

from __future__ import annotations

import bisect
from typing import Literal

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.knowledge.launcher.placement import is_under_launcher

Fault = Literal["empty", "two-gpus", "outputs", ""]

_FAILED, _OUTPUTS, _TWO_GPUS = "data-parallel-replica-failed", "data-parallel-outputs-differ", "model-spread-over-gpus"
_NEAR = 60
"""Lines of the original traceback, which follows the exception that passes it on."""


@derived
def replica_fault(event: Event, view: View) -> Fault:
    """What nn.DataParallel itself causes: replicas that are ``empty``, tensors on ``two-gpus``, unequal ``outputs``.

    A replica's exception is often the model's own (an index, memory); only those count that the wrapper brings about.
    Since PyTorch 1.5 a replica has no parameters(): ``next(self.parameters())`` raises StopIteration. Empty under a
    launcher.
    """
    if event.event not in {_FAILED, _OUTPUTS} or not is_open_failure(event, view) or is_under_launcher(event, view):
        return ""
    if event.event == _OUTPUTS:
        return "outputs"
    if event.fields.get("replica_exception") == "StopIteration":
        return "empty"
    spread = view.remembered(("on two GPUs",), lambda: sorted(view.events_named(_TWO_GPUS), key=_order))
    at = bisect.bisect_right(spread, event.order, key=_order)
    if at == len(spread) or spread[at].order - event.order > _NEAR:
        return ""
    view.note(spread[at])
    return "two-gpus"


def _order(event: Event) -> int:
    return event.order
