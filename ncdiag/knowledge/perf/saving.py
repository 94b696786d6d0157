"""A checkpoint that a rank is still writing when the watchdog's time limit is reached."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.clocks import source
from ncdiag.facts.vocabulary.outcome import is_open_failure

_BEGUN, _LIMIT = "checkpoint-save-begun", "torch-watchdog-timeout"
_GOES_ON = frozenset(
    {"progress-step", "progress-bar", "torch-process-group-destroyed", "program-finished", "checkpoint-saved",
     "evaluation-begun"}
)  # fmt: skip
_SHARED = lazy_regex(
    r"(?i)(?<![a-z])nfs|lustre|gpfs|beegfs|ceph|gluster|juicefs|weka|/efs|/fsx|s3fs|gcsfuse|blobfuse|/shared?/|ossfs"
    r"|(?<![a-z])cfs/"
)
"""Paths that contain the name of a network file system, or of a shared folder."""


@derived
def saving_at_limit(job: Job, view: View) -> str:
    """The path of the checkpoint that was still being written at the watchdog's limit; empty if there was none.

    No line between its beginning and the limit shows that it was finished or that a step followed.
    """
    limit = next((e for e in job.events if e.event == _LIMIT and is_open_failure(e, view)), None)
    if limit is None:
        return ""
    before = [e for e in job.events if source(e) == source(limit) and e.order < limit.order]
    begun = max((e for e in before if e.event == _BEGUN), key=lambda each: each.order, default=None)
    if begun is None or any(e.event in _GOES_ON and e.order > begun.order for e in before):
        return ""
    view.note(begun)
    return str(begun.fields.get("checkpoint_path", ""))


@derived
def saves_over_network(job: Job, view: View) -> bool:
    """Does the path of that checkpoint contain the name of a network file system, or of a shared folder?"""
    return _SHARED.search(saving_at_limit(job, view)) is not None
