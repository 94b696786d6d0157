"""A host without its individual properties, so that hosts that are alike for NCCL become equal.

A cluster has hundreds of hosts that differ only in names, addresses and serial numbers. NCCL's choice is computed on a
host without these, in a job with that host only: it cannot depend on anything else, so it is the same for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import msgspec

from ncdiag.facts.model import Address, Fact, Gid, Hca, Host, Interface, Job, Port, Setting
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.nccl import environment
from ncdiag.nccl.selection.gid import without_place

_BY_ADDRESS = frozenset({"NCCL_COMM_ID", "NCCL_IB_ADDR_RANGE"})
"""Variables with which a choice depends on the addresses themselves, not only on their kind."""
_NOT_READ = {name: getattr(Host(name=""), name) for name in (
    "called", "kernel_command_line", "memory_bytes", "memory_available_bytes", "routes", "mounts", "limits", "services",
    "sysctls", "clock_offset_seconds", "listening_ports", "port_programs", "lid_counters", "unnamed_nic_counters",
    "process_cpus", "checks", "route_answers",
)}  # fmt: skip
"""Fields of a host that do not affect which network, ports and paths NCCL uses."""
_NOT_READ_OF = {
    "gpus": dict.fromkeys(("uuid", "power_watts", "sm_clock_mhz", "load_percent", "nvlink_errors", "slowdowns")),
    "modules": dict.fromkeys(("size", "used_by", "users")),
    "pci": {},
    "links": {},
    "libraries": {},
    "npus": {},
}


T = TypeVar("T")
F = TypeVar("F", bound=Fact)


class Nameless(NamedTuple):
    """Such a host, and a job that contains nothing else."""

    host: Host
    view: View


def of_like(host: Host, view: View, what: str, find: Callable[[Host, View], T]) -> T:
    """Return ``find(host, view)``, computed once for all hosts that are alike for NCCL; ``what`` names the question.

    The result may name devices and interfaces, but neither the host nor its addresses.
    """
    like = nameless(host, view)
    return find(host, view) if like is None else like.view.remembered((what,), lambda: find(like.host, like.view))


def nameless(host: Host, view: View) -> Nameless | None:
    """Return the host without its individual properties, the same object for all that are alike.

    None where more than the host itself decides (its ranks, a topology file), and for a host other than the view's.
    """
    if view.hosts.get(host.name) is not host or view.ranks_on(host.name) or view.job.topologies:
        return None
    return view.remembered(("nameless", host.name), lambda: _known(host, view))


def _known(host: Host, view: View) -> Nameless:
    shared, own = view.remembered(("settings by host",), lambda: _by_host(view.job))
    settings = [*shared, *map(_plain, own.get(host.name, ()))]
    like = _without_names(host, view, keep_addresses=any(setting.name in _BY_ADDRESS for setting in settings))
    job = Job(hosts=(like,), settings=tuple(settings))
    key = "alike", msgspec.msgpack.encode(job)
    return view.remembered(key, lambda: Nameless(like, View(job, environment.resolve_fields)))


def _by_host(job: Job) -> tuple[list[Setting], dict[str, list[Setting]]]:
    """The settings that belong to no host, and those of each host."""
    own: dict[str, list[Setting]] = {}
    for setting in job.settings:
        if setting.host is not None:
            own.setdefault(setting.host, []).append(setting)
    return [_plain(setting) for setting in job.settings if setting.host is None], own


def _without_names(host: Host, view: View, *, keep_addresses: bool) -> Host:
    stand_ins: dict[str, str] = {}
    """Replacement addresses, by address; a host has each address once."""

    def address(one: Address) -> Address:
        ip = one.ip if keep_addresses else stand_ins.setdefault(one.ip, _stand_in(one.ip, len(stand_ins) + 1))
        return msgspec.structs.replace(one, ip=ip, peer=None)

    def interface(one: Interface) -> Interface:
        found = None if one.addresses is None else tuple(map(address, one.addresses))
        return _plain(one, mac=None, counters=None, addresses=found)

    def gid(one: Gid) -> Gid:
        return _plain(one) if keep_addresses else _plain(without_place(one))

    def port(one: Port) -> Port:
        return _plain(one, gids=tuple(map(gid, one.gids)), counters=None, counter_deltas=None, lid=None)

    def hca(one: Hca) -> Hca:
        return _plain(one, ports=tuple(map(port, one.ports)), node_guid=None, resources=None)

    parts = {
        field: tuple(_plain(one, **nothing) for one in getattr(host, field)) for field, nothing in _NOT_READ_OF.items()
    }
    settings = {
        field: {name: _plain(setting) for name, setting in getattr(host, field).items()}
        for field in ("settings", "conf_settings")
    }
    return msgspec.structs.replace(
        host, **{**_NOT_READ, **parts, **settings}, name="", provenance={}, nccl_version=view.version(host),
        interfaces=tuple(map(interface, host.interfaces)), hcas=tuple(map(hca, host.hcas)),
    )  # fmt: skip


def _plain(fact: F, **changes: Any) -> F:  # noqa: ANN401  (values of any field)
    """The fact without its host and provenance, and with these changes."""
    if getattr(fact, "host", None) is not None:
        changes["host"] = ""
    return msgspec.structs.replace(fact, provenance={}, **changes)


def _stand_in(ip: str, number: int) -> str:
    """A documentation address of the same family and kind (RFC 5737, RFC 3849).

    An address that every host has is kept.
    """
    parsed = ip_address(ip)
    if parsed is None or parsed.is_loopback:
        return ip
    zone = "".join(ip.partition("%")[1:])
    if parsed.version == 4:  # noqa: PLR2004
        return f"192.0.2.{number}"
    return f"{'fe80' if parsed.is_link_local else '2001:db8'}::{number:x}{zone}"
