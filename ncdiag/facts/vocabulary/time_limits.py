"""Whether a job hung until its time limit: somebody says so, or its steps ended long before."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timezone
from itertools import pairwise

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.clocks import source
from ncdiag.facts.vocabulary.communicators import is_said_to_hang

_STEP, LIMIT = "progress-step", "TIME LIMIT"
_SILENT, _STEPS = 7200.0, 20
"""A job hung if it printed no step for 2 hours, longer than an evaluation, and for 20 times its longest step."""
_MAY_END = lazy_regex(
    r"(?i)\b(?:training|jobs?|runs?|program|process(?:es)?|it) (?:\w+ )?(?:stop(?:s|ped)?|times out|timed out)\b"
    r"(?! (?:responding|moving|progressing|making|printing|logging|working))"
    r"(?!.*\b(?:hang|hung|stuck|fr[eo]ez|stall|silent|no (?:output|progress)|nothing|still|deadlock|wait))"
)
"""Words for a hang that may as well mean the end of the job."""
_ZONES, _NEAR = 900.0, 120.0
"""Time zones differ by multiples of 15 minutes: a gap of up to 2 minutes more than a multiple may only be the zone."""


@derived
def hung_until_limit(job: Job, view: View) -> bool:
    """Did the job hang until its time limit, according to its steps or to what somebody says?"""
    return any(hung_at_limit(event, view) for event in job.events if event.event == "job-cancelled")


def hung_at_limit(event: Event, view: View) -> bool:
    """Does the line say that the job was ended by its time limit, and did the job hang until then?

    "The training stops after 4 hours" may mean the limit itself.
    """
    at_limit = LIMIT in f"{event.fields.get('reason', '')} {event.text}"
    hangs = is_said_to_hang(view.job, lambda complaint: not _MAY_END.search(complaint.text))
    return at_limit and (hangs or _stood_still(event, view))


def _stood_still(event: Event, view: View) -> bool:
    """When the scheduler ended the job, had its step counter not risen for much longer than a step takes?"""
    steps = view.remembered(("timed steps",), lambda: _timed_steps(view.job)).get(source(event), ())
    times = sorted({time for order, time in steps if order < event.order})
    ended = _moment(str(event.fields.get("when", "")))
    if ended is None or len(times) < 2:  # noqa: PLR2004  (one line does not show how long a step takes)
        return False
    longest = max(later - before for before, later in pairwise(times))
    silent = ended - times[-1]
    return silent > max(_SILENT, _STEPS * longest) and silent % _ZONES > max(_NEAR, 2 * longest)


def _timed_steps(job: Job) -> dict[str, list[tuple[int, float]]]:
    """The places and times of the lines with a step, by source."""
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for event in job.events:
        if event.event == _STEP and event.time is not None:
            found[source(event)].append((event.order, event.time))
    return found


def _moment(text: str) -> float | None:
    """Seconds since 1970 of a time from Slurm, ``2026-03-01T04:12:09``; None for other text.

    Slurm prints no time zone; UTC is assumed, as for other lines without one.
    """
    try:
        return datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return None
