"""Failures for which a line has only a code; the reason is in other lines, if anywhere."""

from __future__ import annotations

import signal

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.failures import CODES
from ncdiag.messages.vocabulary.cuda_errors import is_known_cuda_failure

_VAGUE = frozenset({"torch-last-error", "torch-operations-failed", "system-call-failed", "cuda-failure"})


@derived_of(*CODES, *_VAGUE)
def is_vague(event: Event, view: View) -> bool:
    """Does the line say that NCCL failed and nothing that a rule could use: a code, or an error of no known kind?"""
    if event.event == "cuda-failure":
        return not is_known_cuda_failure(event, view)
    return True


_BESIDE_CODES = CODES | {
    "python-exception", "worker-failed", "nccl-tests-failed", "mpi-exit-code", "torch-work-failed",
    "torch-watchdog-terminated",
}  # fmt: skip
"""Events that say no more than a return code does."""


@derived
def tells_no_reason(job: Job, view: View) -> bool:
    """Does no message of the input say more about a failure than a return code does?"""
    if any(e.event == "socket-closed-by-peer" for e in job.events):
        return False  # no reason either, but it says whose log has it
    failures = (e for e in job.events if e.kind in {"cause", "symptom"})
    return all((e.event in _BESIDE_CODES and not _was_killed(e)) or is_vague(e, view) for e in failures)


def _was_killed(event: Event) -> bool:
    """Did a signal other than the process's own SIGABRT end it?"""
    code, number = event.fields.get("exit_code"), event.fields.get("signal")
    by_code = isinstance(code, int) and code != -signal.SIGABRT and code < 0
    return by_code or number not in {None, int(signal.SIGABRT)}
