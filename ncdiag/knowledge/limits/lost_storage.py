"""A line about lost storage that is not about the job: another host's, another time's, or of a program that goes on."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.clocks import source
from ncdiag.facts.vocabulary.outcome import is_open_failure

LOST, SERVER_LOST = "storage-lost", "storage-server-lost"
_STEP = "progress-step"
_NO_STORAGE = ("/sys", "/proc", "/dev")
"""Files of the kernel and of devices: no server provides them, and mounting does not help."""
_LONG_BEFORE, _LONG_AFTER = 3 * 3600.0, 3600.0
"""Seconds before the first and after the last other failure in which storage may be its cause: longer than the usual
timeouts of collectives."""
_STEPS_ON = 3
"""Steps by which a counter goes on that show that no rank waits for the storage: others may end the one they are in."""
_PRINTED_ON = lazy_regex(r"\d\d:\d\d:\d\d\S{0,16} (?P<host>[\w.-]{1,100}) kernel: ")


@derived
def has_evicted(event: Event, view: View) -> bool:
    """Did a server of Lustre drop this client, so that what was in progress fails?"""
    return event.event == SERVER_LOST and "was evicted by" in event.text


def is_no_storage(path: str) -> bool:
    """Is the file one of the kernel, of a device or of shared memory?"""
    return any(path == each or path.startswith(f"{each}/") for each in _NO_STORAGE)


@derived
def is_past_loss(event: Event, view: View) -> bool:
    """Does the job not depend on what the line says: another host's, too early or late, or the program goes on?"""
    return _is_of_another_host(event) or _is_of_another_time(event, view) or _goes_on(event, view)


def _is_of_another_host(event: Event) -> bool:
    """Does the kernel's line name another host than the one to which the text belongs, as collected logs do?"""
    span = event.provenance.get("")
    found = _PRINTED_ON.search(span.text or "") if span is not None and event.host else None
    return found is not None and _short(found["host"]) != _short(event.host or "")


def _short(name: str) -> str:
    return name.partition(".")[0].lower()


def _is_of_another_time(event: Event, view: View) -> bool:
    if event.time is None:
        return False
    times = [each.time for each in _other_failures(event, view) if each.time is not None]
    return bool(times) and not min(times) - _LONG_BEFORE <= event.time <= max(times) + _LONG_AFTER


def _other_failures(event: Event, view: View) -> list[Event]:
    return [each for each in view.job.events if each.event not in {LOST, event.event} and is_open_failure(each, view)]


def _goes_on(event: Event, view: View) -> bool:
    """Did the program count on after it could not read a file, because it tried again or took another?"""
    counts = [
        float(counted)
        for each in view.events_on(event.host, [_STEP])
        if each.order > event.order and source(each) == source(event)
        if isinstance(counted := each.fields.get("counted"), (int, float))
    ]
    return len(counts) > 1 and max(counts) - counts[0] >= _STEPS_ON
