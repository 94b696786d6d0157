"""The steps that a job made after a line: they show that it survived what the line reports."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from operator import itemgetter

from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.clocks import shared_time
from ncdiag.facts.vocabulary.places import Place, place

STEP = "progress-step"


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
