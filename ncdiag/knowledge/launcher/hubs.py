"""Files that programs fetch from a model hub at start: of which model, and whether the hub was to be asked at all."""

from __future__ import annotations

import re

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View

_FAILED, _AGAIN = "hub-unreachable", "hub-asked-again"
_MODEL = r"\.(?:co|com|cn)/(?:(?:datasets|spaces)/)?([\w.-]{1,96}/[\w.-]{1,96})/resolve/"
_LOOKS_LIKE = r"it looks like ([\w.-]{1,96}/[\w.-]{1,96}) is not the path"


@derived_of(_FAILED)
def is_offline_on_purpose(event: Event, view: View) -> bool:
    """Was the library told not to ask the hub?"""
    return "outgoing traffic has been disabled" in event.text


@derived
def hub_model(event: Event, view: View) -> str:
    """The model of the file, ``org/model``; a placeholder where no line names it."""
    return _model(event, view) or "<model>"


@derived
def of_hub_file(event: Event, view: View) -> str:
    """The model of the file as the end of a sentence, ``: org/model``; empty where no line names it."""
    model = _model(event, view)
    return f": {model}" if model else ""


def _model(event: Event, view: View) -> str:
    named = re.search(_LOOKS_LIKE, event.text) or re.search(_MODEL, event.text)
    if named is not None:
        return named[1]
    for asked in view.job.events:
        found = re.search(_MODEL, asked.text) if asked.event == _AGAIN else None
        if found is not None:
            view.note(asked)
            return found[1]
    return ""
