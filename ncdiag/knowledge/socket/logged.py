"""Packets that a packet filter dropped, as its rules log them in the kernel's log."""

from __future__ import annotations

from collections.abc import Iterable

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import open_failures

_LOGGED = "packet-logged"
_DROPS = lazy_regex(r"(?i)(?<![a-z])(?:block|drop|reject|deny|denied|discard)")
"""What a rule's own words say where it does not let the packet in; ``[UFW ALLOW]`` and ``[UFW AUDIT]`` do."""
_TOOLS = {"UFW ": "ufw", "FINAL_REJECT": "firewalld", "filter_IN_": "firewalld", "STATE_INVALID_DROP": "firewalld"}
"""The beginnings of the words of two tools (ufw: before.rules; firewalld 1.0: src/firewall/core/nftables.py)."""
_PORT = lazy_regex(r"(?:[\]>a-z\d]:|[<(]|port[ =]|, ?)(\d{1,5})(?!\d|[.:]\d)")
"""A port as messages about connections name it: ``[n1]:29500``, ``10.0.0.1<43817>``, ``port 22``, ``(n1, 29500)``."""


@derived_of(_LOGGED)
def drops_the_job(event: Event, view: View) -> bool:
    """Did a packet filter drop a packet to the port that a failed connection of the job names?"""
    if not _DROPS.search(str(event.fields.get("rule", ""))):
        return False
    failures = open_failures(view.job, view)
    failed = view.remembered(("failures by ports",), lambda: _by_ports(failures)).get(event.fields.get("target_port"))
    if failed is not None:
        view.note(event)
        view.note(failed)
    return failed is not None


def _by_ports(failures: Iterable[Event]) -> dict[object, Event]:
    """The first failure that names each port."""
    found: dict[object, Event] = {}
    for event in failures:
        for port in _PORT.findall(event.text):
            found.setdefault(int(port), event)
    return found


@derived
def filter_tool(event: Event, view: View) -> str:
    """The tool whose rule logs the incoming packet, ``ufw`` or ``firewalld``; empty if its words do not tell."""
    rule = str(event.fields.get("rule", "")) if event.fields.get("inbound") else ""
    return next((tool for words, tool in _TOOLS.items() if words in rule), "")
