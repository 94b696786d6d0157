"""Daemons of Slurm that do not answer or trust each other."""

from __future__ import annotations

import re

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.view import View

_OTHER_TIME = r"(?i)\b(?:expired|rewound)\b"
_CONTROLLER = "controller"


@derived
def is_credential_of_another_time(event: Event, view: View) -> bool:
    """Does munge say that a credential is too old, or from the future? Then the clocks differ, not the keys."""
    return re.search(_OTHER_TIME, str(event.fields.get("credential_fault", ""))) is not None


@derived
def unanswered_text(event: Event, view: View) -> str:
    """Which daemon of Slurm does not answer: ``slurmd of n2 does not answer``."""
    node = event.fields.get("on_host")
    if node:
        return f"slurmd of {node} does not answer"
    if _CONTROLLER in event.text:
        return "slurmctld does not answer"
    return "A daemon of Slurm does not answer"
