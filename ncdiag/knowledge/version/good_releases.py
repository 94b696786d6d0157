"""Releases with which the job is said to work, next to those with which it fails."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.capabilities import named_gpus
from ncdiag.facts.vocabulary.told import cured_by, told_trials
from ncdiag.knowledge.version.releases import first_release

_ELSEWHERE = lazy_regex(
    r"(?i)\b(?:other|another|different|colleague\S*|friend\S*|coworker\S*|old|home|single)\s(?:\w+\s){0,2}"
    r"(?:machines?|hosts?|nodes?|servers?|clusters?|boxe?s?|systems?|gpus?|projects?|models?|laptop)\b"
    r"|\b(?:machines?|hosts?|nodes?|servers?|clusters?)\sof\s(?:a|an|my|our|the)\s\w+"
    r"|\u53e6\u4e00\u53f0|\u5176\u4ed6\u673a\u5668|\u540c\u4e8b"
)
"""Words of a sentence by which a release works elsewhere, which says nothing about the job."""


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
        if label in cures and label.partition("-")[2] in units and _fits(trial.release, trial.text, job, view):
            view.note(trial)
            return trial.release
    return ""


def _fits(release: str, said: str, job: Job, view: View) -> bool:
    """Was the release tried with the job, and is it built for its GPUs?"""
    name, _, number = release.rpartition(" ")
    version = Version.parse(number)
    if _ELSEWHERE.search(said) or version is None:
        return False
    needed = (first_release(model) for model in named_gpus(job, view)) if name == "NCCL" else ()
    return not any(first is not None and version < first for first in needed)
