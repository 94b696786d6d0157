"""Planes of a multi-plane network (MRC: a card has several ports, each connected to a separate network).

The card spreads packets over its planes and goes on with those that are left; NCCL sees one device and no error.
"""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View


@derived
def planes_lost(job: Job, view: View) -> str:
    """How many planes are said to be lost, ``1 of 8 planes`` or ``1 plane``; empty for none."""
    told = next((context for context in job.contexts if context.kind == "plane-lost"), None)
    if told is None:
        return ""
    view.note(told)
    lost, _, total = told.value.partition(" of ")
    named = (context.value.split()[0] for context in job.contexts if context.kind == "planes")
    whole = total or next(named, "")
    if whole and int(whole) > int(lost):
        return f"{lost} of {whole} planes"
    return f"{lost} plane{'s' if lost != '1' else ''}"


@derived
def rate_without_planes(job: Job, view: View) -> str:
    """What is left of the rate of a card, ``7/8 of the rate``; empty where the number of planes is not known."""
    lost, _, whole = planes_lost(job, view).removesuffix(" planes").partition(" of ")
    return f"{int(whole) - int(lost)}/{whole} of the rate" if whole else "less of the rate"
