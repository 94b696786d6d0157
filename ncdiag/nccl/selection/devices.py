"""Which RDMA ports NCCL's own IB transport uses, and which of them it merges into one NIC.

Source: ncclIbInitDevices, src/transport/net_ib/init.cc:313-455 (v2.30.7-1), ncclIbInit in src/transport/net_ib.cc of
the tags before. Not covered: the second devices that Data Direct adds on a ConnectX-8 (2.27 and later).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ncdiag.facts.model import Hca, Port
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl import versions
from ncdiag.nccl.numbers import parse_number
from ncdiag.nccl.selection import merging
from ncdiag.nccl.selection.logic import every
from ncdiag.nccl.selection.names import NameList
from ncdiag.nccl.selection.reasons import Reason, source
from ncdiag.nccl.selection.values import Settings, number

MORE_DEVICES = Version(2, 18, 5)
"""The release from which on NCCL holds more RDMA ports (MAX_IB_DEVS)."""
_MOST_OLD, _MOST = 16, 32
PCI_ORDER = Version(2, 29, 7)
"""From this release on ports are sorted by PCI address, before in the order of verbs (NCCL_IB_DEVICE_PCI_ORDER)."""
CHANGES = (versions.EXACT_NAMES, MORE_DEVICES, PCI_ORDER, *merging.CHANGES)

_AMAZON = 0x1D0F
_LANE_MBPS = {2.5: 2500, 5.0: 5000, 10.0: 10000, 14.0: 14000, 25.0: 25000, 50.0: 50000, 100.0: 100000, 200.0: 200000}
_NDR, _XDR = Version(2, 16, 5), Version(2, 27, 5)


class Devices(msgspec.Struct, frozen=True):
    """The ports that NCCL uses, in its order if ``ordered``.

    ``known`` False: ``ports`` are those that it certainly uses, ``possible`` the names (``mlx5_0:1``) of those that it
    may use in addition. ``nics`` are the names of the ports that form one NIC each, None where that is not known.
    """

    known: bool
    ports: tuple[Port, ...] = ()
    possible: tuple[str, ...] = ()
    ordered: bool = False
    nics: tuple[tuple[str, ...], ...] | None = None
    reasons: tuple[Reason, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The ports as NCCL writes them: ``mlx5_0:1``."""
        return tuple(map(label, self.ports))

    @property
    def some(self) -> bool | None:
        """Is there at least one port? None when that is not known."""
        return True if self.ports else False if self.known else None


def most_ports(version: Version | None) -> int:
    """Return the number of ports that a release of NCCL can hold; None is a release that is not known."""
    return _MOST if version is None or version >= MORE_DEVICES else _MOST_OLD


def label(port: Port) -> str:
    """Return the name of a port as NCCL writes it: ``mlx5_0:1``."""
    return f"{port.hca}:{port.number}"


def devices(
    hcas: Sequence[Hca], settings: Settings, version: Version | VersionRange | None, *, complete: bool
) -> Devices:
    """Return the ports that NCCL uses. ``hcas`` are in the order of verbs; ``complete``: they are all of the host.

    A port must be active and of link layer InfiniBand or Ethernet, and NCCL_IB_HCA must allow it. A list that allows
    none is not an error at this point. For a version range or None, the result is known where all its releases agree.
    """
    answers = [_at(hcas, settings, exact, complete=complete) for exact in versions.samples(version, CHANGES)]
    last = answers[-1]
    if all(set(a.names) == set(last.names) and a.known == last.known for a in answers):
        same_order = all(a.names == last.names for a in answers)
        nics = last.nics if all(a.nics == last.nics for a in answers) else None
        return msgspec.structs.replace(last, ordered=last.ordered and same_order, nics=nics)
    shared = tuple(port for port in last.ports if all(label(port) in a.names for a in answers))
    names = [name for a in answers for name in (*a.names, *a.possible)]
    rest = tuple(name for name in dict.fromkeys(names) if name not in map(label, shared))
    reason = Reason("", "the answer depends on the NCCL version", "not known", "")
    told = tuple(dict.fromkeys(told for a in answers for told in a.reasons))
    return Devices(known=False, ports=shared, possible=rest, reasons=(reason, *told))


def _at(hcas: Sequence[Hca], settings: Settings, version: Version, *, complete: bool) -> Devices:
    place = source("devices", version)
    limit = most_ports(version)
    wanted = settings.get("NCCL_IB_HCA", "")
    names = NameList.parse(wanted, version, limit) if wanted is not None else None
    taken: list[Port] = []
    maybe: list[str] = []
    reasons: list[Reason] = []
    for hca in hcas:
        if not hca.ports:
            maybe += [hca.name] if names is None or names.admits(hca.name) else []
            reasons.append(Reason(hca.name, "its ports were not seen", "port state", place))
        for port in hca.ports:
            verdict, text, rule = _test(hca, port, names)
            reasons.append(Reason(label(port), text, rule, place))
            if verdict:
                taken.append(port)
            elif verdict is None:
                maybe.append(label(port))
    if not complete:
        reasons.append(Reason("", "the RDMA devices of the host were not all seen", "not known", place))
    if len(taken) + len(maybe) > limit:
        text = f"more than {limit} ports are left: which come first is not known"
        reasons.append(Reason("", text, "MAX_IB_DEVS", place))
        return Devices(known=False, possible=(*map(label, taken), *maybe), reasons=tuple(reasons))
    known = complete and not maybe
    ordered, ports = _in_order(taken, hcas, settings, version)
    nics, why = merging.nics(ports, {hca.name: hca for hca in hcas}, settings, version) if known else (None, ())
    return Devices(known, ports, tuple(maybe), ordered, nics, (*reasons, *why))


def _test(hca: Hca, port: Port, names: NameList | None) -> tuple[bool | None, str, str]:
    """Does NCCL use the port? With the reason, and the rule that decided."""
    listed = names.admits(port.hca, port.number) if names is not None else None
    rule = f"NCCL_IB_HCA={names.text}" if names is not None and names.text else "NCCL_IB_HCA"
    if names is not None and not listed:
        return False, f"{'excluded' if names.exclude else 'not admitted'} by {rule}", rule
    if port.state is not None and port.state != "active":
        return False, f"its state is {port.state}, and only active ports are used", "port state"
    layer = has_link_layer(hca, port)
    if layer is False:
        return False, "its link layer is neither InfiniBand nor Ethernet", "link layer"
    verdict = every((listed, None if port.state is None else True, layer))
    if verdict:
        speed = f", {port.rate_gbps:g} Gbit/s" if port.rate_gbps is not None else ""
        return True, f"taken: active, {port.link_layer or 'RDMA'}{speed}", rule
    missing = (
        "whether NCCL_IB_HCA is set" if listed is None else "its state" if port.state is None else "its link layer"
    )
    return None, f"{missing} is not known", "not known"


def has_link_layer(hca: Hca, port: Port) -> bool | None:
    """Does NCCL support the port's link layer? An Elastic Fabric Adapter has another one. None if unknown."""
    if port.link_layer is not None or any(gid.type for gid in port.gids):
        return True
    try:
        vendor = int(hca.vendor_id or "", 16)
    except ValueError:
        return True if hca.name.startswith("mlx") else None
    return vendor != _AMAZON


def _in_order(
    ports: Sequence[Port], hcas: Sequence[Hca], settings: Settings, version: Version
) -> tuple[bool, tuple[Port, ...]]:
    """Whether the order is certain, and the ports in NCCL's order: that of verbs, since 2.29.7 by PCI address."""
    if version >= PCI_ORDER and number(settings, "NCCL_IB_DEVICE_PCI_ORDER", version):
        places = {hca.name: hca.bus_id for hca in hcas}
        if all(places.get(port.hca) for port in ports):
            return True, tuple(sorted(ports, key=lambda port: (places[port.hca] or "", port.number)))
    return len(ports) <= 1, tuple(ports)


def speed_mbps(port: Port, version: Version) -> int | None:
    """Return the speed that NCCL computes with, in Mbit/s: width times lane rate, None where one was not seen.

    NCCL knows NDR from 2.16.5 on and XDR from 2.27.5 on (ibvSpeeds); older releases compute such lanes wrongly, for
    which the result is None.
    """
    width = parse_number((port.active_width or "").upper().rstrip("X") or None)
    lane = (port.active_speed or "").split()
    try:
        rate = float(lane[0]) if lane else 0.0
    except ValueError:
        return None
    mbps = _LANE_MBPS.get(rate)
    if not width or mbps is None or (rate == 100.0 and version < _NDR) or (rate == 200.0 and version < _XDR):  # noqa: PLR2004
        return None
    return width * mbps
