"""GID index, device list and peer-memory module."""

from __future__ import annotations

import re

import msgspec

from ncdiag.base.spans import Span
from ncdiag.facts.model import Address, Gid, Host, Port, Rank, Setting
from ncdiag.facts.scalars import Version
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.gpus import driver_of
from ncdiag.facts.vocabulary.rdma import active_ports, is_active, is_roce, is_soft_rdma
from ncdiag.facts.vocabulary.stray_devices import main_devices, stray_devices
from ncdiag.fixes.values import Bindings, Value, best, bound
from ncdiag.nccl.on_host import seen

OWN_MODULE_DRIVER = Version(470, 0)
"""The first driver branch that includes nvidia_peermem (NVIDIA driver 470 release notes, GPUDirect RDMA)."""


@best
def gid_index(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The GID index whose entry is RoCE v2 with an IPv4 address on every active RoCE port of every host.

    Of several such indexes: one that was not set as the job failed, whose address is that of the interface over which
    the ranks met, or whose addresses are in one network on all hosts; else the lowest.
    """
    ports = _roce_ports(view)
    blind = _hosts_without_table(view)
    if not ports:
        reason = "no GID table of an active RoCE port was seen"
        return Value(reason=reason, ask_for=blind or ("show_gids (on every host)",))
    good = {(port.host, port.hca, port.number): _good_entries(port) for port in ports}
    common = set.intersection(*(set(entries) for entries in good.values()))
    if common:
        tried = view.setting(view.job, "NCCL_IB_GID_INDEX")
        met = {str(held.ip) for rank in view.job.ranks if (held := _met_at(rank)) is not None}

        def order(index: int) -> tuple[bool, bool, bool, int]:
            entries = [table[index] for table in good.values()]
            was_set = tried is not None and tried.text == str(index) and bool(view.job.events)
            return was_set, met.isdisjoint(str(e.ip) for e in entries), not _one_network(entries, view), index

        index = min(common, key=order)
        chosen = [entries[index] for entries in good.values()]
        told = ", ".join(f"{gid.host} {gid.hca} {gid.ip}" for gid in chosen[:4])
        reason = f"entry {index} is RoCE v2 with an IPv4 address on every RoCE port seen: {told}"
        return Value(text=str(index), reason=reason, spans=_spans(chosen), ask_for=blind)
    each = ", ".join(f"{host} {hca}: {min(entries) if entries else 'none'}" for (host, hca, _), entries in good.items())
    lacking = tuple(f"show_gids (on {host}, whole)" for (host, _, _), entries in good.items() if not entries)
    reason = f"no one index is RoCE v2 with an IPv4 address everywhere ({each}); NCCL 2.21 and later choose by port"
    return Value(reason=reason, ask_for=tuple(dict.fromkeys((*lacking, *blind))))


def _met_at(rank: Rank) -> Address | None:
    """The address with which a rank took part in the bootstrap."""
    held = rank.bootstrap_interface.addresses if rank.bootstrap_interface is not None else None
    return held[0] if held else None


def _roce_ports(view: View) -> list[Port]:
    """The RoCE ports with a GID table that carry data: those that NCCL listed, else the active ones."""
    listed = {
        (rank.host, device.name, device.port or 1)
        for rank in view.job.ranks for device in rank.net_devices or () if device.link_layer == "RoCE"
    }  # fmt: skip
    ports = [
        port for host in view.job.hosts for hca in host.hcas for port in hca.ports
        if port.gids and is_roce(port, view) is not False and is_active(port, view) is not False
    ]  # fmt: skip
    named = [port for port in ports if (port.host, port.hca, port.number) in listed]
    return named or ports


def _good_entries(port: Port) -> dict[int, Gid]:
    return {gid.index: gid for gid in port.gids if gid.type == "RoCE v2" and gid.ip is not None}


def _one_network(gids: list[Gid], view: View) -> bool:
    """True if, by the networks of the interfaces, all addresses are in one network."""
    first = gids[0].ip
    for host in view.job.hosts:
        for interface in host.interfaces:
            for address in interface.addresses or ():
                if address.ip == first and address.prefix_len is not None:
                    others = [type(address)(gid.ip) for gid in gids[1:] if gid.ip]
                    return all(seen.same_network(address, other) for other in others)
    return False


def _hosts_without_table(view: View) -> tuple[str, ...]:
    known = {host.name for host in view.job.hosts if any(p.gids for d in host.hcas for p in d.ports)}
    missing = [f"show_gids (on {name})" for name in seen.hosts(view) if name not in known]
    if seen.unseen(view):
        missing.append("show_gids (on the other hosts of the job)")
    return tuple(missing)


@best
def hca_list(view: View, bindings: Bindings) -> Value:
    """A value for NCCL_IB_HCA: the active RDMA devices of the highest rate, by exact name; one list for all hosts."""
    concerned = bound(bindings, Host)
    hosts = [host for host in view.job.hosts if host.hcas and (concerned is None or host.name == concerned.name)]
    lists = {host.name: _fastest(host, view) for host in hosts}
    lists = {name: ports for name, ports in lists.items() if ports}
    printed = [name for name, layer in _printed_layers(view).items() if layer == "InfiniBand"]
    if not lists and printed and len(printed) < len(_printed_layers(view)):
        text = "=" + ",".join(sorted(printed, key=_in_order))
        return Value(text=text, reason="the InfiniBand devices in NCCL's own list", ask_for=("ibstat (on every host)",))
    if not lists:
        return Value(reason="no active RDMA port with its rate was seen", ask_for=("ibstat (on every host)",))
    texts = {name: "=" + ",".join(dict.fromkeys(port.hca for port in ports)) for name, ports in lists.items()}
    spans = tuple(dict.fromkeys(span for ports in lists.values() for port in ports for span in _port_spans(port)))
    blind = tuple(f"ibstat (on {name})" for name in seen.hosts(view) if name not in lists and concerned is None)
    if len(set(texts.values())) > 1:
        each = ", ".join(f"{name}: {text}" for name, text in sorted(texts.items())[:8])
        reason = f"the devices have different names on other hosts; set it on each host: {each}"
        return Value(reason=reason, spans=spans, ask_for=blind)
    rate = next(iter(lists.values()))[0].rate_gbps
    speed = f" at {rate:g} Gbit/s" if rate is not None else ""
    text = next(iter(texts.values()))
    reason = f"the active RDMA ports{speed} on {', '.join(sorted(lists)[:4])}"
    return Value(text=text, reason=reason, spans=spans, ask_for=blind)


@best
def ucx_devices(view: View, bindings: Bindings) -> Value:
    """A value for UCX_NET_DEVICES: the devices of `hca_list` with their port, ``mlx5_0:1,mlx5_1:1``."""
    found = hca_list(view, bindings)
    if found.text is None:
        return found
    named = found.text.removeprefix("=").split(",")
    ports = {port.hca: port.number for host in view.job.hosts for port in active_ports(host, view) or ()}
    return msgspec.structs.replace(found, text=",".join(f"{name}:{ports.get(name, 1)}" for name in named))


def _fastest(host: Host, view: View) -> list[Port]:
    """The active ports of the highest rate, InfiniBand before Ethernet; all active ports if no rate is known.

    Where no state of a port was seen, those whose interface is up, as ibdev2netdev shows it.
    """
    running = {interface.hca for interface in host.interfaces if interface.running and interface.hca}
    shown = active_ports(host, view) or [
        port for hca in host.hcas if hca.name in running for port in hca.ports if port.state is None
    ]
    active = [port for port in shown if _is_hardware(host, port, view)]
    top = max((port.rate_gbps for port in active if port.rate_gbps is not None), default=None)
    ports = [port for port in active if port.rate_gbps == top] if top is not None else active
    printed = _printed_layers(view)
    layers = {port.hca: port.link_layer or printed.get(port.hca) for port in ports}
    if {"InfiniBand", "Ethernet"} <= {*layers.values()}:
        ports = [port for port in ports if layers[port.hca] == "InfiniBand"]
    return sorted(ports, key=lambda port: _in_order(port.hca))


def _in_order(name: str) -> list[int | str]:
    """A key by which mlx5_10 comes after mlx5_9."""
    return [int(w) if w.isdecimal() else w for w in re.findall(r"\d+|\D+", name)]


def _printed_layers(view: View) -> dict[str, str]:
    """The link layer that NCCL printed for each name of a device, where all ranks printed the same."""
    found: dict[str, set[str]] = {}
    for rank in view.job.ranks:
        for device in rank.net_devices or ():
            for name in device.name.split("+") if device.link_layer is not None else ():  # a merged device
                found.setdefault(name, set()).add("Ethernet" if device.link_layer == "RoCE" else "InfiniBand")
    return {name: layers.pop() for name, layers in found.items() if len(layers) == 1}


def _is_hardware(host: Host, port: Port, view: View) -> bool:
    device = next((hca for hca in host.hcas if hca.name == port.hca), None)
    return device is None or not is_soft_rdma(device, view)


@best
def hca_exact(view: View, bindings: Bindings) -> Value:
    """The current NCCL_IB_HCA with exact names: ``mlx5_1`` becomes ``=mlx5_1``, ``^mlx5_1`` becomes ``^=mlx5_1``."""
    setting = bound(bindings, Setting)
    if setting is None or setting.name != "NCCL_IB_HCA":
        setting = view.setting(view.job, "NCCL_IB_HCA")
    if setting is None or not setting.text:
        return Value(reason="the value of NCCL_IB_HCA is not known", ask_for=("env | grep NCCL",))
    sign = "^" if setting.text.startswith("^") else ""
    rest = setting.text.removeprefix("^").removeprefix("=")
    items = [item for item in rest.split(",") if item.split(":")[0]]
    if not items:
        return Value(reason=f"{setting.text!r} names no device", ask_for=("ibstat",))
    found = setting.provenance.get("text") or setting.provenance.get("")
    text = f"{sign}={','.join(items)}"
    return Value(text=text, reason="the same list with = in front", spans=(found,) if found else ())


@best
def peermem_module(view: View, bindings: Bindings) -> Value:
    """The kernel module for GPUDirect RDMA: nvidia_peermem with drivers from 470 on, else nv_peer_mem."""
    concerned = bound(bindings, Host)
    hosts = [concerned] if concerned is not None else list(view.job.hosts)
    texts = {driver_of(host) for host in hosts} - {None}
    drivers = sorted(v for v in (Version.parse(str(text)) for text in texts) if v is not None)
    if not drivers:
        reason = "part of the driver since branch 470 (older ones need nv_peer_mem); the driver's version was not seen"
        return Value(text="nvidia_peermem", reason=reason, ask_for=("nvidia-smi",))
    if drivers[0] >= OWN_MODULE_DRIVER:
        return Value(text="nvidia_peermem", reason=f"driver {drivers[0].major} includes it")
    if drivers[-1] < OWN_MODULE_DRIVER:
        return Value(text="nv_peer_mem", reason=f"driver {drivers[-1].major} is older than 470 with its nvidia_peermem")
    reason = "the hosts have drivers from before and after branch 470; load the module of each host's driver"
    return Value(reason=reason, ask_for=("nvidia-smi",))


def _spans(gids: list[Gid]) -> tuple[Span, ...]:
    found = [gid.provenance.get("index") or gid.provenance.get("") for gid in gids]
    return tuple(dict.fromkeys(span for span in found if span))


def _port_spans(port: Port) -> tuple[Span, ...]:
    found = port.provenance.get("rate_gbps") or port.provenance.get("state") or port.provenance.get("")
    return (found,) if found else ()


@best
def main_device_list(view: View, bindings: Bindings) -> Value:
    """A value for NCCL_IB_HCA: the devices of the rank that are of the data network, by exact name."""
    rank = bound(bindings, Rank)
    strays = stray_devices(rank, view) if rank is not None else ()
    if rank is None or not strays:
        return Value(reason="no device of another kind was seen to fail")
    lists = {main_devices(each, view) for each in view.job.ranks if each.net_devices and stray_devices(each, view)}
    names = lists.pop() if len(lists) == 1 else ()
    if not names or any("+" in name for name in names):
        return Value(reason="the devices have different names on other hosts", ask_for=("ibv_devices (on every host)",))
    return Value(text="=" + ",".join(names), reason=f"{', '.join(strays)} left out, over which a connection failed")
