"""The truths of interfaces specimens, from the merged facts."""

from __future__ import annotations

from typing import Any

from ncdiag.facts.model import Interface, Job
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import is_virtual, likely_kind

FORMATS = (("[", "ip -j addr"), (": flags=", "ifconfig -a"), (": <", "ip addr"))


def truths(job: Job) -> dict[str, Any]:
    view = View(job)
    interfaces = [interface for host in job.hosts for interface in host.interfaces]
    first = interfaces[0].provenance[""].text if interfaces else ""
    found = next((name for mark, name in FORMATS if mark in first[: len(mark) if mark == "[" else None]), "ip -br addr")
    return {"interfaces": [_interface(interface, view) for interface in interfaces], "format": found}


def _interface(interface: Interface, view: View) -> dict[str, Any]:
    parsed = [(address, ip_address(address.ip)) for address in interface.addresses or ()]
    return {
        "name": interface.name,
        "up": interface.up,
        "running": interface.running,
        "mtu": interface.mtu,
        "operstate": interface.operstate.upper() if interface.operstate else None,
        "master": interface.master,
        "ipv4": next((a.ip for a, ip in parsed if ip is not None and ip.version == 4 and a.peer is None), None),
        "ipv6_link_local": any(ip is not None and ip.version == 6 and ip.is_link_local for _, ip in parsed),
        "parent": interface.parent or ("NONE" if f"{interface.name}@NONE:" in interface.provenance[""].text else None),
        "virtual": is_virtual(interface, view),
        "veth": likely_kind(interface, view) == "veth",
        "ipoib": likely_kind(interface, view) == "ipoib",
    }
