"""The answers that several hosts got for one name: ``getent hosts``, ``ping``, /etc/hosts."""

from __future__ import annotations

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import FAILURES, Event
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
    answers = [each for each in view.job.events if each.event == _FOUND and each.fields.get("host_name") == name]
    is_first = bool(answers) and (answers[0].order, answers[0].host) == (event.order, event.host)
    if own is None or own.is_loopback or event.host is None or not is_first or not _matters(name, view):
        return ""
    mine = {each.fields.get("address") for each in answers if each.host == event.host}
    for other in answers:
        address = ip_address(str(other.fields.get("address") or ""))
        if other.host in {None, event.host} or address is None or address.is_loopback or address.version != own.version:
            continue
        theirs = {each.fields.get("address") for each in answers if each.host == other.host}
        if mine.isdisjoint(theirs):
            view.note(other)
            return f"{address} on {other.host}"
    return ""


def _matters(name: str, view: View) -> bool:
    """Are the ranks to meet at this name, or did a process fail to reach it?"""
    short = name.partition(".")[0]
    if any(s.name == "MASTER_ADDR" and (s.text or "").partition(".")[0] == short for s in view.job.settings):
        return True
    failed = (each for each in view.job.events if each.kind in FAILURES)
    return any(
        short in {str(peer).partition(".")[0] for peer in (each.peer, each.fields.get("peer_host"))} for each in failed
    )
