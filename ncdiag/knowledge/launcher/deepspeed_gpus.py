"""The GPUs that DeepSpeed's launcher takes, against those of CUDA_VISIBLE_DEVICES (deepspeed/launcher/runner.py).

Since 0.5.7 the launcher turns the list into ``--include localhost:2,3`` where none of its own options selects GPUs, and
ignores it otherwise; ``--num_gpus`` takes the first GPUs of the host. Up to 0.15.1 it compares the numbers of the list
with those of the GPUs that it sees, from 0.
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Launch
from ncdiag.facts.view import View

_VISIBLE = "CUDA_VISIBLE_DEVICES"
_UNSEEN, _TAKEN, _IGNORED = "deepspeed-slot-unseen", "deepspeed-devices-taken", "deepspeed-devices-ignored"
_NUMBERS = lazy_regex(r"\d{1,3}(?:,\d{1,3}){0,63}")
_INCLUDED = lazy_regex(r"localhost:\d{1,3}(?:,\d{1,3}){0,63}")


@derived
def include_of_visible(event: Event, view: View) -> str:
    """The value for ``--include``, ``localhost:2,3``, from the list of visible GPUs; empty if no list is shown."""
    if event.event != _UNSEEN:
        return ""
    for other in view.events_named(_TAKEN):
        included = str(other.fields.get("included", ""))
        if _INCLUDED.fullmatch(included):
            view.note(other)
            return included
    listed = next((found for launch in view.job.launches if (found := _listed(launch, view))), "") or _set_before(view)
    return f"localhost:{listed}" if listed else ""


@derived
def ignored_gpus(launch: Launch, view: View) -> str:
    """The visible GPUs that DeepSpeed does not take because of ``--num_gpus``, ``2,3``; empty where it takes these."""
    count = launch.nproc_per_node
    if launch.program != "deepspeed" or not count or launch.include or launch.exclude or launch.hostfile:
        return ""
    listed = _listed(launch, view) or _said(view) or _set_before(view)
    numbers = {int(each) for each in listed.split(",")} if listed else set()
    return listed if numbers and not numbers.issuperset(range(count)) else ""


@derived
def taken_gpus(launch: Launch, view: View) -> str:
    """The GPUs that ``--num_gpus`` takes: ``0-3``, or ``0``."""
    count = launch.nproc_per_node or 1
    return f"0-{count - 1}" if count > 1 else "0"


def _listed(launch: Launch, view: View) -> str:
    """The list that a command of DeepSpeed is started with."""
    value = launch.prefix_env.get(_VISIBLE) or launch.env.get(_VISIBLE, "")
    if launch.program != "deepspeed" or not _NUMBERS.fullmatch(value):
        return ""
    view.note(launch)
    return value


def _said(view: View) -> str:
    """The list that DeepSpeed says it ignores."""
    for event in view.events_named(_IGNORED):
        listed = str(event.fields.get("visible_list", ""))
        if _NUMBERS.fullmatch(listed):
            view.note(event)
            return listed
    return ""


def _set_before(view: View) -> str:
    """The list that the shell sets before the command."""
    for setting in view.job.settings:
        if setting.name == _VISIBLE and setting.origin in {"shell", "launcher"}:
            value = (setting.text or "").strip("\"' ")
            if _NUMBERS.fullmatch(value):
                view.note(setting)
                return value
    return ""
