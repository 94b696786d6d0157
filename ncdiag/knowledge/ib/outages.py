"""How long a link was down, beside the time for which a queue pair retries.

A queue pair waits 4.096 us * 2^timeout for an acknowledgement and repeats the packet as often as its retry count says
(InfiniBand specification, transport timer and retry counter). The specification lets hardware wait up to four times as
long, so that the time computed here is the shortest.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event, Job
from ncdiag.facts.view import View
from ncdiag.knowledge.ib.links import is_link_loss, link_losses, lost_port
from ncdiag.nccl import environment

_LOSSES = ("ib-async-event", "hca-link", "interface-link-down", "carrier-lost")
REPORTED = "outage-reported"
_CHANGES = frozenset({*_LOSSES, "interface-link-up", "carrier-gained"})
_UPTIME = lazy_regex(r"\[ {0,12}(\d{1,10}\.\d{1,9})\]")
_CLOCK = lazy_regex(r"\b(\d\d):(\d\d):(\d\d(?:\.\d{1,9})?)\b")
_DAY = 86400
_UNIT = 4.096e-6
_USUAL, _LARGEST = 22, 31
_WHOLE = 100
"""Seconds from which no decimals are printed."""


@derived
def link_changes(job: Job, view: View) -> dict[str, tuple[Event, ...]]:
    """The lines that show a link lost or back, by host and port, in their order."""
    found: dict[str, list[Event]] = defaultdict(list)
    for event in job.events:
        if event.event in _CHANGES:
            found[f"{event.host} {lost_port(event, view)}"].append(event)
    return {port: tuple(events) for port, events in found.items()}


@derived
def outage_seconds(event: Event, view: View) -> float | None:
    """Seconds from the loss of a link to the line that shows it again; None where times or that line are missing."""
    if event.event == REPORTED:
        return float(str(event.fields["outage_seconds"]))
    if event.event not in _CHANGES or not is_link_loss(event, view):
        return None
    changes: Sequence[Event] = link_changes(view.job, view).get(f"{event.host} {lost_port(event, view)}", ())
    place = bisect.bisect_right(changes, event.order, key=lambda one: one.order)
    up = changes[place] if place < len(changes) else None
    seconds = _between(event, up) if up is not None else None
    if up is None or not seconds or seconds < 0 or is_link_loss(up, view):
        return None
    view.note(event)
    view.note(up)
    return seconds


def _between(first: Event, second: Event) -> float | None:
    """Seconds between two lines of one host: by their times, by the kernel's uptime, or by a clock without a date."""
    if first.time is not None and second.time is not None:
        return second.time - first.time
    texts = [span.text for event in (first, second) if (span := event.provenance.get("")) is not None]
    uptimes = [float(found[1]) for found in map(_UPTIME.search, texts) if found]
    if len(uptimes) == 2:  # noqa: PLR2004  (one of each line)
        return uptimes[1] - uptimes[0]
    clocks = [
        float(found[1]) * 3600 + int(found[2]) * 60 + float(found[3]) for found in map(_CLOCK.search, texts) if found
    ]
    return (clocks[1] - clocks[0]) % _DAY if len(clocks) == 2 else None  # noqa: PLR2004


@derived
def retry_seconds(event: Event, view: View) -> float | None:
    """Seconds for which a queue pair of NCCL retries: 4.096 us * 2^NCCL_IB_TIMEOUT * NCCL_IB_RETRY_CNT.

    None where a timeout of 0 (no limit) is set, or where the defaults of the release are not known.
    """
    timeout, retries = (_number(name, view) for name in ("NCCL_IB_TIMEOUT", "NCCL_IB_RETRY_CNT"))
    return _lasting(timeout, retries) if timeout and retries is not None else None


def _lasting(timeout: int, retries: int) -> float:
    return float(_UNIT * 2 ** min(timeout, _LARGEST) * retries)


def _number(name: str, view: View) -> int | None:
    """The value of a variable, or its default where nothing sets it."""
    setting = view.setting(view.job, name)
    if setting is not None and setting.is_set is not False:
        view.note(setting)
        return setting.number
    value = environment.resolve(name, None, view.version(view.job)).effective
    return value if isinstance(value, int) else None


@derived
def reported_outages(job: Job, view: View) -> tuple[Event, ...]:
    """The outages that people report with their length, as events."""
    return tuple(
        Event(
            event=REPORTED, origin="user", kind="cause", fields={"outage_seconds": float(context.value)},
            text=context.text, provenance=context.provenance,
        )
        for context in job.contexts
        if context.kind == "outage"
    )  # fmt: skip


@derived
def outages(job: Job, view: View) -> tuple[Event, ...] | None:
    """The lost links that lines show, and the outages that people report; None where neither can be known."""
    shown, reported = link_losses(job, view), reported_outages(job, view)
    return (*(shown or ()), *reported) if reported else shown


@derived_of(*_LOSSES, REPORTED)
def outlasts_retries(event: Event, view: View) -> bool | None:
    """Was the link down for longer than a queue pair retries?"""
    outage, retries = outage_seconds(event, view), retry_seconds(event, view)
    return None if outage is None or retries is None else outage > retries


@derived
def outage_text(event: Event, view: View) -> str:
    """``19 s, and the retries of a queue pair last 7.5 s (with NCCL_IB_TIMEOUT=22: 120 s)``."""
    outage, retries = outage_seconds(event, view), retry_seconds(event, view)
    if outage is None or retries is None:
        return "an unknown time"
    longer = f"with NCCL_IB_TIMEOUT={timeout_that_lasts(event, view)}: {lasting_text(event, view)}"
    return f"{_rounded(outage)} s, and the retries of a queue pair last {_rounded(retries)} s ({longer})"


@derived
def timeout_that_lasts(event: Event, view: View) -> str:
    """The NCCL_IB_TIMEOUT whose retries last longer than the outage: 22 if that is enough, at most 31."""
    outage, retries = outage_seconds(event, view) or 0.0, _number("NCCL_IB_RETRY_CNT", view) or 0
    lasting = (one for one in range(_USUAL, _LARGEST) if _lasting(one, retries) > outage)
    return str(next(lasting, _LARGEST))


@derived
def lowered_retries(event: Event, view: View) -> bool:
    """Is NCCL_IB_RETRY_CNT set below the default, with which the retries would last longer than the outage?"""
    setting = view.setting(view.job, "NCCL_IB_RETRY_CNT")
    usual = environment.resolve("NCCL_IB_RETRY_CNT", None, view.version(view.job)).effective
    timeout, outage = _number("NCCL_IB_TIMEOUT", view), outage_seconds(event, view)
    if setting is None or setting.number is None or not isinstance(usual, int) or not timeout or outage is None:
        return False
    return setting.number < usual and _lasting(timeout, usual) > outage


@derived
def lasting_text(event: Event, view: View) -> str:
    """How long its retries last: ``120 s``."""
    retries = _number("NCCL_IB_RETRY_CNT", view) or 0
    return f"{_rounded(_lasting(int(timeout_that_lasts(event, view)), retries))} s"


def _rounded(seconds: float) -> str:
    return f"{seconds:.0f}" if seconds >= _WHOLE else f"{seconds:.3g}"
