"""Queue pairs between cards of different networks, and transfers that nobody acknowledged."""

from __future__ import annotations

import ipaddress

from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.messages.vocabulary.reasons import reason

_NO_PXN = "NCCL_PXN_DISABLE"
_RETRIES_EXCEEDED = 12


@derived_of("ib-completion-error", "ucx-endpoint-timeout")
def is_never_acknowledged(event: Event, view: View) -> bool:
    """Did a transfer fail without any acknowledgement: did the card, or UCX with its own retries, time out?"""
    return event.event != "ib-completion-error" or event.fields.get("status") == _RETRIES_EXCEEDED


@derived_of("ib-modify-qp-failed", "ib-completion-error")
def crosses_subnets(event: Event, view: View) -> bool | None:
    """Did a queue pair fail to reach a GID outside the IP network of its own card?

    None when the prefix length of that network was not shown.
    """
    refused = event.event == "ib-modify-qp-failed" and reason(event, view) in {"unreachable", "timed-out"}
    if not (refused or is_never_acknowledged(event, view)):
        return False
    local, remote = (ipv4_of(event.fields.get(name)) for name in ("local_gid", "remote_gid"))
    if local is None or remote is None:
        return None
    beyond = is_beyond(event, local, remote, view)
    if beyond is None and _is_sent_across(event, local, remote, view):
        return True
    return beyond


def is_beyond(event: Event, local: ipaddress.IPv4Address, remote: ipaddress.IPv4Address, view: View) -> bool | None:
    """Is an address outside the network of the interface that has the other one? None where no host shows it."""
    for host in view.job.hosts:
        for interface in host.interfaces:
            for address in interface.addresses or ():
                if address.ip == str(local) and address.prefix_len is not None:
                    view.note(event)
                    view.note(interface)
                    network = ipaddress.ip_network(f"{address.ip}/{address.prefix_len}", strict=False)
                    return remote not in network
    return None


def _is_sent_across(event: Event, local: ipaddress.IPv4Address, remote: ipaddress.IPv4Address, view: View) -> bool:
    """Without the prefix: does NCCL, without PXN, connect cards of a host with several whose addresses differ early?

    A rail has a network of 256 addresses or fewer; PXN is what keeps connections on their rails.
    """
    setting = view.setting(view.host(event.host) or view.job, _NO_PXN) or view.setting(view.job, _NO_PXN)
    cards = max((len(rank.net_devices or ()) for rank in view.job.ranks), default=0)
    if setting is None or setting.number != 1 or cards <= 1 or int(local) >> 8 == int(remote) >> 8:
        return False
    view.note(event)
    view.note(setting)
    return True


def ipv4_of(gid: object) -> ipaddress.IPv4Address | None:
    """The IPv4 address in a GID; None without one."""
    address = ip_address(str(gid)) if gid else None
    if isinstance(address, ipaddress.IPv6Address):
        return address.ipv4_mapped
    return address if isinstance(address, ipaddress.IPv4Address) else None
