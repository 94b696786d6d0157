"""Kubernetes probes: was a container killed because its liveness probe failed?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure

_KILLED, _TERMINATED = 137, 143
_GRACE, _SLACK = 30, 15
"""Seconds from SIGTERM to SIGKILL (default terminationGracePeriodSeconds), and the delay to expect on a busy node."""
_NEAR = 2
"""The maximum number of lines from the reason why a container ended to its exit code."""
_STEPS = ("k8s-state-started", "k8s-liveness-set", "k8s-readiness-set", "k8s-startup-set")
"""Events in the order in which kubectl prints them for a container: when it started, then its probes."""
_FORM = "%d %b %Y %H:%M:%S %z"


@derived_of("k8s-probe-killed", "process-exit")
def is_probe_end(event: Event, view: View) -> bool:
    """Did the kubelet kill the container because of a probe, according to its event or to how long the container ran?

    A liveness probe first runs after its delay, then once per period. After failureThreshold failures the kubelet sends
    SIGTERM (exit code 143), and SIGKILL (137) after the grace period; the run time has to fit this. False for a
    container that was OOMKilled or has a startup probe, which has its own limits.
    """
    if event.event == "k8s-probe-killed":
        return is_open_failure(event, view)
    code = event.fields.get("exit_code")
    probe = _own(event, view, "k8s-liveness-set")
    if code not in {_KILLED, _TERMINATED} or probe is None or _own(event, view, "k8s-startup-set") is not None:
        return False
    if any(0 < event.order - other.order <= _NEAR for other in view.events_on(event.host, ["container-oom-killed"])):
        return False
    ran = _ran(event, view)
    delay, timeout, period, failures = (
        int(probe.fields.get(name) or 0) for name in ("delay", "timeout", "period", "failures")
    )
    first = delay + period * (failures - 1) + (_GRACE if code == _KILLED else 0)
    last = delay + (period + timeout) * failures + _GRACE + _SLACK
    if ran is None or not first <= ran <= last:
        return False
    view.note(probe)
    return True


def _ran(event: Event, view: View) -> float | None:
    """The seconds that the container with this exit code ran; None if its start or end is not shown."""
    times = [_time(_next(event, view, f"k8s-state-{what}")) for what in ("started", "finished")]
    return (times[1] - times[0]).total_seconds() if times[0] and times[1] else None


def _own(event: Event, view: View, name: str) -> Event | None:
    """The line of this probe below the exit code, if it belongs to the same container; else None.

    A second start, or a probe that kubectl prints after this one, in between means that it is the next container's.
    """
    found = _next(event, view, name)
    if found is None:
        return None
    between = [e for e in view.events_on(event.host, _STEPS) if event.order < e.order < found.order]
    starts = [e for e in between if e.event == "k8s-state-started"]
    passed = [e for e in between if _STEPS.index(e.event) > _STEPS.index(found.event)]
    return found if len(starts) <= 1 and not passed else None


def _next(event: Event, view: View, name: str) -> Event | None:
    """The first event of this name below the given one on the host; None if there is none."""
    below: Sequence[Event] = [e for e in view.events_on(event.host, [name]) if e.order > event.order]
    return min(below, key=lambda each: each.order, default=None)


def _time(event: Event | None) -> datetime | None:
    if event is None:
        return None
    words = " ".join(str(event.fields.get(name)) for name in ("day", "month", "year", "clock", "zone"))
    try:
        return datetime.strptime(words, _FORM)  # noqa: DTZ007  (the form has %z)
    except ValueError:
        return None
