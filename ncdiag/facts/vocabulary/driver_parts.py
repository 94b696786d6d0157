"""The parts of NVIDIA's driver that a container is given: which one is missing, and was not asked for.

Source: NVIDIA Container Toolkit, NVIDIA_DRIVER_CAPABILITIES: ``compute`` is CUDA, ``utility`` is NVML and nvidia-smi.
"""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Setting
from ncdiag.facts.view import View

VARIABLE = "NVIDIA_DRIVER_CAPABILITIES"
_LIBRARIES = {"libnvidia-ml": "utility", "libcuda.so": "compute", "libnvidia-ptxjit": "compute"}
_EVENTS = {"nvml-library-missing": "utility", "cuda-library-missing": "compute"}
_ALL = "all"


@derived
def lacks_capability(event: Event, view: View) -> str | None:
    """The part of the driver of which a library is missing, where the variable does not name it; empty: none.

    None if a library is missing and the variable was not seen.
    """
    part = _EVENTS.get(event.event, "")
    library = str(event.fields.get("library") or "")
    part = part or next((part for begin, part in _LIBRARIES.items() if library.startswith(begin)), "")
    setting = asked_parts(view) if part else None
    if part and setting is None:
        return None
    if setting is None or {part, _ALL} & set((setting.text or "").replace(" ", "").split(",")):
        return ""
    view.note(setting)
    return part


def asked_parts(view: View) -> Setting | None:
    """The variable, where one value of it is set."""
    found = [view.setting(place, VARIABLE) for place in (view.job, *view.job.hosts)]
    held = [each for each in found if each is not None and each.is_set and each.text]
    return held[0] if len({each.text for each in held}) == 1 else None
