"""RDMA devices that NCCL lists beside those of the data network: of another driver or link layer, and few."""

from __future__ import annotations

from collections import Counter

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Event, NetDevice, Rank
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View

FAILURES = ("ib-completion-error", "ib-modify-qp-failed")
_NUMBER = lazy_regex(r"\d+(?:[a-z]\d+)*$")
_MAPPED = lazy_regex(r"(?i)::ffff:(?=\d{1,3}\.)")
_MANY, _FEW = 4, 2
"""Devices of the data network at least, and the part of their number that others may have at most."""


@derived
def stray_devices(rank: Rank, view: View) -> tuple[str, ...]:
    """The devices of another driver or link layer than most, if a connection over one of them failed; empty: none."""
    devices = rank.net_devices or ()
    kinds = Counter(map(_kind, devices))
    most = kinds.most_common(1)[0] if kinds else (None, 0)
    strays = [each.name for each in devices if _kind(each) != most[0]]
    if most[1] < _MANY or not strays or len(strays) * _FEW > most[1]:
        return ()
    for event in view.events_on(rank.host, FAILURES):
        if failed_device(event, view) in strays:
            view.note(event)
            view.note(rank, "net_devices")
            return tuple(strays)
    return ()


def main_devices(rank: Rank, view: View) -> tuple[str, ...]:
    """The devices that are no strays."""
    strays = stray_devices(rank, view)
    return tuple(each.name for each in rank.net_devices or () if each.name not in strays)


def _kind(device: NetDevice) -> tuple[str, str | None]:
    """The name without its number, and the link layer: ``mlx5_``, IB."""
    return _NUMBER.sub("", device.name), device.link_layer


def failed_device(event: Event, view: View) -> str | None:
    """The device of a failure: as the line names it, or by the address in its GID."""
    named = event.fields.get("hca")
    if named:
        return str(named).partition(":")[0]
    ip = ip_address(_MAPPED.sub("", str(event.fields.get("local_gid") or "")))
    host = view.host(event.host)
    for interface in host.interfaces if host is not None and ip is not None else ():
        if any(address.ip == str(ip) for address in interface.addresses or ()):
            return interface.hca
    return None
