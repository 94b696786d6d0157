"""The answers that several hosts got for one name: ``getent hosts``, ``ping``, /etc/hosts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import FAILURES, Event, Job
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View

_FOUND = "name-resolved"


@derived_of(_FOUND)
def is_answered_otherwise(event: Event, view: View) -> bool:
    """Did another host find another address for this name, at which the ranks are to meet?"""
    return answered_otherwise(event, view) != ""


@derived
def answered_otherwise(event: Event, view: View) -> str:
    """The other address that another host found for the same name, ``10.0.1.7 on n2``; empty if all agree.

    Only for the name at which the ranks are to meet, or that a process did not reach, and for the first host that
    looked it up. Loopback addresses are judged elsewhere, and a name may have an address of each family.
    """
    name, own = str(event.fields.get("host_name") or ""), ip_address(str(event.fields.get("address") or ""))
    answers = view.remembered(("answers by name",), lambda: _by_name(view)).get(name, ())
    is_first = bool(answers) and (answers[0].order, answers[0].host) == (event.order, event.host)
    if own is None or own.is_loopback or event.host is None or not is_first or not _matters(name, view):
        return ""
    found: dict[str | None, set[object]] = defaultdict(set)
    for each in answers:
        found[each.host].add(each.fields.get("address"))
    for other in answers:
        address = ip_address(str(other.fields.get("address") or ""))
        if other.host in {None, event.host} or address is None or address.is_loopback or address.version != own.version:
            continue
        if found[event.host].isdisjoint(found[other.host]):
            view.note(other)
            return f"{address} on {other.host}"
    return ""


def _by_name(view: View) -> Mapping[str, Sequence[Event]]:
    """The answers by the name that was looked up."""
    found: dict[str, list[Event]] = defaultdict(list)
    for event in view.events_named(_FOUND):
        found[str(event.fields.get("host_name") or "")].append(event)
    return found


def _matters(name: str, view: View) -> bool:
    """Are the ranks to meet at this name, or did a process fail to reach it?"""
    return name.partition(".")[0] in view.remembered(("names to meet at",), lambda: _names_to_reach(view.job))


def _names_to_reach(job: Job) -> AbstractSet[str]:
    """The short names at which ranks are to meet, and that processes did not reach."""
    names: list[object] = [setting.text or "" for setting in job.settings if setting.name == "MASTER_ADDR"]
    for event in job.events:
        if event.kind in FAILURES:
            names += [event.peer, event.fields.get("peer_host")]
    return {str(name).partition(".")[0] for name in names if name is not None}
