"""What kind of thing failed and why, whatever the wording, the release or the language."""

from __future__ import annotations

import signal

from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View, derived
from ncdiag.facts.vocabulary.failures import CODES
from ncdiag.messages import about
from ncdiag.nccl import reasons
from ncdiag.nccl.reasons import Reason

_BESIDE_CODES = CODES | {
    "python-exception", "worker-failed", "nccl-tests-failed", "mpi-exit-code", "torch-work-failed",
    "torch-watchdog-terminated",
}  # fmt: skip
"""Events that say no more than a return code does."""


@derived
def tells_no_reason(job: Job, view: View) -> bool:
    """Does no message of the input say more about a failure than a return code does?"""
    if any(e.event == "socket-closed-by-peer" for e in job.events):
        return False  # no reason either, but it tells whose log holds it
    failures = (e for e in job.events if e.kind in {"cause", "symptom"})
    return all((e.event in _BESIDE_CODES and not _was_killed(e)) or view.get(e, "is_vague") for e in failures)


def _was_killed(event: Event) -> bool:
    """Did another signal than its own SIGABRT end the process?"""
    code, number = event.fields.get("exit_code"), event.fields.get("signal")
    by_code = isinstance(code, int) and code != -signal.SIGABRT and code < 0
    return by_code or number not in {None, int(signal.SIGABRT)}


_TEXTS = ("error", "nvml_error", "what", "detail", "inner")
"""Fields that hold the reason in words, the surest first."""
_COMPLETION = "completion"
_SHELL = 128
"""What a shell adds to the number of the signal that ended a program."""


@derived
def category(event: Event, view: View) -> str | None:
    """What kind of thing failed (``tcp-connect``, ``verbs-call`` ...); None for an event that is no failure."""
    return about.entry(event.event).category or None


@derived
def reason(event: Event, view: View) -> str | None:
    """Why it failed, as a group of errors (``refused``, ``no-space`` ...); None where the line does not say."""
    return _reason(event, view).group


@derived
def error_name(event: Event, view: View) -> str | None:
    """The error by its name: ``ECONNREFUSED``, ``cudaErrorNoDevice``, ``SIGKILL``; None where it is not known."""
    return _reason(event, view).name


@derived
def reason_found(event: Event, view: View) -> tuple[str | None, str | None]:
    """Group and name together, worked out once."""
    found = _by_code(event, view) or _by_words(event)
    return (found.group, found.name) if found is not None else (None, None)


def _reason(event: Event, view: View) -> Reason:
    return Reason(*view.get(event, "reason_found"))


def _by_code(event: Event, view: View) -> Reason | None:
    """The reason by a number that the message gives for it."""
    fields = event.fields
    errno, status, signal, code = (fields.get(name) for name in ("errno", "status", "signal", "exit_code"))
    if isinstance(errno, int) and errno:
        return reasons.of_errno(errno)
    if isinstance(status, int) and view.get(event, "category") == _COMPLETION:
        return reasons.of_completion(status)
    if isinstance(signal, int):
        return reasons.of_signal(signal)
    if isinstance(code, int) and (code < 0 or code > _SHELL):
        return reasons.of_signal(-code if code < 0 else code - _SHELL)
    return None


def _by_words(event: Event) -> Reason | None:
    """The reason by its words: those that the message gives for it, else any in its text; CUDA's own number last."""
    words = event.fields.get("cuda_error")
    found = reasons.of_text(str(words), cuda=True) if words else None
    for name in _TEXTS:
        if found is None and event.fields.get(name):
            found = reasons.of_text(str(event.fields[name]))
    found = found or reasons.of_text(event.text)
    number = event.fields.get("cuda_code")
    return found or (reasons.of_cuda(number) if isinstance(number, int) else None)
