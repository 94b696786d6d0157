"""The GID that NCCL uses on a port, and distances by name."""

from __future__ import annotations

from ncdiag.facts.model import Gid, GidType, Host, Port
from ncdiag.facts.view import View, derived
from ncdiag.nccl.on_host import chosen
from ncdiag.nccl.on_host.in_force import settings_of
from ncdiag.nccl.selection.gid import GidChoice


def _choice(port: Port, view: View) -> GidChoice | None:
    host = view.host(port.host)
    return chosen.gid(view, port, settings_of(host, view), view.version(host)) if host is not None else None


@derived
def chosen_gid_type(port: Port, view: View) -> GidType | None:
    """The type of the GID that NCCL uses on this port with the settings and version at hand."""
    choice = _choice(port, view)
    if choice is None or not choice.known or choice.entry is None:
        return None
    view.note(choice.entry)
    return choice.entry.type


@derived
def chosen_gid_is_bad(port: Port, view: View) -> bool | None:
    """Is the entry in force empty, of RoCE v1, or without a routable address? None when it was not seen."""
    choice = _choice(port, view)
    if choice is None or not choice.known:
        return None
    if choice.entry is None:
        return True if port.gids_complete else None
    view.note(choice.entry)
    return _is_bad(choice.entry)


def _is_bad(gid: Gid) -> bool | None:
    if gid.type in {"IB", "RoCE v1"}:
        return True
    if gid.ip is not None:
        return None if gid.type is None else False
    if gid.address is not None and (gid.address.lower().startswith("fe80") or set(gid.address) <= set("0:")):
        return True
    return None if gid.type is None or gid.address is None else False


@derived
def has_routable_gid(port: Port, view: View) -> bool | None:
    """Does the port's table hold a RoCE v2 entry with an address that travels beyond the link?"""
    verdicts = [_is_bad(gid) for gid in port.gids]
    if False in verdicts:
        view.note(port.gids[verdicts.index(False)])
        return True
    return None if None in verdicts or not port.gids_complete else False


@derived
def misses_ipv6_gid(port: Port, view: View) -> bool | None:
    """Does NCCL, choosing by itself, take a bad entry although the table has good ones, of IPv6 alone?

    It looks for IPv4 unless NCCL_IB_ADDR_FAMILY says AF_INET6; without a match it stays at entry 0.
    """
    host = view.host(port.host)
    settings = settings_of(host, view) if host is not None else {}
    pinned = settings.get("NCCL_IB_GID_INDEX", "-1") != "-1"
    if pinned or settings.get("NCCL_IB_ADDR_FAMILY") == "AF_INET6" or any(gid.ip is not None for gid in port.gids):
        return False
    good = next((gid for gid in port.gids if gid.type == "RoCE v2" and _is_bad(gid) is False), None)
    if good is None:
        return False if port.gids_complete else None
    view.note(good)
    bad: bool | None = view.get(port, "chosen_gid_is_bad")
    return bad


@derived
def chosen_gid_text(port: Port, view: View) -> str:
    """For people: ``a link-local RoCE v2 address (fe80::1)``."""
    choice = _choice(port, view)
    if choice is None or not choice.known:
        return "an unknown entry"
    if choice.entry is None:
        return "an empty entry"
    gid = choice.entry
    local = "a link-local " if (gid.address or "").lower().startswith("fe80") else "a "
    return f"{local}{gid.type or 'GID'} address ({gid.ip or gid.address})"


@derived
def gid_zero_is_good(host: Host, view: View) -> bool | None:
    """Is entry 0 of every RoCE port of this host a usable RoCE v2 address?"""
    zero = [g for d in host.hcas for p in d.ports for g in p.gids if g.index == 0]
    verdicts = [_is_bad(g) for g in zero]
    if not verdicts or None in verdicts:
        return None
    return not any(verdicts)
