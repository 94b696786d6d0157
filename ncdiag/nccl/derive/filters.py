"""What the user's interface and device lists leave on a host."""

from __future__ import annotations

import re

from ncdiag.facts.model import COLLECTION_KINDS, Host, Job, Port, Setting
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View, derived
from ncdiag.nccl.on_host.in_force import CONF, settings_of
from ncdiag.nccl.selection import sockets
from ncdiag.nccl.selection.names import NameList


@derived
def socket_filter_matches_nothing(host: Host, view: View) -> bool | None:
    """True if NCCL_SOCKET_IFNAME leaves no interface on this host: by NCCL's own words, else by the interfaces.

    None where neither tells, or where it is not known whether the variable is set.
    """
    for event in view.events_on(host.name, ["no-socket-interface"]):
        view.note(event)
        return True
    if any(r.bootstrap_interface is not None for r in view.ranks_on(host.name)):
        return False
    for interface in host.interfaces:
        view.note(interface)
    if "interfaces" not in host.complete or view.setting(host, "NCCL_SOCKET_IFNAME") is None:
        return None
    choice = sockets.bootstrap(host.interfaces, settings_of(host, view), view.version(host))
    return choice.error is not None if choice.known else None


_LISTS_ALL = COLLECTION_KINDS["hcas"] | {"rdma_link", "ibv_devices", "infiniband_class"}
"""Section kinds that name every RDMA device of a host, whatever else they print about it."""
_LISTS_WITH_NETDEV = "ibdev2netdev"
_BY_PLACE = re.compile(r"(?:roce|ib)[psoxd]\w+$")
"""A device that udev named by its place, as it then names all (rdma-core kernel-boot/rdma-persistent-naming.rules)."""
_BY_NUMBER = re.compile(r"=?(?:mlx[45]|bnxt_re|irdma|hns)_?\d")
"""One with the kernel's own name."""
_DRIVERS = frozenset(
    {"mlx", "mlx5", "mlx4", "bnxt_re", "irdma", "ionic", "erdma", "hns", "efa", "rdmap", "rocep", "ibp"}
)
"""How the names of all devices of one driver, or of udev's naming by PCI place, begin (rdma-core, kernel-boot)."""


@derived
def variables_told(job: Job, view: View) -> tuple[str, ...]:
    """The NCCL variables of which anything is known, looked up once for all hosts."""
    return tuple(sorted({s.name for s in job.settings if s.name.startswith("NCCL_")}))


@derived
def conf_settings_told(job: Job, view: View) -> tuple[Setting, ...]:
    """What the conf files set, as far as they were seen, looked up once for all hosts."""
    return tuple(s for s in job.settings if s.origin == CONF and s.is_set and s.text is not None)


def _hca_list(host: Host, view: View) -> NameList | None:
    """The list of NCCL_IB_HCA that is in force on the host."""
    setting = view.setting(host, "NCCL_IB_HCA")
    if setting is None or not setting.is_set or not setting.text:
        return None
    version = view.version(host)
    return NameList.parse(setting.text, version.low if version and version.known else Version(2, 30, 7))


@derived
def hca_filter_matches_nothing(host: Host, view: View) -> bool | None:
    """Does NCCL_IB_HCA admit none of the active RDMA ports? False where none is active anyway."""
    wanted = _hca_list(host, view)
    if wanted is None:
        return None
    if any(r.net_devices for r in view.ranks_on(host.name)):
        return False
    if _names_none_of(host, wanted):
        for hca in host.hcas:
            view.note(hca)
        return True
    ports = [p for d in host.hcas for p in d.ports]
    active = [p for p in ports if p.state == "active"]
    for port in active:
        view.note(port, "state")
    if active:
        return not any(wanted.admits(p.hca, p.number) for p in active)
    if ports and all(p.state is not None for p in ports):
        return False
    return _found_nothing(host, ports, wanted, view)


def _names_none_of(host: Host, wanted: NameList) -> bool:
    """True if the list admits no device of the host, all of which were named.

    ``ibdev2netdev`` leaves out those without an interface. Where udev names devices by their place, none of them can
    have the kernel's own name all the same.
    """
    names = [hca.name for hca in host.hcas]
    if not names or any(wanted.admits(name) for name in names):
        return False
    if host.complete & _LISTS_ALL:
        return True
    by_place = _LISTS_WITH_NETDEV in host.complete and any(map(_BY_PLACE.match, names))
    return by_place and not wanted.exclude and all(_BY_NUMBER.match(item.name) for item in wanted.items)


def _found_nothing(host: Host, ports: list[Port], wanted: NameList, view: View) -> bool | None:
    """Is it the filter that NCCL found no device for, where the state of the ports was not told?"""
    events = view.events_on(host.name, ["ib-no-device"])
    if not events or not wanted.items or any(wanted.admits(p.hca, p.number) for p in ports if p.state is None):
        return None
    if not ports and _has_another_reason(host, wanted, view):
        return None
    view.note(events[0])
    return True


def _has_another_reason(host: Host, wanted: NameList, view: View) -> bool:
    """May NCCL have found no device for another reason than its filter?

    The filter names a driver and no device, so that any card of the maker would do; or the container got no device.
    """
    if any(item.name.rstrip("_") in _DRIVERS for item in wanted.items) and not wanted.exact:
        return True
    starved = any(view.get(launch, "asks_rdma") is False for launch in view.job.launches)
    return starved or view.get(host, "has_infiniband_devices") is False


@derived
def should_be_used(port: Port, view: View) -> bool | None:
    """Is the port one that the job means to use.

    Named by NCCL_IB_HCA, equal to ports that are active, or is none active?
    """
    host = view.host(port.host)
    if host is None:
        return None
    wanted = _hca_list(host, view)
    if wanted is not None and wanted.items and not wanted.exclude:
        return wanted.admits(port.hca, port.number)
    others = [p for d in host.hcas for p in d.ports if (p.hca, p.number) != (port.hca, port.number)]
    active = [p for p in others if p.state == "active"]
    if any(p.hca == port.hca for p in active):
        return False  # the other port of the same card carries the link
    if not active:
        return None if any(p.state is None for p in others) else True
    alike = [p for p in active if p.link_layer == port.link_layer]
    if any(p.rate_gbps == port.rate_gbps for p in alike if p.rate_gbps):
        return True
    return None if any(None in {p.rate_gbps, port.rate_gbps} for p in alike) else False


@derived
def hca_item_without_device(setting: Setting, view: View) -> bool | None:
    """Does a list of devices hold an item such as ``:1`` that names no device, which NCCL skips?"""
    if setting.name != "NCCL_IB_HCA" or not setting.text:
        return False
    items = setting.text.lstrip("^").lstrip("=").split(",")
    return any(item.startswith(":") for item in items)
