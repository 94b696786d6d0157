"""The devices that NCCL_IB_HCA and UCX_NET_DEVICES leave on a host, and names in them that match too many."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived, derived_for
from ncdiag.facts.model import Host, Port, Rank, Setting
from ncdiag.facts.model.declared import declared
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.hosts import has_infiniband_devices
from ncdiag.facts.vocabulary.launches import asks_rdma
from ncdiag.facts.vocabulary.rdma import ranks_of, slow_devices
from ncdiag.facts.vocabulary.stray_devices import FAILURES, failed_device, stray_devices
from ncdiag.nccl.selection.names import NameList
from ncdiag.nccl.vocabulary.filters import hca_list, list_of

_LISTS_ALL = declared(Host).closings["hcas"].kinds | {"rdma_link", "ibv_devices", "infiniband_class"}
"""Kinds of sections that name every RDMA device of a host."""
_LISTS_WITH_NETDEV = "ibdev2netdev"
_BY_PLACE = lazy_regex(r"(?:roce|ib)[psoxd]\w+$")
"""A device name by PCI location; udev then names all so (rdma-core kernel-boot/rdma-persistent-naming.rules)."""
_BY_NUMBER = lazy_regex(r"=?(?:mlx[45]|bnxt_re|irdma|hns)_?\d")
"""A device with the kernel's own name."""
_DRIVERS = frozenset(
    {"mlx", "mlx5", "mlx4", "bnxt_re", "irdma", "ionic", "erdma", "hns", "efa", "rdmap", "rocep", "ibp"}
)
"""Name prefixes of all devices of a driver, or of udev's naming by PCI location (rdma-core, kernel-boot)."""


@derived
def failed_over_others(rank: Rank, view: View) -> bool | None:
    """Did connections of the job fail only over devices that the rank lists and that are neither slow nor strays?

    None if neither is known of any device.
    """
    slow, strays = slow_devices(rank, view), stray_devices(rank, view)
    if slow is None and not strays:
        return None
    odd = {*strays, *(each.partition(" ")[0] for each in slow or ())}
    named = {failed_device(event, view) for event in view.job.events if event.event in FAILURES}
    listed = {part for each in rank.net_devices or () for part in each.name.split("+")}
    return not named.isdisjoint(listed - odd) and named.isdisjoint(odd)


@derived
def hca_filter_matches_nothing(host: Host, view: View) -> bool | None:
    """Does NCCL_IB_HCA exclude all active RDMA ports? False where none is active anyway."""
    wanted = hca_list(host, view)
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
    """Does the list match no device of the host, all of which are known by name?

    ``ibdev2netdev`` omits devices without an interface. Where udev names devices by location, none of them can have the
    kernel's own name.
    """
    names = [hca.name for hca in host.hcas]
    if not names or any(wanted.admits(name) for name in names):
        return False
    if host.complete & _LISTS_ALL:
        return True
    by_place = _LISTS_WITH_NETDEV in host.complete and any(map(_BY_PLACE.match, names))
    return by_place and not wanted.exclude and all(_BY_NUMBER.match(item.name) for item in wanted.items)


def _found_nothing(host: Host, ports: list[Port], wanted: NameList, view: View) -> bool | None:
    """Is the filter the reason why NCCL found no device, where the state of the ports was not shown?"""
    events = view.events_on(host.name, ["ib-no-device"])
    if not events or not wanted.items or any(wanted.admits(p.hca, p.number) for p in ports if p.state is None):
        return None
    if not ports and _has_another_reason(host, wanted, view):
        return None
    view.note(events[0])
    return True


def _has_another_reason(host: Host, wanted: NameList, view: View) -> bool:
    """May NCCL have found no device for another reason than its filter?

    The filter names a driver and no device, so that any card of that vendor would match; or the container got no
    device.
    """
    if any(item.name.rstrip("_") in _DRIVERS for item in wanted.items) and not wanted.exact:
        return True
    starved = any(asks_rdma(launch, view) is False for launch in view.job.launches)
    return starved or has_infiniband_devices(host, view) is False


@derived_for("NCCL_IB_HCA")
def hca_item_without_device(setting: Setting, view: View) -> bool | None:
    """Does a list of devices contain an item without a device name, such as ``:1``, which NCCL skips?"""
    if not setting.text:
        return False
    items = setting.text.lstrip("^").lstrip("=").split(",")
    return any(item.startswith(":") for item in items)


@derived
def unmeant_hcas(host: Host, view: View) -> tuple[str, ...] | None:
    """Devices that match an item of NCCL_IB_HCA as a prefix, although another device has exactly that name.

    In an include list only those with another rate or link layer count: additional rails of one kind do no harm.
    """
    held = list_of(host, "NCCL_IB_HCA", view)
    if held is None:
        return None
    setting, wanted = held
    if wanted.exact:
        return ()
    if not host.hcas:
        return _unmeant_in_use(host, setting, wanted, view)
    ports = [p for d in host.hcas for p in d.ports if p.state == "active"]
    named = {item.name for item in wanted.items}
    meant = [p for p in ports if p.hca in named]
    stems = tuple({p.hca for p in meant})
    kinds = {(p.link_layer, p.rate_gbps) for p in meant}
    fits = [p for p in ports if p.hca not in named and p.hca.startswith(stems)] if stems else []
    extra = [p for p in fits if wanted.exclude or (p.link_layer, p.rate_gbps) not in kinds]
    if extra:
        view.note(setting)
        for port in extra:
            view.note(port)
    return tuple(dict.fromkeys(p.hca for p in extra))


def _unmeant_in_use(host: Host, setting: Setting, wanted: NameList, view: View) -> tuple[str, ...] | None:
    """Devices in NCCL's own list that match an item only as a prefix, where another device has exactly that name.

    A user who wants ``mlx5_10`` as well writes that, or ``mlx5``.
    """
    for rank in ranks_of(host, view):
        names = [name for device in rank.net_devices or () for name in device.name.split("+")]
        meant = {item.name for item in wanted.items if item.name in names}
        if wanted.exclude or len(meant) < len(wanted.items):
            continue
        extra = [name for name in names if name not in meant]
        if extra:
            view.note(setting)
            view.note(rank, "net_devices")
            return tuple(extra)
    return None
