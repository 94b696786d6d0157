"""The steps that a job made after a line: they show that it survived what the line reports."""

from __future__ import annotations

import calendar
import time
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from operator import itemgetter

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.clocks import shared_time
from ncdiag.facts.vocabulary.places import Place, place

STEP = "progress-step"
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SYSLOG = lazy_regex(rf"({'|'.join(_MONTHS)}) {{1,2}}(\d{{1,2}}) (\d\d):(\d\d):(\d\d)\b")
_APART = 120.0
"""Seconds by which the clock of a kernel's log and that of a rank's may differ."""
_FEWEST = 3
"""The steps that show how long a step takes, and the time of as many within which a job that works prints the next."""


def steps_below(event: Event, at: Place, view: View) -> list[Event]:
    """The steps printed below the line of an event, in the same source.

    Left out are those that are earlier by their time, and those of another host whose counter did not rise above
    what had been reached above the line: that is the log of a host that waits, below that of the one that failed. The
    steps above the line say whose log it is, as the line may name another host.
    """
    source, line = at
    steps = view.remembered(("steps by source",), lambda: _by_source(view.job)).get(source, [])
    above = [step for _, step in steps[: bisect_left(steps, line, key=itemgetter(0))]]
    below = [step for _, step in steps[bisect_right(steps, line, key=itemgetter(0)) :]]
    below = [step for step in below if not _is_earlier(step, event, view)]
    host = above[-1].host if above else None
    if host is None or all(step.host == host for step in below):
        return below
    highest = {step.fields.get("counter"): step.fields.get("counted") for step in above if step.host == host}
    return [
        step for step in below if step.host in {None, host} or _has_risen(step, highest.get(step.fields.get("counter")))
    ]


def continued_by_clock(event: Event, view: View) -> bool | None:
    """Did the job make a step after the event, which another source has? Decided by the clocks of both.

    False where the last step was made just before: the job stopped at this event. None where the times do not say it: a
    source without times, or in another zone. `dmesg -T` and two hosts may be `_APART` apart.
    """
    steps: list[tuple[float, Event]] = view.remembered(("times of steps",), lambda: _times(view))
    if len(steps) < _FEWEST:
        return None
    (began, first), (ended, last) = steps[0], steps[-1]
    at = _time_near(event, ended, view)
    if at is None or at < began:
        return None
    made = steps_between((first, last)) or len(steps) - 1
    margin = max(_APART, _FEWEST * (ended - began) / made)
    if ended > at + margin:
        return True
    return False if at - margin <= ended <= at + _APART else None


def _times(view: View) -> list[tuple[float, Event]]:
    """The steps of the job that have a time, in its order."""
    told = ((shared_time(event, view), event) for event in view.job.events if event.event == STEP)
    return sorted(((at, event) for at, event in told if at is not None), key=itemgetter(0))


def _time_near(event: Event, near: float, view: View) -> float | None:
    """The time of an event; one without a year, as syslog prints it, is that of the year of ``near``."""
    if event.time is not None:
        return shared_time(event, view)
    span = event.provenance.get("")
    found = _SYSLOG.match(span.text or "") if span is not None else None
    if found is None:
        return None
    year, month = time.gmtime(near).tm_year, _MONTHS.index(found[1]) + 1
    moment = (month, int(found[2]), int(found[3]), int(found[4]), int(found[5]))
    return min((float(calendar.timegm((year + more, *moment))) for more in (-1, 0, 1)), key=lambda at: abs(at - near))


def steps_between(steps: Iterable[Event]) -> float:
    """The difference of the first and the last counter of these lines, as a log may print only each thousandth step.

    0 if the counter does not rise all the time: then it is that of another run. Samples do not count: a step has many.
    """
    fields = (step.fields for step in steps)
    counted = (each.get("counted") for each in fields if "sample" not in str(each.get("counter")).lower())
    counts = [count for count in counted if isinstance(count, int | float)]
    return counts[-1] - counts[0] if counts and counts == sorted(set(counts)) else 0


def _is_earlier(step: Event, event: Event, view: View) -> bool:
    """Was a step that is shown below the line of an event made before it, by its time?"""
    if event.time is None or step.time is None:
        return False
    times = shared_time(step, view), shared_time(event, view)
    return times[0] is not None and times[1] is not None and times[0] < times[1]


def _has_risen(step: Event, highest: object) -> bool:
    """Is the counter of a step above the highest that was printed before? Unknown counts as yes."""
    counted = step.fields.get("counted")
    return not (isinstance(highest, float) and isinstance(counted, float) and counted <= highest)


def _by_source(job: Job) -> dict[str, list[tuple[int, Event]]]:
    """The steps by source, each with its line, in ascending order."""
    found: dict[str, list[tuple[int, Event]]] = {}
    for event in job.events:
        at = place(event) if event.event == STEP else None
        if at is not None:
            found.setdefault(at[0], []).append((at[1], event))
    for steps in found.values():
        steps.sort(key=itemgetter(0))
    return found
