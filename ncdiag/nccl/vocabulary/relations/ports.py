"""Addresses of InfiniBand ports that cannot be right, alone or beside those of another host.

Sources: Linux include/rdma/ib_verbs.h (IB_MULTICAST_LID_BASE) and drivers/infiniband/core/verbs.c (a port that requires
a global route header has no LID); NCCL src/transport/net_ib (inside a subnet it addresses a peer by its LID alone, and
compares the last 16 bits of two subnet prefixes).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from ncdiag.facts.model import Job, Port, Relation
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.probes import lines_of

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


def _ports(job: Job) -> Iterator[Port]:
    """The active InfiniBand ports of all hosts."""
    for port in (port for host in job.hosts for hca in host.hcas for port in hca.ports):
        if port.link_layer == "InfiniBand" and port.state == "active":
            yield port
