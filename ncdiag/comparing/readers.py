"""Functions for properties of a host that are not a single field, by the names that ``compared.toml`` uses.

Each yields (name, value); the name is empty for the host as a whole. Unknown properties yield nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Address, Gid, Host, Port, Setting
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.gpus import driver_of
from ncdiag.facts.vocabulary.interfaces import leads_out
from ncdiag.facts.vocabulary.pci import is_nvidia_gpu

_NCCL, _PLUGINS = "/libnccl.so", ("/libnccl-net", "/libnccl-tuner", "/librccl-net")
_VARIABLES = ("NCCL_", "RCCL_", "FI_", "OFI_", "UCX_", "UCC_", "TORCH_NCCL_")
_OF_EACH_HOST = frozenset({"NCCL_HOSTID", "NCCL_DEBUG_FILE", "NCCL_TOPO_DUMP_FILE", "NCCL_GRAPH_DUMP_FILE"})
"""Variables whose value normally differs on each host."""
_OPTIONS = lazy_regex(
    r"(?:iommu|intel_iommu|amd_iommu|pci|pcie_\w+|\w*hugepages\w*|hugepagesz|transparent_hugepage|mitigations"
    r"|processor\.\w+|intel_idle\.\w+|numa_balancing|isolcpus|nohz_full|idle|cgroup_\w+|nvidia\S*|mem_encrypt)(?:=\S*)?"
)
"""Kernel options that affect NCCL; the others name disks and consoles."""
_BETWEEN = lazy_regex(r",(?![^\[]*\])")
"""A comma between names, not within the numbers of one."""
_GIB = 1 << 30


def shown(value: Any) -> str:  # noqa: ANN401  (the value of any field)
    """A value in readable form."""
    if value is True or value is False:
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "none"
    return str(value)


def counted(values: Iterable[str]) -> str:
    """``7 x A, 1 x B``, most frequent first."""
    found = Counter(values)
    return ", ".join(
        f"{count} x {value}" for value, count in sorted(found.items(), key=lambda item: (-item[1], item[0]))
    )


def distinct(values: Iterable[str]) -> str:
    """Each value once."""
    return ", ".join(sorted(set(values)))


def folded(names: Iterable[str]) -> str:
    """Names of devices, numbered ones folded: ``eno1, mlx5_[0-7]``."""
    return _BETWEEN.sub(", ", fold_hosts(names))


def _nccl_run(host: Host, view: View) -> Iterator[tuple[str, str]]:
    versions = {str(r.nccl_version) for r in view.ranks_on(host.name) if r.nccl_version and r.nccl_version.known}
    if versions:
        yield "", ", ".join(sorted(versions))


def _nccl_installed(host: Host, _: View) -> Iterator[tuple[str, str]]:
    found = {str(item.version) for item in host.libraries if item.version and _NCCL in item.path}
    if not found and host.nccl_version is not None and host.nccl_version.known:
        found = {str(host.nccl_version)}
    if found:
        yield "", ", ".join(sorted(found))


def _driver(host: Host, _: View) -> Iterator[tuple[str, str]]:
    version = driver_of(host)
    if version:
        yield "", version


def _plugin_run(host: Host, view: View) -> Iterator[tuple[str, str]]:
    names = {rank.net_plugin for rank in view.ranks_on(host.name) if rank.net_plugin}
    if names:
        yield "", ", ".join(sorted(names))


def _plugins(host: Host, _: View) -> Iterator[tuple[str, str]]:
    """Files of plugins, if the host was searched for libraries."""
    if host.libraries:
        found = {path.rpartition("/")[2] for item in host.libraries if any(p in (path := item.path) for p in _PLUGINS)}
        yield "", ", ".join(sorted(found)) or "none"


def _settings(host: Host, view: View) -> Iterator[tuple[str, str]]:
    """Variables of the environment, and those that all ranks of the host print with the same value."""
    told = dict(_texts(host.settings))
    by_rank: dict[str, set[str]] = {}
    for rank in view.ranks_on(host.name):
        for name, text in _texts(rank.settings):
            by_rank.setdefault(name, set()).add(text)
    told |= {name: ", ".join(sorted(texts)) for name, texts in by_rank.items()}
    yield from told.items()


def _conf_settings(host: Host, _: View) -> Iterator[tuple[str, str]]:
    yield from _texts(host.conf_settings)


def _texts(settings: Mapping[str, Setting]) -> Iterator[tuple[str, str]]:
    for name, setting in settings.items():
        if name.startswith(_VARIABLES) and name not in _OF_EACH_HOST:
            if setting.text is not None:
                yield name, setting.text or "empty"
            elif setting.is_set is False:
                yield name, "not set"


def _gpu_lanes(host: Host, _: View) -> Iterator[tuple[str, str]]:
    """``8 x 16 of 16 lanes``, from the PCI bus, else from nvidia-smi."""
    found = [(d.width, d.width_max) for d in host.pci if is_nvidia_gpu(d) and d.width]
    found = found or [(gpu.pcie_width, gpu.pcie_width_max) for gpu in host.gpus if gpu.pcie_width]
    if found:
        yield "", counted(f"{now} of {most} lanes" if most else f"{now} lanes" for now, most in found)


def _nic_links(host: Host, _: View) -> Iterator[tuple[str, str]]:
    """``x16 of x16, 32 GT/s`` of each RDMA device, which keeps its speed when idle."""
    by_bus = {device.bus_id: device for device in host.pci}
    for hca in host.hcas:
        device = by_bus.get(hca.bus_id or "")
        if device is not None and device.width:
            most = f" of x{device.width_max}" if device.width_max else ""
            speed = f", {device.speed_gts:g} GT/s" if device.speed_gts else ""
            yield hca.name, f"x{device.width}{most}{speed}"


def _nic_models(host: Host, _: View) -> Iterator[tuple[str, str]]:
    for hca in host.hcas:
        told = " ".join(filter(None, (hca.board or hca.part_id, f"({hca.board_id})" if hca.board_id else "")))
        if told:
            yield hca.name, told


def _topology(host: Host, _: View) -> Iterator[tuple[str, str]]:
    """The words of ``topo -m`` by pair, with NICs under their device names."""
    names = host.nic_labels or {}
    for link in host.links:
        if link.level is not None:
            yield f"{names.get(link.a) or link.a}-{names.get(link.b) or link.b}", link.level


def _gid_tables(host: Host, _: View) -> Iterator[tuple[str, str]]:
    """Index, type and kind of address of each entry, but not the address, which always differs."""
    for hca in host.hcas:
        for port in hca.ports:
            if port.gids:
                name = hca.name if port.number == 1 else f"{hca.name}/{port.number}"
                yield name, _layout(port)


def _layout(port: Port) -> str:
    return ", ".join(f"{gid.index}: {_kind(gid)}" for gid in port.gids)


def _kind(gid: Gid) -> str:
    if gid.ip is not None:
        return f"{gid.type or 'unreadable'} IPv4"
    address = gid.address or ""
    local = address.startswith("fe80")
    return f"{gid.type or 'unreadable'}{' link-local' if local else ' IPv6' if ip_address(address) else ''}"


def _interface_addresses(host: Host, view: View) -> Iterator[tuple[str, str]]:
    """``IPv4/16``: family and network size of each external address; the addresses always differ."""
    for interface in host.interfaces:
        if leads_out(interface, view) and (interface.addresses is not None or is_closed(host, "interfaces")):
            yield interface.name, counted(map(_form, interface.addresses or ())) or "none"


def _form(address: Address) -> str:
    text = address.ip.partition("%")[0]
    family = "link-local" if text.startswith("fe80") else "IPv6" if ":" in text else "IPv4"
    return f"{family}{'' if address.prefix_len is None else f'/{address.prefix_len}'}"


def _interface_states(host: Host, view: View) -> Iterator[tuple[str, str]]:
    for interface in host.interfaces:
        if interface.up is not None and leads_out(interface, view):
            yield interface.name, "up" if interface.up and interface.running is not False else "down"


def _kernel_options(host: Host, _: View) -> Iterator[tuple[str, str]]:
    if host.kernel_command_line is not None:
        found = (word for word in host.kernel_command_line.split() if _OPTIONS.fullmatch(word))
        yield "", " ".join(sorted(set(found))) or "none of note"


def _acs(host: Host, _: View) -> Iterator[tuple[str, str]]:
    told = [device.acs_redirects for device in host.pci if device.acs_redirects is not None]
    if told:
        yield "", "redirects on bridges" if any(told) else "no redirects"
    elif host.acs_redirects is not None:
        yield "", "redirects on bridges" if host.acs_redirects else "no redirects"


def _governors(host: Host, _: View) -> Iterator[tuple[str, str]]:
    if host.cpu_governors:
        yield "", ", ".join(sorted(host.cpu_governors))


def _limits(host: Host, _: View) -> Iterator[tuple[str, str]]:
    for limit in host.limits:
        if limit.unlimited:
            yield limit.name, "unlimited"
        elif limit.soft is not None:
            yield limit.name, str(limit.soft)


def _shm(host: Host, _: View) -> Iterator[tuple[str, str]]:
    for mount in host.mounts:
        if mount.path.endswith("/shm") and mount.size_bytes is not None:
            yield "", f"{mount.size_bytes / _GIB:.3g} GiB"
            return


READERS: dict[str, Callable[[Host, View], Iterable[tuple[str, str]]]] = {
    "nccl_run": _nccl_run, "nccl_installed": _nccl_installed, "driver": _driver, "plugin_run": _plugin_run,
    "plugins": _plugins, "settings": _settings, "conf_settings": _conf_settings, "gpu_lanes": _gpu_lanes,
    "nic_links": _nic_links, "nic_models": _nic_models, "topology": _topology, "gid_tables": _gid_tables,
    "interface_states": _interface_states, "interface_addresses": _interface_addresses,
    "kernel_options": _kernel_options, "acs": _acs, "governors": _governors, "limits": _limits, "shm": _shm,
}  # fmt: skip
