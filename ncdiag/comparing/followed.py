"""The host that a trouble follows beside the others of a paste: what is different there, as events."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

import msgspec

from ncdiag.base.spans import Span, span
from ncdiag.comparing import odd
from ncdiag.comparing.values import Groups, Subject, of_hosts
from ncdiag.comparing.weights import ORDER, importance
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.troubled_hosts import troubled_hosts

_EVENTS: Mapping[str, str] = {"high": "troubled-host-differs", "medium": "troubled-host-differs-in-detail"}
"""The event for a difference of this weight; ncdiag/messages/launcher.toml has their lines."""
_MOST = 6
"""Differences of one host that are reported."""


def events(view: View) -> tuple[Event, ...]:
    """The events of the job, with those on what is different on a host that the trouble follows.

    Others for which a thing is known are alike in it. What a command that ran on each host showed (`host-differs`)
    becomes such an event.
    """
    troubled = troubled_hosts(view)
    found = [
        _Apart(subject, *each)
        for subject, groups in of_hosts(view).items()
        if importance(subject).weight in _EVENTS
        for each in _apart(groups, troubled)
    ]
    found.sort(key=lambda one: ORDER[importance(one.subject).weight])
    first = len(view.job.events)
    new = (_event(view, one, first + place) for place, one in enumerate(found[: _MOST * len(troubled)]))
    old = (_shown(event) if event.event == odd.EVENT and event.host in troubled else event for event in view.job.events)
    return *old, *new


def _shown(event: Event) -> Event:
    """The event of a host that differs from most others as one of a host that the trouble follows."""
    fields = {**event.fields, "fine": f"{event.fields['others']} other hosts", "judged_by": ""}
    return msgspec.structs.replace(event, event=_EVENTS[str(event.fields["weight"])], fields=fields)


class _Apart(NamedTuple):
    """A thing in which a troubled host differs: its value there, and on all the other hosts for which it is known."""

    subject: Subject
    host: str
    value: str
    usual: str
    fine: list[str]


def _apart(groups: Groups, troubled: Collection[str]) -> Iterator[tuple[str, str, str, list[str]]]:
    """Troubled host, its value, the one value of all other hosts, and these hosts."""
    others = {value: rest for value, hosts in groups.items() if (rest := [h for h in hosts if h not in troubled])}
    if len(others) != 1:
        return
    ((usual, fine),) = others.items()
    for value, hosts in groups.items():
        if value != usual:
            yield from ((host, value, usual, fine) for host in hosts if host in troubled)


def _event(view: View, one: _Apart, order: int) -> Event:
    item, weight = one.subject.item, importance(one.subject).weight
    thing = f"{item.what} {one.subject.name}".rstrip()
    value, usual = (odd.readable(item.what, one.subject.name, each) for each in (one.value, one.usual))
    fine = fold_hosts(one.fine)
    text = f"the trouble follows {one.host}: {thing} is {value} there, {usual} on {fine} [{weight}]"
    return Event(
        event=_EVENTS[weight], origin="ncdiag", kind="fact", text=f"ncdiag: {text}", order=order, host=one.host,
        provenance={"": _line(view, one.subject, one.host) or span(one.host, 0, f"{thing}: {value}")},
        fields={
            "odd_host": one.host, "thing": thing, "value": value, "usual": usual, "fine": fine,
            "judged_by": " ".join(item.rules),
        },
    )  # fmt: skip


def _line(view: View, subject: Subject, host: str) -> Span | None:
    """The line that shows the value, where it is a field of the host or of a device."""
    item, there = subject.item, view.host(host)
    if there is not None and item.value and not item.read:
        devices = {
            "gpus": there.gpus, "hcas": there.hcas, "interfaces": there.interfaces, "limits": there.limits,
            "ports": tuple(port for hca in there.hcas for port in hca.ports), "": (there,),
        }.get(item.of, ())  # fmt: skip
        for device in devices:
            line = device.provenance.get(item.value)
            if line is not None and (item.of in {"", "gpus"} or subject.name.startswith(_name(item.of, device))):
                return line
    return None


def _name(kind: str, device: object) -> str:
    return str(getattr(device, "hca" if kind == "ports" else "name", ""))
