"""Addresses that hosts cannot use: of another family than asked for, in a network without a route, a GID of RoCE v1."""

from __future__ import annotations

from ncdiag.facts.model import Host
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View, derived
from ncdiag.nccl.on_host.in_force import settings_of
from ncdiag.nccl.selection import sockets

_FAMILY = "NCCL_SOCKET_FAMILY"


@derived
def family_leaves_nothing(host: Host, view: View) -> bool | None:
    """Does NCCL_SOCKET_FAMILY leave no usable address where without it there is one?"""
    setting = view.setting(host, _FAMILY)
    if setting is None or not isinstance(setting.effective, str):
        return None if setting is None else False
    for event in view.events_on(host.name, ["no-socket-interface"]):
        view.note(event)
        view.note(setting)
        return True
    if "interfaces" not in host.complete:
        return None
    settings = settings_of(host, view)
    rest = {name: text for name, text in settings.items() if name != _FAMILY}
    chosen = sockets.bootstrap(host.interfaces, settings, view.version(host))
    free = sockets.bootstrap(host.interfaces, rest, view.version(host))
    if not chosen.known or not free.known:
        return None
    view.note(setting)
    for interface in host.interfaces:
        view.note(interface)
    return free.error is None and not _is_local(free) and (chosen.error is not None or _is_local(chosen))


def _is_local(choice: sockets.Choice) -> bool:
    address = ip_address(choice.interfaces[0].address or "") if choice.interfaces else None
    return address is not None and (address.is_link_local or address.is_loopback)
