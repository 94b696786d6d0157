"""Which algorithms NCCL may choose for an all-reduce: rings, trees, NVLink SHARP."""

from __future__ import annotations

import re
from typing import Literal

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View

_NVLS_SINCE = Version(2, 17)


@derived
def uses_nvls(job: Job, view: View) -> bool | None:
    """Do ranks use multicast of the NVSwitches? By NCCL's own lines; None where no line mentions it."""
    for event in job.events:
        if event.event == "nvls-used":
            view.note(event)
            return True
    told = {str(e.fields.get("availability")) for e in job.events if e.event == "nvls-state"}
    return "available" in told if told else None


def may_use(algorithm: Literal["tree", "nvls"], view: View) -> bool:
    """Is the algorithm possible: does no variable, old release or line of NCCL exclude it?"""
    named = view.setting(view.job, "NCCL_ALGO")
    if named is not None and named.is_set and named.text:
        word = named.text.strip().lower()
        listed = any(algorithm in part for part in re.split(r"[,;:]", word))
        if listed == word.startswith("^"):
            return False
    return algorithm == "tree" or not _lacks_nvls(view)


def _lacks_nvls(view: View) -> bool:
    switch, version = view.setting(view.job, "NCCL_NVLS_ENABLE"), view.version(view.job)
    off = switch is not None and switch.is_set and switch.number == 0
    old = version is not None and version.high is not None and version.high < _NVLS_SINCE
    return bool(off) or old or uses_nvls(view.job, view) is False
