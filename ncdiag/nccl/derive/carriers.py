"""Interfaces and links that carry nothing, although a job is to use them."""

from __future__ import annotations

from ncdiag.facts.model import Interface
from ncdiag.facts.view import View, derived

DEAD_STATES = frozenset({"down", "lowerlayerdown", "notpresent"})


@derived
def is_dead(interface: Interface, view: View) -> bool | None:
    """Does it have no link: switched off, or without a carrier?"""
    if interface.operstate in DEAD_STATES:
        return True
    if interface.up is False or interface.running is False:
        return True
    return None if interface.operstate is None and interface.running is None else False
