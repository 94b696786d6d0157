"""The lists of interfaces and devices that are in force on a host."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Hca, Host, Job, Port, Rank, Setting
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

    True if NCCL_IB_HCA names it, if it is like ports that are active (of one model or one rate), if NCCL uses the port
    of this name on another host and all that it uses here there as well, or if no port is active; False for the second
    port of a card whose other port is active. Where no rates are known, the only inactive port of several counts as
    like them. The model decides before the rate: a port without a link shows a default rate.
    """
    host = view.host(port.host)
    if host is None:
        return None
    wanted = hca_list(host, view)
    if wanted is not None and wanted.items and not wanted.exclude:
        return wanted.admits(port.hca, port.number)
    others = [p for d in host.hcas for p in d.ports if (p.hca, p.number) != (port.hca, port.number)]
    active = [p for p in others if p.state == "active"]
    card = {hca.name: hca for hca in host.hcas}
    if any(_on_one_card(card[p.hca], card[port.hca]) for p in active):
        return False  # the other port of the same card has the link
    if not active:
        return None if any(p.state is None for p in others) else True
    alike = [p for p in active if p.link_layer == port.link_layer]
    if any(_of_one_model(card[p.hca], card[port.hca]) for p in alike) or _is_used_elsewhere(port, view):
        return True
    odd = len(alike) == len(others) > 1
    return _fits_rates(port, alike, odd=odd)


def _is_used_elsewhere(port: Port, view: View) -> bool:
    """Does NCCL on another host of the job use a port of this name, besides all that it uses on this one?"""
    used: dict[str | None, set[tuple[str, int | None]]] = {}
    layer = "IB" if port.link_layer == "InfiniBand" else "RoCE"
    for rank in view.job.ranks:
        for device in rank.net_devices or ():
            if device.link_layer == layer:
                used.setdefault(rank.host, set()).add((device.name, device.port))
    here = used.pop(port.host, set())
    wanted = {*here, (port.hca, port.number)}
    if wanted != here and any(wanted <= there for there in used.values()):
        for rank in view.job.ranks:
            view.note(rank)
        return True
    return False


def _fits_rates(port: Port, alike: list[Port], *, odd: bool) -> bool | None:
    """Has an active port of its layer the rate of this one? ``odd``: the port is the only inactive one of several."""
    if odd and not any(p.rate_gbps for p in (port, *alike)):
        return True
    if any(p.rate_gbps == port.rate_gbps for p in alike if p.rate_gbps):
        return True
    return None if any(None in {p.rate_gbps, port.rate_gbps} for p in alike) else False


_GUIDS_OF_A_CARD = 8
"""A card of two ports that shows each as a device numbers them one after the other."""


def _on_one_card(one: Hca, other: Hca) -> bool:
    """Are the two devices ports of one card: the same device, functions of one PCI slot, or else neighbours by GUID?"""
    if one.name == other.name:
        return True
    if one.bus_id and other.bus_id:
        return one.bus_id[:-1] == other.bus_id[:-1]
    if not one.node_guid or not other.node_guid:
        return False
    first, second = (int(guid.replace(":", ""), 16) for guid in (one.node_guid, other.node_guid))
    return 0 < abs(first - second) < _GUIDS_OF_A_CARD


def _of_one_model(one: Hca, other: Hca) -> bool:
    """Are both of one model, as ibstat or ibv_devinfo names it?"""
    return any(name and name == again for name, again in ((one.board_id, other.board_id), (one.board, other.board)))


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
