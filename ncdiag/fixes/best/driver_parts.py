"""The parts of NVIDIA's driver that a container should ask for."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.driver_parts import asked_parts, lacks_capability
from ncdiag.fixes.values import Bindings, Value, best, bound

_NAMES = lazy_regex(r"[a-z0-9]{2,12}(?:,[a-z0-9]{2,12}){0,8}")


@best
def driver_parts(view: View, bindings: Bindings) -> Value:
    """The parts that are asked for, and the one that is missing: ``compute,utility``."""
    event, setting = bound(bindings, Event), asked_parts(view)
    part = lacks_capability(event, view) if event is not None else None
    held = (setting.text or "").replace(" ", "") if setting is not None else ""
    if not part or not _NAMES.fullmatch(held):
        return Value(reason="the parts that the container asks for were not seen")
    return Value(text=f"{held},{part}", reason=f"what is set, and {part}")
