"""The category of a failure and its reason, independent of wording, release and language."""

from __future__ import annotations

import errno

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.messages import about
from ncdiag.nccl import reasons
from ncdiag.nccl.reasons import Reason

_TEXTS = ("error", "nvml_error", "what", "detail", "inner")
"""Fields that hold the reason in words, the most reliable first."""
_COMPLETION = "completion"
_SHELL = 128
"""A shell's exit status for a program that a signal ended is this plus the signal number."""
_COUNTED = {"exceeded timeouts": errno.ETIMEDOUT, "exceeded retries": errno.ECONNREFUSED}
"""What NCCL counts until it gives up connecting: an errno of its own each (src/misc/socket.cc, 2.16 to 2.23)."""


@derived
def category(event: Event, view: View) -> str | None:
    """The category of the failure (``tcp-connect``, ``verbs-call`` ...); None for an event that is not a failure."""
    return about.entry(event.event).category or None


@derived
def reason(event: Event, view: View) -> str | None:
    """The reason of the failure as a group of errors (``refused``, ``no-space`` ...); None where the line has none."""
    return _reason(event, view).group


@derived
def error_name(event: Event, view: View) -> str | None:
    """The name of the error: ``ECONNREFUSED``, ``cudaErrorNoDevice``, ``SIGKILL``; None where it is not known."""
    return _reason(event, view).name


@derived
def reason_found(event: Event, view: View) -> tuple[str | None, str | None]:
    """The group and the name of the error, computed once."""
    found = _by_code(event, view) or _by_words(event)
    return (found.group, found.name) if found is not None else (None, None)


def _reason(event: Event, view: View) -> Reason:
    return Reason(*reason_found(event, view))


def _by_code(event: Event, view: View) -> Reason | None:
    """The reason by the error number in the message."""
    fields = event.fields
    number, status, signal, code = (fields.get(name) for name in ("errno", "status", "signal", "exit_code"))
    if event.event == "socket-connect-exhausted":
        number = next((known for words, known in _COUNTED.items() if words in event.text), None)
    if isinstance(number, int) and number:
        return reasons.of_errno(abs(number))  # kernels and libfabric return it with a minus
    if isinstance(status, int) and category(event, view) == _COMPLETION:
        return reasons.of_completion(status)
    if signal is None and isinstance(name := fields.get("signal_name"), str):
        signal = reasons.number_of_signal(name)
    if isinstance(signal, int):
        return reasons.of_signal(signal)
    if isinstance(code, int) and (code < 0 or code > _SHELL):
        return reasons.of_signal(-code if code < 0 else code - _SHELL)
    return None


def _by_words(event: Event) -> Reason | None:
    """The reason by its words: those in a field for it, else any in the message's text; last by CUDA's own number."""
    words = event.fields.get("cuda_error")
    found = reasons.of_text(str(words), cuda=True) if words else None
    for name in _TEXTS:
        if found is None and event.fields.get(name):
            found = reasons.of_text(str(event.fields[name]))
    found = found or reasons.of_text(event.text, cuda=event.origin == "cuda")
    number = event.fields.get("cuda_code")
    return found or (reasons.of_cuda(number) if isinstance(number, int) else None)
