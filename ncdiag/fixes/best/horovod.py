"""The command that builds Horovod again, for the framework that the input shows.

Source: horovod docs/install.rst (HOROVOD_WITH_PYTORCH, HOROVOD_WITH_TENSORFLOW, HOROVOD_WITH_MXNET).
"""

from __future__ import annotations

from ncdiag.facts.view import View
from ncdiag.fixes.values import Bindings, Value, best

_NAMES = {"pytorch": "PYTORCH", "tensorflow": "TENSORFLOW", "keras": "TENSORFLOW", "mxnet": "MXNET"}


@best
def horovod_build(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The variable of the only framework that was named, or that reported its version."""
    named = {each.value for each in view.job.contexts if each.kind == "framework"}
    named |= {name for host in view.job.hosts for name in host.frameworks or ()}
    found = {_NAMES[name] for name in named if name in _NAMES}
    if len(found) != 1:
        return Value(reason="the framework of the program was not seen", ask_for=("horovodrun --check-build",))
    return Value(text=f"HOROVOD_WITH_{found.pop()}=1", reason="the framework that the input names")
