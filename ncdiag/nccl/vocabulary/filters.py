"""The lists of interfaces and devices that are in force on a host."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Job, Port, Rank, Setting
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View
from ncdiag.nccl.selection.names import NameList


def hca_list(host: Host, view: View) -> NameList | None:
    """The list of NCCL_IB_HCA in force on the host; None without one."""
    setting = view.setting(host, "NCCL_IB_HCA")
    if setting is None or not setting.is_set or not setting.text:
        return None
    version = view.version(host)
    return NameList.parse(setting.text, version.low if version and version.known else Version(2, 30, 7))


@derived
def should_be_used(port: Port, view: View) -> bool | None:
    """Does the job intend to use the port?

    True if NCCL_IB_HCA names it, if it is like ports that are active, or if no port is active. Where no rates are
    known, the only inactive port of several counts as like them.
    """
    host = view.host(port.host)
    if host is None:
        return None
    wanted = hca_list(host, view)
    if wanted is not None and wanted.items and not wanted.exclude:
        return wanted.admits(port.hca, port.number)
    others = [p for d in host.hcas for p in d.ports if (p.hca, p.number) != (port.hca, port.number)]
    active = [p for p in others if p.state == "active"]
    if any(p.hca == port.hca for p in active):
        return False  # the other port of the same card has the link
    if not active:
        return None if any(p.state is None for p in others) else True
    alike = [p for p in active if p.link_layer == port.link_layer]
    odd = len(alike) == len(others) > 1 and not any(p.rate_gbps for p in (port, *alike))
    if odd or any(p.rate_gbps == port.rate_gbps for p in alike if p.rate_gbps):
        return True
    return None if any(None in {p.rate_gbps, port.rate_gbps} for p in alike) else False


_NEWEST = Version(2, 30, 7)


def list_of(host: Host, name: str, view: View) -> tuple[Setting, NameList] | None:
    """The setting and its list; None where it is not known to be set."""
    setting = view.setting(host, name)
    if setting is None or not setting.is_set or not setting.text:
        return None
    version = view.version(host)
    return setting, NameList.parse(setting.text, version.low if version and version.known else _NEWEST)


_LISTS = ("NCCL_SOCKET_IFNAME", "NCCL_IB_HCA")


@derived
def unheeded_settings(job: Job, view: View) -> tuple[Setting, ...]:
    """Variables that one host obeys and another cannot have set alike, since it uses what the list excludes."""
    told = {s.name: s for s in job.settings if s.name in _LISTS and s.is_set and s.text}
    return tuple(setting for setting in told.values() if _is_contradicted(setting, view))


def _is_contradicted(setting: Setting, view: View) -> bool:
    obeying, against = set(), {}
    for rank in view.job.ranks:
        host, version = view.host(rank.host), view.version(rank)
        wanted = NameList.parse(setting.text or "", version.low if version and version.known else _NEWEST)
        names = list(_chosen(rank, setting.name))
        if names and any(wanted.admits(name) for name in names):
            obeying.add(rank.host)
        elif names and setting.name not in rank.settings and (host is None or setting.name not in host.settings):
            against[rank.host] = rank
    if not obeying or not against.keys() - obeying:
        return False
    view.note(setting)
    for rank in list(against.values())[:1]:
        view.note(rank, "bootstrap_interface" if setting.name == _LISTS[0] else "net_devices")
    return True


def _chosen(rank: Rank, variable: str) -> Iterator[str]:
    """The names that NCCL chose on the rank under the variable (NCCL_OOB_NET_IFNAME may affect the bootstrap only)."""
    if variable == "NCCL_IB_HCA":
        yield from (name for device in rank.net_devices or () for name in device.name.split("+"))
    elif rank.socket_interfaces:
        yield from (interface.name for interface in rank.socket_interfaces)
    elif rank.bootstrap_interface is not None:
        yield rank.bootstrap_interface.name
