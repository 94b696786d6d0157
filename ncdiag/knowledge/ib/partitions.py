"""InfiniBand partitions: the key with which a host sends, and whether the hosts of a job share a partition.

Sources: InfiniBand Architecture Specification, volume 1, 10.9 (a full member has bit 15 set; two limited members cannot
communicate); NCCL src/transport/net_ib.cc (NCCL_IB_PKEY is an index into the port's table).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Job, Port
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.partitions import FULL, infiniband_ports, key_at
from ncdiag.knowledge.ib.completions import uses_infiniband

_PARTITION = 0x7FFF
Keys = frozenset[int]


@derived
def pkey_index(host: Host, view: View) -> int | None:
    """The index into the partition tables that NCCL uses on this host; None where it selects by value."""
    by_value = view.setting(host, "NCCL_IB_PKEY_VALUE")
    if by_value is not None and by_value.is_set:
        return None
    chosen = view.setting(host, "NCCL_IB_PKEY")
    if chosen is None or not chosen.is_set:
        return 0
    view.note(chosen)
    return chosen.number


@derived
def unused_full_key(port: Port, view: View) -> str | None:
    """Another entry of the port's table than the one that NCCL uses, in which it is a full member: ``1 (0x8012)``.

    Empty where the entry that NCCL uses is a full membership, or where it is the only one; None where the table was not
    shown. The default partition of a cloud machine is often a limited membership, and that of the job another entry.
    """
    host = view.host(port.host)
    index = pkey_index(host, view) if host is not None else None
    if port.pkeys is None or index is None:
        return None
    if key_at(port, index) & FULL:
        return ""
    full = [(n, key) for n, key in enumerate(port.pkeys) if n != index and int(key, 16) & FULL]
    if not full:
        return ""
    view.note(port, "pkeys")
    return f"{full[0][0]} ({full[0][1]})"


@derived
def full_key_index(port: Port, view: View) -> int | None:
    """The index of that entry; None without one."""
    found = unused_full_key(port, view)
    return int(found.partition(" ")[0]) if found else None


@derived
def partition_problem(job: Job, view: View) -> str | None:
    """A sentence about hosts whose InfiniBand ports cannot connect; empty for none, None if no two hosts were seen."""
    groups: dict[Keys, list[Host]] = defaultdict(list)
    for host in job.hosts:
        index = pkey_index(host, view)
        ports = [port for port in infiniband_ports(host, view) if port.pkeys is not None]
        if index is None or not ports:
            continue
        keys = frozenset(key_at(port, index) for port in ports)
        if not any(key & _PARTITION for key in keys):
            _note(host, view)
            return f"entry {index} of the partition table of {ports[0].hca} on {host.name} is empty"
        groups[keys].append(host)
    if sum(map(len, groups.values())) < 2:  # noqa: PLR2004  (it takes two to talk)
        return "" if uses_infiniband(job, view) is False else None
    return next(_silent_pairs(groups, view), "")


def _silent_pairs(groups: dict[Keys, list[Host]], view: View) -> Iterator[str]:
    """A sentence for each two hosts that cannot communicate, from groups of hosts with equal keys."""
    for keys, hosts in groups.items():
        if len(hosts) > 1 and not _talk(keys, keys):
            yield _told(hosts[0], hosts[1], f"are both limited members of their partition ({_hex(keys)})", view)
    for (keys, hosts), (others, there) in combinations(groups.items(), 2):
        if not _talk(keys, others):
            what = f"are in no common InfiniBand partition ({_hex(keys)} and {_hex(others)})"
            if {key & _PARTITION for key in keys} & {key & _PARTITION for key in others}:
                what = f"are both limited members of their partition ({_hex(keys)} and {_hex(others)})"
            yield _told(hosts[0], there[0], what, view)


def _talk(keys: Iterable[int], others: Iterable[int]) -> bool:
    return any(a & _PARTITION and (a & _PARTITION) == (b & _PARTITION) and (a | b) & FULL for a in keys for b in others)


def _told(host: Host, other: Host, what: str, view: View) -> str:
    _note(host, view)
    _note(other, view)
    return f"{host.name} and {other.name} {what}"


def _note(host: Host, view: View) -> None:
    for port in infiniband_ports(host, view):
        view.note(port, "pkeys")


def _hex(keys: Keys) -> str:
    return ", ".join(f"{key:#06x}" for key in sorted(keys))
