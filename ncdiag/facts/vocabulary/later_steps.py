"""The steps that a job made after a line: they show that it survived what the line reports."""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter

from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.clocks import shared_time
from ncdiag.facts.vocabulary.places import Place, place

STEP = "progress-step"


def steps_behind(event: Event, at: Place, view: View) -> list[Event]:
    """The lines of steps behind the line of an event, in the same source.

    Left out are those that are earlier by their time, and those of another host whose counter did not rise above
    what the host of the event had reached: that is the log of a host that waits, below that of the one that failed.
    """
    told = view.remembered(("lines of steps",), lambda: _by_source(view.job)).get(at[0], [])
    behind = [step for _, step in told[bisect_right(told, at[1], key=itemgetter(0)) :]]
    if not behind or (event.host is None and event.time is None):
        return behind
    before = (step.fields for line, step in told if line < at[1] and step.host == event.host)
    reached = {fields.get("counter"): fields.get("counted") for fields in before}
    return [step for step in behind if _can_be_later(step, event, reached.get(step.fields.get("counter")), view)]


def steps_made_after(event: Event, at: Place, view: View) -> float:
    """The steps between the first and the last of these lines; logs may print each thousandth.

    Of a counter that rises all the time: one that begins again is that of another run. Many samples make one step.
    """
    fields = (step.fields for step in steps_behind(event, at, view))
    counted = (each.get("counted") for each in fields if "sample" not in str(each.get("counter")).lower())
    counts = [count for count in counted if isinstance(count, int | float)]
    return counts[-1] - counts[0] if counts and counts == sorted(set(counts)) else 0


def _can_be_later(step: Event, event: Event, reached: object, view: View) -> bool:
    """Can a step that is shown below the line of an event have been made after it?"""
    times = shared_time(step, view), shared_time(event, view)
    if times[0] is not None and times[1] is not None and times[0] < times[1]:
        return False
    counted = step.fields.get("counted")
    if None in {step.host, event.host} or step.host == event.host:
        return True
    return not (isinstance(reached, float) and isinstance(counted, float) and counted <= reached)


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
