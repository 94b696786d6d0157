"""Networks that differ between the ranks of a job, and bonds with a failed member."""

from __future__ import annotations

from collections import defaultdict

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_of
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Difference, Event, Interface, Job, Rank
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.addresses import STORE_UNREACHED
from ncdiag.facts.vocabulary.comparisons import who
from ncdiag.facts.vocabulary.interfaces import is_dead

_SOCKET_TYPES = {3: "Socket", 4: "IB"}
"""The kinds of sockets in NCCL's handshake (ncclSocketType, src/include/socket.h)."""

_TO_COORDINATOR = STORE_UNREACHED | {"ray-connect-failed"}
"""Failures to reach the process to which all others of a job connect first."""


@derived
def networks_in_use(job: Job, view: View) -> tuple[Difference, ...]:
    """The networks of each communicator's ranks, by their own lines or by a failed handshake between two sides.

    Where no line names the communicator, hosts and rank numbers must differ, since a paste may hold two runs.
    """
    found: list[Difference] = []
    members: dict[str | None, list[Rank]] = defaultdict(list)
    for rank in job.ranks:
        if rank.net is not None:
            members[rank.communicator].append(rank)
    for communicator, ranks in members.items():
        nets: dict[str, list[Rank]] = defaultdict(list)
        for rank in ranks:
            nets[rank.net or ""].append(rank)
        if communicator is not None or _are_apart(list(nets.values())):
            spans = {net: span for net, some in nets.items() if (span := some[0].provenance.get("net"))}
            groups = {net: who(some, sorted({r.host for r in some})) for net, some in nets.items()}
            found.append(Difference(what="net", name="net", groups=groups, provenance=spans))
    return (*found, *(_of_handshake(e) for e in job.events if _is_mixed_handshake(e)))


@derived
def switched_off_on(job: Job, view: View) -> str:
    """The hosts on which alone NCCL_IB_DISABLE switches RDMA off, while ranks elsewhere use it; empty for none."""
    used = {rank.host for rank in job.ranks if rank.net not in {None, "Socket"}}
    hosts = set[str]()
    for host in job.hosts:
        setting = view.setting(host, "NCCL_IB_DISABLE")
        if setting is not None and setting.is_set and setting.effective not in {0, "0", None} and host.name not in used:
            view.note(setting)
            hosts.add(host.name)
    return fold_hosts(hosts) if hosts and used else ""


@derived
def is_mixed(difference: Difference, view: View) -> bool:
    """Are there two or more values in the difference?"""
    for span in difference.provenance:
        view.note(difference, span)
    return len(difference.groups) > 1


def _are_apart(groups: list[list[Rank]]) -> bool:
    """Are the groups disjoint, without a common host or rank number?"""
    hosts = [{r.host for r in group} for group in groups]
    numbers = [{r.rank for r in group if r.rank is not None} for group in groups]
    return all(sum(map(len, some)) == len(set().union(*some)) for some in (hosts, numbers))


def _is_mixed_handshake(event: Event) -> bool:
    pair = {event.fields.get("peer_type"), event.fields.get("expected_type")}
    return event.event == "socket-wrong-type" and pair == set(_SOCKET_TYPES)


def _of_handshake(event: Event) -> Difference:
    own = _SOCKET_TYPES[int(event.fields["expected_type"] or 0)]
    other = _SOCKET_TYPES[int(event.fields["peer_type"] or 0)]
    host = event.host or "a rank"
    groups = {own: host, other: f"its peer {event.peer}" if event.peer else "its peer"}
    return Difference(what="net", name="net", groups=groups, provenance=event.provenance)


@derived
def dead_members(interface: Interface, view: View) -> str:
    """The members of a bond that have no link; empty where all have one."""
    host = view.host(interface.host)
    members = [i for i in host.interfaces if i.master == interface.name] if host is not None else []
    dead = [member for member in members if is_dead(member, view)]
    for member in dead:
        view.note(member)
    return ", ".join(member.name for member in dead)


@derived
def member_count(interface: Interface, view: View) -> int:
    """The number of members that the bond was seen with."""
    host = view.host(interface.host)
    return sum(i.master == interface.name for i in host.interfaces) if host is not None else 0


_USB_DRIVERS = frozenset({
    "r8152", "ax88179_178a", "asix", "aqc111", "cdc_ether", "cdc_ncm", "cdc_eem", "cdc_mbim", "rndis_host", "smsc75xx",
    "smsc95xx", "lan78xx", "dm9601", "rtl8150", "pegasus", "mcs7830", "qmi_wwan",
})  # fmt: skip
"""Drivers of linux drivers/net/usb: adapters of a desk, telephones, and the network that a BMC offers to its host."""
_USB_NAME = lazy_regex(r"enx[0-9a-f]{12}|usb\d{1,2}|wwan\d{1,2}")
"""Names of their interfaces, as systemd (enx and the MAC address) and the kernel give them."""


@derived_of("transmit-timeout")
def is_on_usb(event: Event, view: View) -> bool:
    """Is the interface one of a USB adapter, which carries no traffic of a job?"""
    named = _USB_NAME.fullmatch(str(event.fields.get("interface", "")))
    return named is not None or event.fields.get("driver") in _USB_DRIVERS


@derived_of(*_TO_COORDINATOR)
def is_refused_at_web_port(event: Event, view: View) -> bool:
    """Did a process fail to reach its coordinator at port 80 or 443, where usually only web proxies listen?"""
    peer = str(event.peer or event.fields.get("peer_address", "")).rstrip(".")
    return peer.endswith((":80", ":443")) or event.fields.get("port") in {80, 443}
