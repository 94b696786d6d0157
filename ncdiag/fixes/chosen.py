"""What NCCL chooses on a host that was seen: the selection functions with what they need from the facts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from ncdiag.facts.model import COLLECTION_KINDS, Host
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.facts.view import View
from ncdiag.fixes import seen
from ncdiag.fixes.proofs.sockets import may_be_hidden, with_loopback
from ncdiag.nccl import versions
from ncdiag.nccl.selection import sockets
from ncdiag.nccl.selection.devices import Devices, devices
from ncdiag.nccl.selection.network import IB, SOCKET, Found, Network, network
from ncdiag.nccl.selection.reasons import Reason

AnyVersion = Version | VersionRange | None


class Sockets(msgspec.Struct, frozen=True):
    """The interfaces of the bootstrap, of NET/Socket and of the set-up socket of NET/IB."""

    bootstrap: sockets.Choice
    data: sockets.Choice
    oob: sockets.Choice


class OfHost(msgspec.Struct, frozen=True):
    """The choices that hang together."""

    sockets: Sockets
    ports: Devices
    net: Network


def interfaces(view: View, host: Host, settings: Mapping[str, str], version: AnyVersion) -> Sockets:
    """The interface choices. A list from a log settles only what others cannot change."""
    known = seen.interfaces(host.name, view)
    if known.origin == "none":
        nothing = _unknown("the interfaces were not seen: ip addr tells them")
        # every host has lo, so that the default lists find something whatever else there is
        something = sockets.Choice(known=True, interfaces=(sockets.Chosen("lo"),))
        return Sockets(nothing, nothing, nothing if settings.get("NCCL_SOCKET_IFNAME") else something)
    listed = with_loopback(known)
    found = Sockets(
        sockets.bootstrap(listed, settings, version),
        sockets.net_socket(listed, settings, version),
        sockets.oob(listed, settings, version),
    )
    if known.origin == "all" or _is_settled(view, known, found, settings, version):
        return found
    what = "only the interfaces that the log names were seen: ip addr tells all"
    boot, data = (_unknown(what, choice) for choice in (found.bootstrap, found.data))
    return Sockets(boot, data, boot if found.oob.error else found.oob)


def _is_settled(
    view: View, known: seen.Seen, found: Sockets, settings: Mapping[str, str], version: AnyVersion
) -> bool:  # fmt: skip
    """Can interfaces that the log does not name make no difference? They may where another release looks at others."""
    logged = view.version(view.host(known.host))
    same = bool(version and logged) and _tests_running(version) == _tests_running(logged) is not None
    return same and not found.bootstrap.error and not may_be_hidden(view, known, dict(settings))


def _tests_running(version: AnyVersion) -> bool | None:
    """Does the release skip interfaces without IFF_RUNNING? What it lists differs by that."""
    return versions.agreed(version, (versions.RUNNING_ONLY,), lambda exact: exact >= versions.RUNNING_ONLY)


def _unknown(what: str, choice: sockets.Choice | None = None) -> sockets.Choice:
    reason = Reason("", what, "not known", "")
    if choice is None:
        return sockets.Choice(known=False, reasons=(reason,))
    return sockets.Choice(
        known=False, possible=(*choice.names, *choice.possible), reasons=(reason, *choice.reasons)
    )  # fmt: skip


def rdma(host: Host, settings: Mapping[str, str], version: AnyVersion) -> Devices:
    """The RDMA ports that NCCL takes. A /dev/infiniband without uverbs files holds none."""
    files = host.infiniband_devices
    none_to_open = files is not None and not any(name.startswith("uverbs") for name in files)
    if none_to_open and not host.hcas:
        return devices((), settings, version, complete=True)
    return devices(host.hcas, settings, version, complete=bool(host.complete & COLLECTION_KINDS["hcas"]))


def of_host(view: View, host: Host, settings: Mapping[str, str], version: AnyVersion) -> OfHost:
    """Interfaces, RDMA ports and the network back end that rests on them."""
    taken, ports = interfaces(view, host, settings, version), rdma(host, settings, version)
    found = Found(
        devices=ports,
        oob=taken.oob,
        sockets=taken.data,
        plugins=tuple(dict.fromkeys(_plugins(view, host))),
        verbs=view.get(host, "has_infiniband_devices"),
    )
    return OfHost(taken, ports, network(found, settings, version))


def _plugins(view: View, host: Host) -> Iterator[str]:
    """The network plugins that a log names or that lie among the libraries."""
    for rank in view.ranks_on(host.name):
        if rank.net_plugin is not None:
            yield rank.net_plugin
        elif rank.net not in {None, IB, SOCKET}:
            yield str(rank.net)
    names = (library.path.rpartition("/")[2] for library in host.libraries)
    yield from (name for name in names if name.startswith("libnccl-net"))
