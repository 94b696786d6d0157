"""Models of FSDP that are gathered whole on the GPUs when they are saved."""

from __future__ import annotations

from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View

_GATHERED = "Failed to clone() tensor with name"


@derived_of("cuda-out-of-memory")
def is_state_gathered(event: Event, view: View) -> bool:
    """Did GPU memory run out while FSDP gathered the whole model to save it (torch/distributed/fsdp/_state_dict_utils.py)?

    It only warns, and the checkpoint then may have invalid weights: that the job goes on does not make it better.
    """
    return _GATHERED in event.text
