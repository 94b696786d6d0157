"""Rows of Kubernetes' events, as ``kubectl describe`` and ``kubectl get events`` list them: their pod and their age.

The rows of ``describe`` do not name their pod, and those of ``get events`` are not in the order of time.
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Event

POD_NAME = lazy_regex(r"(?<![\w/-])pod/([a-z0-9][a-z0-9.-]{0,252})")
"""A pod as kubectl and the events of Kubernetes name it."""
_TABLE = 25
"""Lines within which the events of one pod are, where they do not name it."""
_AGE = lazy_regex(r"(?:^|\s)(\d{1,5})([dhms])(?:(\d{1,2})([hms]))?(?=\s)")
_SECONDS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
"""The units of duration.HumanDuration of k8s.io/apimachinery."""


def are_of_one_pod(one: Event, other: Event) -> bool:
    """Are both rows about one pod: by its name, else because they are in one table?"""
    names = [found[1] for row in (one, other) if (found := POD_NAME.search(_text(row)))]
    if len(names) > 1:
        return names[0] == names[1]
    first, second = one.provenance.get(""), other.provenance.get("")
    if first is None or second is None or first.source != second.source:
        return False
    return abs(second.line - first.line) <= _TABLE


def is_after(later: Event, event: Event) -> bool:
    """Did it happen later: by the ages of both rows, else by their order?"""
    young, old = age(later), age(event)
    if young is None or old is None or young == old:
        return later.order > event.order
    return young < old


def age(event: Event) -> int | None:
    """The seconds since a row's event last happened; None if the row does not show them."""
    found = _AGE.search(_text(event))
    if found is None:
        return None
    return int(found[1]) * _SECONDS[found[2]] + int(found[3] or 0) * _SECONDS.get(found[4] or "", 0)


def _text(event: Event) -> str:
    span = event.provenance.get("")
    return (span.text or "") if span is not None else ""
