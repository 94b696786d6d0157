"""Addresses of peers against their class, and against all addresses by which the hosts of the job are known."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Fact, Job, Relation
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.addresses import CONNECT_FAILURES, peer_ip
from ncdiag.facts.vocabulary.probes import lines_of

_FOR_MPI = lazy_regex(r"\b(?P<list>(?:btl|oob)_tcp_if_include)[ =][\"']?(?P<names>[\w.,:/-]{1,200})")
_SHARED = 22
"""The length of the prefix that hosts of one network usually share at least."""


def peer_elsewhere(job: Job, view: View) -> Iterator[Relation]:
    """A peer that does not answer announces an address outside the one network of all known addresses of hosts."""
    failed = [(event, ip) for event in job.events if event.event in CONNECT_FAILURES and (ip := peer_ip(event, view))]
    known = _known(job) if failed else {}
    if not known or len({_network(ip) for ip in known}) != 1:
        return
    for event, ip in failed:
        address = ip_address(ip)
        if (
            isinstance(address, ipaddress.IPv4Address)
            and address.is_private
            and _network(ip) != _network(next(iter(known)))
        ):
            shown = ", ".join(list(known)[:3])
            text = f"the peer announces {ip}, and hosts of the job are known by {shown}, in another network"
            yield Relation(what="peer-elsewhere", text=text, provenance=lines_of([event, *list(known.values())[:2]]))
            return


def _known(job: Job) -> dict[str, Fact]:
    """The IPv4 addresses by which hosts are named, with the fact that names each."""
    found: dict[str, Fact] = {}
    for launch in job.launches:
        for name in (launch.master_addr or "", *(host.name for host in launch.hosts)):
            found.setdefault(name, launch)
    for setting in job.settings:
        if setting.name == "MASTER_ADDR" and setting.text:
            found.setdefault(setting.text, setting)
    for event in job.events:
        if event.event == "meeting-place-given":
            found.setdefault(str(event.fields.get("given")), event)
    addresses = {text: ip_address(text) for text in found}
    return {
        text: found[text] for text, ip in addresses.items()
        if isinstance(ip, ipaddress.IPv4Address) and ip.is_private and not ip.is_loopback and not ip.is_unspecified
    }  # fmt: skip


def _network(ip: str) -> str:
    return str(ipaddress.ip_network(f"{ip}/{_SHARED}", strict=False))


def mpi_interface_missing(job: Job, _view: View) -> Iterator[Relation]:
    """A launch names interfaces for Open MPI's TCP, and a host whose interfaces are all shown has none of them."""
    listed = [(launch, found) for launch in job.launches for found in _FOR_MPI.finditer(launch.text)]
    for launch, found in listed:
        names = {name for name in found["names"].split(",") if name and not set(name) & set("/:.")}
        used = {host.name for host in launch.hosts}
        shown = [host for host in job.hosts if host.name in used and "interfaces" in host.complete]
        lacks = next((host for host in shown if names.isdisjoint(each.name for each in host.interfaces)), None)
        if names and lacks is not None:
            text = f"{found['list']} names {', '.join(sorted(names))}, which {lacks.name} does not have"
            yield Relation(what="mpi-interface-missing", text=text, provenance=lines_of([launch]))
            return
