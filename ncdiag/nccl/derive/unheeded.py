"""Lists of names that are in force on one host, and that what another host chose contradicts."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.model import Job, Rank, Setting
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View, derived
from ncdiag.nccl.selection.names import NameList

_NEWEST = Version(2, 30, 7)
_LISTS = ("NCCL_SOCKET_IFNAME", "NCCL_IB_HCA")


@derived
def unheeded_settings(job: Job, view: View) -> tuple[Setting, ...]:
    """Variables that one host obeys, and that cannot be set alike on another one: it uses what the list shuts out."""
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
    """The names that NCCL chose on the rank under the variable (NCCL_OOB_NET_IFNAME may rule the bootstrap alone)."""
    if variable == "NCCL_IB_HCA":
        yield from (name for device in rank.net_devices or () for name in device.name.split("+"))
    elif rank.socket_interfaces:
        yield from (interface.name for interface in rank.socket_interfaces)
    elif rank.bootstrap_interface is not None:
        yield rank.bootstrap_interface.name
