"""What NCCL chooses on a host that was seen: calls of the selection functions with the facts that they need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from ncdiag.facts.model import Host, Port, TopoCpu, TopoSystem
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.hosts import has_infiniband_devices
from ncdiag.facts.vocabulary.rdma import is_roce
from ncdiag.nccl import versions
from ncdiag.nccl.numbers import parse_number
from ncdiag.nccl.on_host import seen
from ncdiag.nccl.selection import sockets
from ncdiag.nccl.selection.devices import Devices, devices
from ncdiag.nccl.selection.distances import Distances, distances
from ncdiag.nccl.selection.gid import GidChoice, gid_index
from ncdiag.nccl.selection.network import IB, SOCKET, Found, Network, network
from ncdiag.nccl.selection.reasons import Reason
from ncdiag.nccl.selection.topology import Net
from ncdiag.nccl.selection.values import Settings

AnyVersion = Version | VersionRange | None


class Sockets(msgspec.Struct, frozen=True):
    """The interfaces for the bootstrap, for NET/Socket, and for the set-up socket of NET/IB."""

    bootstrap: sockets.Choice
    data: sockets.Choice
    oob: sockets.Choice


class OfHost(msgspec.Struct, frozen=True):
    """The choices that depend on each other."""

    sockets: Sockets
    ports: Devices
    net: Network


def interfaces(host: Host, view: View, settings: Mapping[str, str], version: AnyVersion) -> Sockets:
    """Return the interface choices.

    Where only a log lists interfaces, choices that unseen ones could change are unknown.
    """
    known = seen.interfaces(host.name, view)
    if known.origin == "none":
        nothing = _unknown("the interfaces were not seen: ip addr shows them")
        # every host has lo, so the default lists always find an interface
        something = sockets.Choice(known=True, interfaces=(sockets.Chosen("lo"),))
        return Sockets(nothing, nothing, nothing if settings.get("NCCL_SOCKET_IFNAME") else something)
    listed = seen.with_loopback(known)
    found = Sockets(
        sockets.bootstrap(listed, settings, version),
        sockets.net_socket(listed, settings, version),
        sockets.oob(listed, settings, version),
    )
    if known.origin == "all" or _is_settled(view, known, found, settings, version):
        return found
    what = "only the interfaces that the log names were seen: ip addr shows all"
    boot, data = (_unknown(what, choice) for choice in (found.bootstrap, found.data))
    return Sockets(boot, data, boot if found.oob.error else found.oob)


def _is_settled(
    view: View, known: seen.Seen, found: Sockets, settings: Mapping[str, str], version: AnyVersion
) -> bool:  # fmt: skip
    """Can interfaces that the log does not list make no difference? They may if another release considers others."""
    logged = view.version(view.host(known.host))
    same = bool(version and logged) and _tests_running(version) == _tests_running(logged) is not None
    return same and not found.bootstrap.error and not seen.may_be_hidden(view, known, settings)


def _tests_running(version: AnyVersion) -> bool | None:
    """Does the release skip interfaces without IFF_RUNNING, so that its list differs? None if releases differ."""
    return versions.agreed(version, (versions.RUNNING_ONLY,), lambda exact: exact >= versions.RUNNING_ONLY)


def _unknown(what: str, choice: sockets.Choice | None = None) -> sockets.Choice:
    reason = Reason("", what, "not known", "")
    if choice is None:
        return sockets.Choice(known=False, reasons=(reason,))
    return sockets.Choice(
        known=False, possible=(*choice.names, *choice.possible), reasons=(reason, *choice.reasons)
    )  # fmt: skip


def rdma(host: Host, settings: Mapping[str, str], version: AnyVersion) -> Devices:
    """Return the RDMA ports that NCCL uses; a /dev/infiniband without uverbs files means none."""
    files = host.infiniband_devices
    none_to_open = files is not None and not any(name.startswith("uverbs") for name in files)
    if none_to_open and not host.hcas:
        return devices((), settings, version, complete=True)
    return devices(host.hcas, settings, version, complete=is_closed(host, "hcas"))


def of_host(host: Host, view: View, settings: Mapping[str, str], version: AnyVersion) -> OfHost:
    """Return the interfaces, the RDMA ports, and the network back end that depends on both."""
    taken, ports = interfaces(host, view, settings, version), rdma(host, settings, version)
    found = Found(
        devices=ports,
        oob=taken.oob,
        sockets=taken.data,
        plugins=tuple(dict.fromkeys(_plugins(host, view))),
        verbs=has_infiniband_devices(host, view),
    )
    return OfHost(taken, ports, network(found, settings, version))


def _plugins(host: Host, view: View) -> Iterator[str]:
    """The network plugins that a log names or that are among the libraries."""
    for rank in view.ranks_on(host.name):
        if rank.net_plugin is not None:
            yield rank.net_plugin
        elif rank.net not in {None, IB, SOCKET}:
            yield str(rank.net)
    names = (library.path.rpartition("/")[2] for library in host.libraries)
    yield from (name for name in names if name.startswith("libnccl-net"))


def gid(port: Port, view: View, settings: Settings, version: AnyVersion) -> GidChoice:
    """Return the GID entry that NCCL uses for a port.

    A port with RoCE GIDs counts as Ethernet without further evidence.
    """
    if port.link_layer is None and is_roce(port, view):
        port = msgspec.structs.replace(port, link_layer="Ethernet")
    return gid_index(port, {name: text for name, text in settings.items() if text is not None}, version)


def nic_names(found: OfHost) -> tuple[str, ...]:
    """Return the network devices that the back end uses, in its order; empty where unknown."""
    if found.net.name == IB and found.ports.known:
        return tuple(dict.fromkeys(port.hca for port in found.ports.ports))
    return found.sockets.data.names if found.net.name == SOCKET and found.sockets.data.known else ()


def topology_of(host: Host, view: View) -> TopoSystem | None:
    """Return the complete topology file of this host alone; None without one, or where several may be."""
    files = [t for t in view.job.topologies if t.whole and (t.nhosts or 1) == 1]
    mine = [t for t in files if t.host == host.name] or (files if len(view.job.hosts) == 1 else [])
    return mine[0] if len(mine) == 1 else None


def distances_of(host: Host, view: View, settings: Settings, ports: Devices) -> Distances | None:
    """Return the distances between the GPUs and NICs of a host, as far as they were seen; None without any."""
    places = {hca.name: hca.bus_id for hca in host.hcas}
    speeds = {port.hca: int(port.rate_gbps * 1000) for port in ports.ports if port.rate_gbps}
    nets = [Net(name, places.get(name), speeds.get(name)) for name in dict.fromkeys(p.hca for p in ports.ports)]
    nets += [Net(i.name, i.bus_id, i.speed_mbps) for i in host.interfaces if i.bus_id]
    detour = (parse_number(settings.get("NCCL_NVB_DISABLE")) or 0) == 0
    return distances(host, topology_of(host, view), nets, through_gpus=detour)


def processor_of(host: Host, view: View) -> TopoCpu | None:
    """Return the processor of the host from a topology file; None without one."""
    system = topology_of(host, view)
    return system.cpus[0] if system is not None and system.cpus else None
