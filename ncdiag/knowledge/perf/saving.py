"""A checkpoint that ranks still write when the others reach their time limit."""

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
"""Folders that are named after a file system of the network."""


@derived
def saving_at_limit(job: Job, view: View) -> str:
    """The checkpoint that was begun before the watchdog's limit, without its end or a step between; empty for none."""
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
    """Is that checkpoint in a folder named after a file system of the network?"""
    return _SHARED.search(saving_at_limit(job, view)) is not None
