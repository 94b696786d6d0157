"""Engines whose measurement of GPU memory another process disturbs."""

from __future__ import annotations

from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure

_CHANGED = "engine-memory-changed"


@derived_of(_CHANGED)
def is_memory_released(event: Event, view: View) -> bool:
    """Did GPU memory become free while the engine measured what it needs, and did the engine end because of that?

    Two equal numbers show no other process: releases for some devices refuse these, too.
    """
    before, after = (event.fields.get(name) for name in ("memory_before", "memory_after"))
    if not isinstance(before, float) or not isinstance(after, float):
        return False
    grew = after < before if "used memory" in event.text else after > before
    return grew and is_open_failure(event, view)
