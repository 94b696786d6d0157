"""Inference engines: which one answers at the address that another announced, and who starts their processes."""

from __future__ import annotations

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Job, Launch
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import EACH_ON_ITS_HOST

_WRONG, _STARTED = "nixl-wrong-engine", "nixl-engine-started"
_DEGREE, _USES_RANKS = "engine-degree", "engine-uses-ranks"
_STARTERS = EACH_ON_ITS_HOST | {"deepspeed"}
_SEVERAL = 2


@derived_of(_WRONG)
def reaches_itself(event: Event, view: View) -> bool | None:
    """Did the engine that asked answer itself: did its own process announce the id that it received?

    None where no line says which process has the engine of that id.
    """
    received = str(event.fields.get("engine_id", "")).rstrip(".")
    started = [e for e in view.job.events if e.event == _STARTED and str(e.fields.get("engine_id")) == received]
    owners = {(e.host, e.pid) for e in started if e.pid is not None}
    return (event.host, event.pid) in owners if owners and event.pid is not None else None


@derived
def has_engine_in_each_rank(job: Job, view: View) -> bool:
    """Does a launcher start several ranks of a program in which each makes an engine that starts processes itself?"""
    launch = next((launch for launch in job.launches if _starts_several(launch)), None)
    degree = next(filter(_is_several, view.events_named(_DEGREE)), None)
    if launch is None or degree is None or view.events_named(_USES_RANKS):
        return False
    view.note(launch)
    view.note(degree)
    return True


def _starts_several(launch: Launch) -> bool:
    return launch.program in _STARTERS and (launch.nproc_per_node or launch.np or 0) >= _SEVERAL


def _is_several(event: Event) -> bool:
    degree = event.fields.get("parallel_size")
    return isinstance(degree, int) and degree >= _SEVERAL
