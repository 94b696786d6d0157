"""GPUs in confidential computing mode, which take no work until somebody sets their ready state."""

from __future__ import annotations

from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View

_WAITING, _READY, _OFF = "gpu-confidential-not-ready", "gpu-confidential-ready", "gpu-confidential-off"


@derived_of(_WAITING)
def waits_for_ready_state(event: Event, view: View) -> bool:
    """Is the state that a host shows last not ready, in the mode in which that keeps CUDA from its GPUs?

    The state of another virtual machine does not count.
    """
    own = [e for e in view.events_on(event.host, (_OFF, _READY)) if e.host == event.host]
    return not any(e.event == _OFF or e.order > event.order for e in own)
