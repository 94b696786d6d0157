"""How long NCCL tried to connect, beside the time at which the other side began to listen.

Since 2.24 the pause grows by NCCL_SOCKET_RETRY_SLEEP_MSEC with each of NCCL_SOCKET_RETRY_CNT retries
(src/misc/socket.cc, socketConnectCheck), so that n of them last n * (n + 1) / 2 times that pause.
"""

from __future__ import annotations

import math

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.addresses import peer_ip
from ncdiag.facts.vocabulary.clocks import shared_time

_GAVE_UP, _RETRY = "socket-connect-failed", "socket-connect-retry"
_READY, _LISTED = "sidecar-ready", "pod-listed"
_PAUSE, _LEAST = 0.1, 50
"""Seconds of the first pause by default, and the smallest number of retries that is offered."""
_ROOM, _LATEST = 1.5, 1800.0
"""By how much longer than needed a value retries, and seconds after which a later line belongs to another start."""


def _lasting(retries: int, pause: float) -> float:
    return pause * retries * (retries + 1) / 2


def _pause(event: Event, view: View) -> float:
    """Seconds of the first pause, as the lines of the retries to this peer show it."""
    for other in view.events_on(event.host, [_RETRY]):
        attempt, sleep = other.fields.get("attempt"), other.fields.get("sleep_ms")
        if isinstance(attempt, int) and isinstance(sleep, int) and attempt:
            view.note(other)
            return sleep / attempt / 1000
    return _PAUSE


def _retried(event: Event, view: View) -> float | None:
    """Seconds for which NCCL retried before it gave up; None where the line does not say how often."""
    attempts = event.fields.get("attempts")
    return _lasting(attempts - 1, _pause(event, view)) if isinstance(attempts, int) and attempts > 1 else None


def _opening(event: Event, view: View) -> tuple[Event, float] | None:
    """The last line that shows the proxy of the peer ready, and its seconds after NCCL gave up (negative: before).

    None where there is no such line, or the times of both are not known. The proxies of other pods say nothing.
    """
    gave_up, owners = shared_time(event, view), _owners(event, view)
    if gave_up is None or not owners:
        return None
    of_peer = [other for other in view.job.events if other.event == _READY and other.host in owners]
    ready = [(at - gave_up, other) for other in of_peer if (at := shared_time(other, view)) is not None]
    near = [(seconds, other) for seconds, other in ready if abs(seconds) < _LATEST]
    seconds, other = max(near, key=lambda one: one[0], default=(0.0, None))
    return None if other is None else (other, seconds)


def _owners(event: Event, view: View) -> set[str]:
    """The hosts or pods that have the address of the peer: by an interface, or in the rows of ``kubectl get pods``."""
    ip = peer_ip(event, view)
    if ip is None:
        return {(event.peer or "").partition(":")[0].partition(".")[0]} - {""}
    ranked = [i for r in view.job.ranks for i in (r.bootstrap_interface, r.oob_interface, *(r.socket_interfaces or ()))]
    shown = [i for host in view.job.hosts for i in host.interfaces] + [i for i in ranked if i is not None]
    named = {i.host for i in shown if i.host and any(address.ip == ip for address in i.addresses or ())}
    rows = [row for row in view.job.events if row.event == _LISTED and ip in row.text.split()]
    return named | {str(row.fields.get("pod_name")).partition(".")[0] for row in rows}


@derived_of(_GAVE_UP)
def gave_up_early(event: Event, view: View) -> bool | None:
    """Was the other side ready only after NCCL's retries had ended? None where no line shows when."""
    opening = _opening(event, view)
    if _retried(event, view) is None or opening is None:
        return None
    view.note(event)
    view.note(opening[0])
    return opening[1] > 0


@derived
def gave_up_text(event: Event, view: View) -> str:
    """``34 retries last 59.5 s, and 10.0.0.9 was ready 19 s later``."""
    retried, opening = _retried(event, view), _opening(event, view)
    if retried is None or opening is None:
        return "an unknown time"
    retries = int(str(event.fields["attempts"])) - 1
    return f"{retries} retries last {retried:.3g} s, and {peer_ip(event, view)} was ready {opening[1]:.0f} s later"


@derived
def retries_that_last(event: Event, view: View) -> str:
    """The NCCL_SOCKET_RETRY_CNT with which NCCL retries until the peer listens, with room; at least 50."""
    retried, opening = _retried(event, view) or 0.0, _opening(event, view)
    wanted = (retried + (opening[1] if opening is not None else 0.0)) * _ROOM
    pause = max(_pause(event, view), 0.001)
    return str(max(_LEAST, math.ceil((math.sqrt(1 + 8 * wanted / pause) - 1) / 2)))


@derived
def longer_retries_text(event: Event, view: View) -> str:
    """How long these retries last: ``127 s``."""
    return f"{_lasting(int(retries_that_last(event, view)), _pause(event, view)):.0f} s"
