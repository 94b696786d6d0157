"""Programs that mix the sharded parameters of a model with plain tensors."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.tracebacks import events_above

_OPERATOR = lazy_regex(r"\w{1,40}\.(\w{1,60})\.\w{1,40}:? got mixed")
_UPDATES = "update-frame"
_LONGEST = 40
"""The number of lines between that frame and the exception."""
_USED = frozenset({"embedding", "mm", "addmm", "bmm", "linear", "matmul", "convolution", "index_select"})


@derived
def mixed_use(event: Event, view: View) -> str:
    """What a program did when it mixed sharded and plain tensors: ``load``, ``update``, ``use``; empty where unclear.

    The operator shows it. ``aten.copy_`` writes a whole weight into a part of it. Other operators that change their
    first argument (a name that ends in ``_``), or take lists of tensors, are those of optimizers and of clipping. A
    product or a look-up uses a weight outside the forward of its module. For the rest, the frames above show it.
    """
    found = _OPERATOR.search(event.text)
    name = found.group(1) if found else ""
    if name == "copy_":
        return "load"
    if name.startswith("_foreach_") or name.endswith("_"):
        return "update"
    if name in _USED:
        return "use"
    return "update" if _is_in_update(event, view) else ""


def _is_in_update(event: Event, view: View) -> bool:
    """Does the traceback of the line go through an optimizer or the clipping of gradients?"""
    frames = events_above(event, view, _UPDATES, _LONGEST)
    own = next((frame for frame in frames if frame.rank == event.rank), None)
    if own is not None:
        view.note(own)
    return own is not None
