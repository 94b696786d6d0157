"""Interfaces that look virtual, and carry packets between hosts."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Advertised
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.tunnels import is_inside, overhead


@derived
def joins_hosts(address: Advertised, view: View) -> bool:
    """Was a packet answered that went to another host in the network of this interface? Then it is no host's own.

    An address of a bridge of containers may be a container's, so it counts only where another host is known to have it.
    """
    host = view.host(address.host)
    interface = next((each for each in host.interfaces if each.name == address.interface), None) if host else None
    if host is None or interface is None:
        return False
    others = {a.ip for each in view.job.hosts if each is not host for i in each.interfaces for a in i.addresses or ()}
    for event in view.job.events:
        target = str(event.fields.get("address") or "")
        is_answered = event.event == "ping-tried" and event.fields.get("received") and target != address.ip
        if is_answered and (target in others or overhead(interface) is not None) and is_inside(target, interface):
            view.note(event)
            return True
    return False
