"""Releases with which the job is said to work, next to those with which it fails."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.told import cured_by, told_trials


@derived
def good_release(job: Job, view: View) -> str:
    """The release of NCCL or a framework with which the job is said to work, next to those with which it fails.

    As ``NCCL 2.18.3``; empty if none is named.
    """
    return _good(("nccl", "framework"), job, view)


@derived
def good_driver(job: Job, view: View) -> str:
    """The GPU driver with which the job is said to work, next to those with which it fails: ``driver 535.129.03``."""
    return _good(("driver",), job, view)


def _good(units: tuple[str, ...], job: Job, view: View) -> str:
    """The release of these that works; it is not computed for a text without one."""
    named = [(label, trial) for label, trial in told_trials(job, view) if trial.release]
    cures = cured_by(job, view) if named else ()
    for label, trial in named:
        if label in cures and label.partition("-")[2] in units:
            view.note(trial)
            return trial.release
    return ""
