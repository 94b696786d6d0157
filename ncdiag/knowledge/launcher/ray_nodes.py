"""Nodes of Ray that its head declared dead or does not know, and the addresses that they had announced."""

from __future__ import annotations

import ipaddress

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure

_LOST = "ray-node-lost"
_AWAITED = "ray-gpus-awaited"
_NAMED = lazy_regex(r"'node:([^'\n]{1,253})'")
"""The resource with its address in the name that each node of Ray provides."""
_GONE = frozenset({"host-withdrawn", "node-failed", "job-cancelled"})
"""Lines about a machine that went down, or was taken away with its processes."""
BEHIND_NAT = "which is behind a NAT or a VPN"
_UNFIT = (
    (ipaddress.ip_network("172.17.0.0/16"), "which is in Docker's default bridge"),
    (ipaddress.ip_network("192.168.122.0/24"), "which is in libvirt's default bridge for virtual machines"),
    (ipaddress.ip_network("100.64.0.0/10"), BEHIND_NAT),
)
"""Networks that exist only inside a host (docker0, virbr0), and that of providers' NAT, which Tailscale uses too."""


@derived_of(_LOST)
def is_ray_node_unreached(event: Event, view: View) -> bool:
    """Did the head lose a node for good, and nothing else say that the machine went down or was taken away?"""
    return is_open_failure(event, view) and not any(other.event in _GONE for other in view.job.events)


@derived
def at_ray_node(event: Event, view: View) -> str:
    """Where the node is, `` (10.0.0.4)``; empty where the line does not say."""
    address = event.fields.get("node_address")
    return f" ({address})" if address else ""


@derived
def ray_address_unfit(event: Event, view: View) -> str:
    """Why other hosts can hardly reach the announced address; empty where nothing is against it."""
    try:
        address = ipaddress.ip_address(str(event.fields.get("node_address", "")))
    except ValueError:
        return ""
    if address.is_loopback:
        return "which is the loopback"
    if address.is_link_local:
        return "which is a link-local address"
    return next((words for network, words in _UNFIT if address in network), "")


@derived_of(_AWAITED)
def asks_ray_for_name(event: Event, view: View) -> bool:
    """Does the program ask Ray for a host by name? Ray never provides it, since it knows its nodes by IP address."""
    return named_ray_node(event, view) != ""


@derived
def named_ray_node(event: Event, view: View) -> str:
    """The host name with which the program asks Ray for a node, ``gpu-7.example.org``; empty if it gives an address."""
    names = (found[1] for found in _NAMED.finditer(event.text)) if event.event == _AWAITED else ()
    return next((name for name in names if ip_address(name) is None and not name.startswith("__")), "")
