"""Interfaces and links that carry nothing, although a job is to use them."""

from __future__ import annotations

from ncdiag.facts.derive.rdma import ranks_of
from ncdiag.facts.model import Host, Interface
from ncdiag.facts.view import View, derived
from ncdiag.nccl.derive.lists import list_of

_DEAD = frozenset({"down", "lowerlayerdown", "notpresent"})
_LISTS = ("NCCL_SOCKET_IFNAME", "NCCL_OOB_NET_IFNAME")


@derived
def is_dead(interface: Interface, view: View) -> bool | None:
    """Does it have no link: switched off, or without a carrier?"""
    if interface.operstate in _DEAD:
        return True
    if interface.up is False or interface.running is False:
        return True
    return None if interface.operstate is None and interface.running is None else False


@derived
def is_asked_for(interface: Interface, view: View) -> bool | None:
    """Do ranks of its host talk over it, or does a variable name it and no interface that has a link?"""
    host = view.host(interface.host)
    if host is None:
        return None
    for rank in ranks_of(host, view):
        if rank.bootstrap_interface is not None:
            view.note(rank, "bootstrap_interface")
            return rank.bootstrap_interface.name == interface.name
    return _is_named(host, interface, view)


def _is_named(host: Host, interface: Interface, view: View) -> bool | None:
    known = False
    for name in _LISTS:
        found = list_of(host, name, view)
        if found is None:
            continue
        setting, names = found
        known = True
        if names.exclude or names.matching(interface.name) is None:
            continue
        others = [other for other in host.interfaces if names.matching(other.name) is not None]
        if all(view.get(other, "is_dead") for other in others):
            view.note(setting)
            return True
    return False if known else None


@derived
def link_text(interface: Interface, view: View) -> str:
    """How it was printed: ``down``, ``no carrier``."""
    if interface.operstate in _DEAD:
        return str(interface.operstate)
    return "switched off" if interface.up is False else "no carrier"
