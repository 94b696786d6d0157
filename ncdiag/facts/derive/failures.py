"""Derived fields of events: which kind of failure a line tells of, whoever printed it."""

from __future__ import annotations

from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View, derived, derived_of

CODES = frozenset({
    "framework-nccl-error", "torch-nccl-error", "torch-result-system-error", "torch-result-cuda-error",
    "torch-result-internal-error", "torch-result-invalid-usage", "torch-result-invalid-argument",
    "torch-result-remote-error",
})  # fmt: skip
"""Events that tell a return code of NCCL and nothing else."""

_VAGUE = frozenset({"torch-last-error", "torch-operations-failed", "system-call-failed", "cuda-failure"})
OWN_FAILURES = frozenset({"cause", "symptom"})


@derived_of(*CODES, *_VAGUE)
def is_vague(event: Event, view: View) -> bool:
    """Does it tell that NCCL failed and nothing that a rule could judge: a code, or an error of no known kind?"""
    if event.event == "cuda-failure":
        return not view.get(event, "is_known_cuda_failure")
    return True


@derived
def has_failed(job: Job, view: View) -> bool:
    """Does a message tell of a failure, whatever it is? Without one a job may still be slow or stand still."""
    return any(event.kind in OWN_FAILURES for event in job.events)


@derived
def tells_no_code(job: Job, view: View) -> bool:
    """Is there no return code of NCCL?"""
    return not any(event.event in CODES for event in job.events)
