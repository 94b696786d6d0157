"""The options of PyTorch's allocator without expandable segments.

Source: pytorch c10/core/AllocatorConfig.cpp (``name:value`` with commas between, a later value counts).
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.view import View
from ncdiag.fixes.values import Bindings, Value, best

_NAMES = ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF")
_OPTION = lazy_regex(r"[a-z_]{1,60}:[A-Za-z0-9._]{1,40}")
_ASK = ("env | grep ALLOC_CONF (on each host)",)
_OFF = "expandable_segments:False"


@best
def whole_segments(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The value of the variable that is set, with its other options."""
    texts = {setting.text or "" for setting in view.job.settings if setting.name in _NAMES}
    if len(texts) > 1:
        return Value(reason="hosts have other options", ask_for=_ASK)
    held = [each.strip() for each in (texts.pop() if texts else "").split(",") if each.strip()]
    if not all(map(_OPTION.fullmatch, held)):
        return Value(reason="its other options were not understood", ask_for=_ASK)
    others = [each for each in held if not each.startswith("expandable_segments:")]
    reason = "the other options stay" if others else "no other option is set"
    asked = () if held else _ASK
    return Value(text=",".join([*others, _OFF]), reason=reason, ask_for=asked)
