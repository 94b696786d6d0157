"""The addresses that the processes of a parameter server (ps-lite: MXNet, BytePS) announce."""

from __future__ import annotations

from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.messages.vocabulary.connections import aimed_ip, leads_nowhere


def _unlisted(event: Event, view: View) -> str | None:
    """A phrase, ``none of the addresses in the list of hosts``.

    Empty if it is listed, None if no list has addresses.
    """
    ip = aimed_ip(event, view)
    listed = next((la for la in view.job.launches if any(ip_address(h.name) for h in la.hosts)), None)
    if ip is None or listed is None:
        return None
    if ip in {host.name for host in listed.hosts}:
        return ""
    view.note(listed)
    return "none of the addresses in the list of hosts"


@derived_of("pslite-node")
def is_misled_node(event: Event, view: View) -> bool | None:
    """Does a process announce an address that leads nowhere, or that differs from the one in the list of hosts?

    None where neither a list of hosts nor the interface with the address was shown.
    """
    found = leads_nowhere(event, view), _unlisted(event, view)
    return True if any(found) else None if found == (None, None) else False


@derived
def node_fault(event: Event, view: View) -> str:
    """What is wrong with the address of a process of ps-lite."""
    return leads_nowhere(event, view) or _unlisted(event, view) or ""
