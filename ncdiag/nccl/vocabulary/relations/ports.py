"""Addresses of InfiniBand ports that cannot be right, alone or beside those of another host.

Sources: Linux include/rdma/ib_verbs.h (IB_MULTICAST_LID_BASE) and drivers/infiniband/core/verbs.c (a port that requires
a global route header has no LID); NCCL src/transport/net_ib (inside a subnet it addresses a peer by its LID alone, and
compares the last 16 bits of two subnet prefixes).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from ncdiag.facts.model import Hca, Job, Port, Relation
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.outcome import is_open_failure
from ncdiag.facts.vocabulary.probes import lines_of
from ncdiag.nccl.selection.devices import most_ports

_OF_DEVICE, _OF_PORT = ("board", "board_id"), ("lid", "state", "sm_lid")
"""What one device has only once, and each of its ports."""
_SEVERAL = 3
"""The smallest number of cards among which one can be an exception."""
_MULTICAST = 0xC000
"""The first LID that is not that of one port."""
_COMPARED = slice(15, 19)
"""The last 16 bits of the subnet prefix in a GID that is written in full."""


def port_without_lid(job: Job, _view: View) -> Iterator[Relation]:
    """An active InfiniBand port whose LID is 0, or not one that a port can have."""
    for port in _ports(job):
        if port.lid is not None and not 0 < port.lid < _MULTICAST:
            text = f"{port.hca} on {port.host} is active and has LID {port.lid}, which no port can have"
            yield Relation(what="port-without-lid", text=text, provenance=lines_of([port]))
            return


def port_without_manager(job: Job, _view: View) -> Iterator[Relation]:
    """An active InfiniBand port with a LID, which names LID 0 as that of its subnet manager."""
    for port in _ports(job):
        if port.sm_lid == 0 and port.lid:
            text = f"{port.hca} on {port.host} is active, and the LID of its subnet manager is 0"
            yield Relation(what="port-without-manager", text=text, provenance=lines_of([port]))
            return


def lid_twice(job: Job, _view: View) -> Iterator[Relation]:
    """Ports of one name on two hosts with one LID and one subnet manager's LID, whose devices have different GUIDs.

    Two pods of one machine see the same device, with one GUID; rails may be subnets of their own, with the same LIDs.
    """
    guids = {(hca.host, hca.name): hca.node_guid for host in job.hosts for hca in host.hcas if hca.node_guid}
    first: dict[tuple[object, ...], Port] = {}
    for other in (port for port in _ports(job) if port.lid and port.sm_lid and (port.host, port.hca) in guids):
        one = first.setdefault((other.hca, other.number, other.lid, other.sm_lid), other)
        if one.host != other.host and guids[one.host, one.hca] != guids[other.host, other.hca]:
            text = f"{one.hca} on {one.host} and on {other.host} both have LID {one.lid}, so they are in two subnets"
            yield Relation(what="lid-twice", text=text, provenance=lines_of([one, other]))
            return


def guid_twice(job: Job, view: View) -> Iterator[Relation]:
    """Different devices on two hosts with the same GUID; if none are shown, a message that a GUID exists twice.

    Two pods on one machine show the same device, whose board, LIDs and port states are then equal.
    """
    first: dict[str, Hca] = {}
    for other in (hca for host in job.hosts for hca in host.hcas if hca.node_guid and hca.node_guid.strip("0:")):
        one = first.setdefault(other.node_guid or "", other)
        if one.host != other.host and _apart(one, other):
            text = f"{one.name} on {one.host} and {other.name} on {other.host} both have the node GUID {one.node_guid}"
            yield Relation(what="guid-twice", text=text, provenance=lines_of([one, other]))
            return
    for event in job.events:
        if event.event == "ib-guid-duplicate" and is_open_failure(event, view):
            text = "two adapters or switches of the InfiniBand fabric have the same GUID"
            yield Relation(what="guid-twice", text=text, provenance=event.provenance)
            return


def _apart(one: Hca, other: Hca) -> bool:
    """Do two InfiniBand devices differ in their board, or in the LID or state of a port, so that they are not one?"""
    if not all(any(port.link_layer == "InfiniBand" for port in hca.ports) for hca in (one, other)):
        return False
    ports = {port.number: port for port in other.ports}
    twins = [(port, ports[port.number]) for port in one.ports if port.number in ports]
    sides = [(getattr(one, name), getattr(other, name)) for name in _OF_DEVICE]
    sides += [(getattr(here, name), getattr(there, name)) for here, there in twins for name in _OF_PORT]
    return any(here is not None and there is not None and here != there for here, there in sides)


def subnets_apart(job: Job, _view: View) -> Iterator[Relation]:
    """Two hosts whose InfiniBand ports have no subnet prefix in common."""
    held: dict[str, dict[str, Port]] = {}
    for port in _ports(job):
        first = next((gid for gid in port.gids if gid.index == 0 and gid.address), None)
        if first is not None and first.address is not None:
            held.setdefault(port.host, {})[first.address[_COMPARED].lower()] = port
    for one, other in combinations(held.values(), 2):
        if one.keys().isdisjoint(other):
            ports = next(iter(one.values())), next(iter(other.values()))
            text = f"the InfiniBand ports of {ports[0].host} and {ports[1].host} have no subnet prefix in common"
            yield Relation(what="subnets-apart", text=text, provenance=lines_of(ports))
            return


def onboard_listed(job: Job, _view: View) -> Iterator[Relation]:
    """NCCL uses the RDMA card of an on-board interface, over which its ranks also connect first, together with others.

    systemd names on-board interfaces ``eno...``; they are usually slow ports for management.
    """
    named = {(host.name, i.hca): i for host in job.hosts for i in host.interfaces if i.hca}
    boards = {key: interface for key, interface in named.items() if interface.name.startswith("eno")}
    for rank in job.ranks:
        names = {device.name for device in rank.net_devices or ()}
        own = sorted(name for name in names if (rank.host, name) in boards)
        if len(own) != 1 or len(names) < _SEVERAL or not any((rank.host, name) in named for name in names - {*own}):
            continue
        interface = boards[rank.host, own[0]]
        if rank.oob_interface is not None and rank.oob_interface.name == interface.name:
            text = f"NCCL lists {own[0]} of the on-board interface {interface.name} with {len(names) - 1} other cards"
            yield Relation(what="onboard-listed", text=text, provenance=lines_of([rank, interface]))
            return


def list_full(job: Job, _view: View) -> Iterator[Relation]:
    """A rank lists the maximum number of RDMA ports that NCCL can use: 32, or 16 before 2.18.5 (MAX_IB_DEVS)."""
    for rank in job.ranks:
        count = len({(device.name, device.port) for device in rank.net_devices or ()})
        if count == most_ports(rank.nccl_version.low if rank.nccl_version is not None else None):
            text = f"a rank lists {count} RDMA ports, the maximum that its NCCL can use"
            yield Relation(what="list-full", text=text, provenance=lines_of([rank]))
            return


def _ports(job: Job) -> Iterator[Port]:
    """The active InfiniBand ports of all hosts."""
    for port in (port for host in job.hosts for hca in host.hcas for port in hca.ports):
        if port.link_layer == "InfiniBand" and port.state == "active":
            yield port
