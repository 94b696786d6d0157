"""Trackers of experiments (W&B) that keep a rank from its job: they ask on the terminal, or do not start."""

from __future__ import annotations

import re
from typing import Literal

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.knowledge.launcher.placement import is_under_launcher

_ASKS, _ANSWERED, _UNREADY = "tracker-asks", "tracker-answered", "tracker-unready"
_OPEN = r"(?:Enter your choice:|, or press ctrl\+c to quit:|and hit enter:)\s*$"
"""The end of a question to which no answer was typed; one with a time limit answers itself."""


@derived
def tracker_fault(event: Event, view: View) -> Literal["asks", "key", "server", ""]:
    """Why the tracker does not start: it ``asks`` in a job of several ranks, has no ``key``, or gets no ``server``."""
    if event.event not in {_ASKS, _UNREADY} or not is_open_failure(event, view):
        return ""
    if event.event == _UNREADY:
        return "key" if "api_key" in event.text else "server"
    asks = re.search(_OPEN, event.text) is not None and _is_waited_for(event, view)
    return "asks" if asks and not _is_answered(event, view) else ""


def _is_waited_for(event: Event, view: View) -> bool:
    """Is the process one of several, or is the job said to hang?"""
    return is_under_launcher(event, view) or any(complaint.what == "hangs" for complaint in view.job.complaints)


def _is_answered(event: Event, view: View) -> bool:
    last = view.remembered(("last answer to a tracker",), lambda: _last_answer(view))
    return last > event.order


def _last_answer(view: View) -> int:
    return max((event.order for event in view.events_named(_ANSWERED)), default=-1)
