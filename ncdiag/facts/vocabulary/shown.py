"""Summaries of what was seen on a host: the values in the table of `ncdiag check`.

Each is None where nothing was seen, and an empty text where the thing is known not to exist.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ncdiag.base.products import efa_machines
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Port
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.gpus import module_of
from ncdiag.facts.vocabulary.hosts import sysctl
from ncdiag.facts.vocabulary.interfaces import is_loopback
from ncdiag.facts.vocabulary.pci import is_nvidia_gpu, is_rdma_card
from ncdiag.facts.vocabulary.rdma import is_roce, rocev2_ipv4_index

_SHOWN = 4
_MODULES = ("nvidia", "nvidia_uvm", "nvidia_peermem", "nv_peer_mem", "mlx5_ib", "ib_uverbs", "efa", "gdrdrv", "nouveau")


def _listed(items: Iterable[str]) -> str:
    found = list(items)
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more


def _counted(items: Iterable[str]) -> str:
    """Count equal items: ``8 x16, 1 x4``."""
    return ", ".join(f"{count} {item}" for item, count in Counter(items).items())


@derived
def addresses_shown(host: Host, view: View) -> str | None:
    """The interfaces with addresses, without loopback: ``eth0 10.1.0.5/24, rail0 10.61.0.7/24``."""
    if not is_closed(host, "interfaces"):
        return None
    named = [i for i in host.interfaces if i.addresses and not is_loopback(i, view)]
    return _listed(f"{i.name} {i.addresses[0].ip}/{i.addresses[0].prefix_len}" for i in named if i.addresses)


@derived
def links_shown(host: Host, view: View) -> str | None:
    """The interfaces other than loopback, counted by link state: ``8 up, 1 down``."""
    if not is_closed(host, "interfaces"):
        return None
    others = [i for i in host.interfaces if not is_loopback(i, view)]
    return _counted("down" if i.up is False or i.running is False else "up" for i in others)


@derived
def mtus_shown(host: Host, view: View) -> str | None:
    """The MTUs of interfaces that have an address, counted: ``8 of 9000, 1 of 1500``."""
    if not is_closed(host, "interfaces"):
        return None
    return _counted(f"of {i.mtu}" for i in host.interfaces if i.mtu and i.addresses and not is_loopback(i, view))


def _ports(host: Host) -> list[Port]:
    return [port for hca in host.hcas for port in hca.ports]


@derived
def rdma_shown(host: Host, view: View) -> str | None:
    """RDMA ports counted by link layer and state: ``8 InfiniBand active``."""
    if not host.hcas and not is_closed(host, "hcas"):
        return None
    return _counted(f"{port.link_layer or 'port'} {port.state or 'of unknown state'}" for port in _ports(host))


@derived
def rates_shown(host: Host, view: View) -> str | None:
    """The rates of active RDMA ports, counted: ``8 of 400 Gbit/s``."""
    ports = _ports(host)
    if not ports:
        return "" if is_closed(host, "hcas") else None
    return _counted(f"of {port.rate_gbps:g} Gbit/s" for port in ports if port.rate_gbps and port.state == "active")


@derived
def expected_rdma(host: Host, view: View) -> str:
    """The RDMA devices that a known instance type has: ``4 EFA devices (p4d.24xlarge)``."""
    machine = efa_machines().get(host.instance_type or "")
    return f"{machine.ports} EFA devices ({machine.name})" if machine is not None and machine.ports else ""


@derived
def gids_shown(host: Host, view: View) -> str | None:
    """RoCE ports with a usable GID, counted: ``RoCE v2 with IPv4 on 8 of 8 RoCE ports``."""
    ports = [port for port in _ports(host) if is_roce(port, view)]
    if not ports:
        return "" if is_closed(host, "hcas") else None
    if not any(port.gids or port.gids_complete for port in ports):
        return None
    good = sum(rocev2_ipv4_index(port, view) is not None for port in ports)
    return f"RoCE v2 with IPv4 on {good} of {len(ports)} RoCE ports"


@derived
def gpus_shown(host: Host, view: View) -> str | None:
    """The GPUs counted by model, ``8 NVIDIA H100 80GB HBM3``; else those on the PCI bus."""
    if host.gpus:
        return _counted(gpu.model or "GPU" for gpu in host.gpus)
    if not is_closed(host, "pci"):
        return None
    count = sum(map(is_nvidia_gpu, host.pci))
    return f"{count} on the PCI bus" if count else ""


@derived
def expected_gpus(host: Host, view: View) -> str:
    """The number of GPUs that a board of a known model has: ``a whole board of 8``."""
    boards = {product.board for gpu in host.gpus if (product := module_of(gpu)) is not None and product.board}
    board = boards.pop() if len(boards) == 1 else 0
    return f"a whole board of {board}" if len(host.gpus) > board // 2 > 0 else ""  # slices of a board have less


@derived
def driver_shown(host: Host, view: View) -> str | None:
    """The GPU driver and the kind of its kernel modules: ``550.54.15, open kernel modules``."""
    if host.driver is None:
        return "" if gpus_shown(host, view) == "" else "none" if is_closed(host, "modules") else None
    kinds = {True: ", open kernel modules", False: ", proprietary kernel modules", None: ""}
    return f"{host.driver}{kinds[host.open_kernel_module]}"


@derived
def widths_shown(host: Host, view: View) -> str | None:
    """GPUs and RDMA cards counted by PCIe lanes, in use of possible ones: ``15 x16 of x16, 1 x4 of x16``."""
    found = [d for d in host.pci if (is_nvidia_gpu(d) or is_rdma_card(d, host)) and d.width and d.width_max]
    told = [f"x{d.width} of x{d.width_max}" for d in found]
    seen = {d.bus_id for d in host.pci}
    told += [f"x{g.pcie_width} of x{g.pcie_width_max}" for g in host.gpus if g.pcie_width and g.bus_id not in seen]
    if told:
        return _counted(told)
    return "" if is_closed(host, "pci") and not any(map(is_nvidia_gpu, host.pci)) and not host.hcas else None


@derived
def nvlinks_shown(host: Host, view: View) -> str | None:
    """GPUs counted by the number of NVLinks that are up: ``8 of 18 NVLinks``; empty without NVLink."""
    known = [g.nvlinks for g in host.gpus if g.nvlinks is not None]
    if any(known):
        return _counted([f"of {number} NVLinks" for number in known])
    return "" if known or gpus_shown(host, view) == "" else None


@derived
def fabric_shown(host: Host, view: View) -> str | None:
    """GPUs counted by the state of their registration with the NVLink fabric: ``8 Completed``."""
    told = [g.fabric_state for g in host.gpus if g.fabric_state]
    return _counted(told) if told else "" if gpus_shown(host, view) == "" else None


@derived
def peermem_shown(host: Host, view: View) -> str | None:
    """The peer-memory kernel modules that are loaded: ``nvidia_peermem``."""
    names = [m.name for m in host.modules if m.name in {"nvidia_peermem", "nv_peer_mem"}]
    if (not host.hcas and is_closed(host, "hcas")) or driver_shown(host, view) in {"", "none"}:
        return ""
    return ", ".join(names) or ("none" if is_closed(host, "modules") else None)


@derived
def iommu_shown(host: Host, view: View) -> str | None:
    """The mode of the IOMMU: ``translates addresses`` or ``pass-through or off``."""
    return {True: "translates addresses", False: "pass-through or off", None: None}[host.iommu_translating]


@derived
def acs_shown(host: Host, view: View) -> str | None:
    """The bridges on which ACS redirects peer traffic: ``redirects on 2 of 40 bridges``."""
    told = [d.acs_redirects for d in host.pci if d.acs_redirects is not None]
    if told:
        return f"redirects on {sum(told)} of {len(told)} bridges"
    return "" if is_closed(host, "pci") and not any(d.is_bridge for d in host.pci) else None


def _limit(host: Host, name: str) -> str | None:
    limit = next((limit for limit in host.limits if limit.name == name), None)
    if limit is None:
        return None
    return "unlimited" if limit.unlimited else None if limit.soft is None else str(limit.soft)


@derived
def memlock_shown(host: Host, view: View) -> str | None:
    """The limit of memory that a process may lock, which only RDMA needs."""
    if not host.hcas and is_closed(host, "hcas"):
        return ""
    text = _limit(host, "memlock")
    return f"{text} bytes" if text is not None and text.isdecimal() else text


@derived
def nofile_shown(host: Host, view: View) -> str | None:
    """The limit of open files of a process."""
    return _limit(host, "nofile")


@derived
def ports_shown(host: Host, view: View) -> str | None:
    """The range of ephemeral TCP ports of the kernel: ``32768 to 60999``."""
    words = (sysctl(host, "net.ipv4.ip_local_port_range") or "").split()
    return " to ".join(words) or None


@derived
def shm_shown(host: Host, view: View) -> str | None:
    """The size of /dev/shm, and what is free where half or more is used: ``64 MiB, 7 MiB free``."""
    mount = next((mount for mount in host.mounts if mount.path.endswith("/shm")), None)
    if mount is None or mount.size_bytes is None:
        return None
    free = mount.available_bytes
    used = free is not None and 2 * free <= mount.size_bytes
    return _size(mount.size_bytes) + (f", {_size(free)} free" if used and free is not None else "")


def _size(count: int) -> str:
    return f"{count / (1 << 30):.4g} GiB" if count >= 1 << 30 else f"{count / (1 << 20):.3g} MiB"


@derived
def modules_shown(host: Host, view: View) -> str | None:
    """The loaded kernel modules that matter to NCCL."""
    if not is_closed(host, "modules"):
        return None
    loaded = {module.name for module in host.modules}
    return ", ".join(name for name in _MODULES if name in loaded) or "none of those that matter"


@derived
def clock_shown(host: Host, view: View) -> str | None:
    """The clock source and synchronization: ``tsc, synchronised to a reference``."""
    kept = {True: "synchronised to a reference", False: "not synchronised to a reference", None: None}[
        host.clock_synchronized
    ]
    return ", ".join(filter(None, (host.clock_source, kept))) or None


@derived
def governors_shown(host: Host, view: View) -> str | None:
    """Processors counted by frequency governor: ``64 performance``."""
    told = host.cpu_governors
    return None if told is None else ", ".join(f"{count} {name}" for name, count in told.items())


@derived
def firewall_shown(host: Host, view: View) -> str | None:
    """What the packet filter does with incoming packets: ``policy drop, 3 rules drop``."""
    if host.input_policy is None and host.input_drops is None:
        return None
    return f"policy {host.input_policy or 'not shown'}, {host.input_drops or 0} rules drop"


@derived
def libraries_shown(host: Host, view: View) -> str | None:
    """The NCCL libraries with their releases: ``2.21.5 (/usr/lib/x86_64-linux-gnu/libnccl.so.2)``."""
    found = [item for item in host.libraries if "/libnccl.so" in item.path]
    told = [f"{item.version or 'release unknown'} ({item.path})" for item in found]
    return _listed(told) or (str(host.nccl_version) if host.nccl_version is not None else None)


@derived
def plugins_shown(host: Host, view: View) -> str | None:
    """The NCCL plugins among the libraries."""
    found = [item.path.rpartition("/")[2] for item in host.libraries if "/libnccl-" in item.path]
    return _listed(found) or ("" if host.libraries else None)


@derived
def variables_shown(host: Host, view: View) -> str | None:
    """The variables set in the environment and in conf files: ``NCCL_DEBUG=INFO, NCCL_IB_HCA=mlx5``."""
    told = list(_assigned(host))
    if told:
        return _listed(told)
    return "no variable of NCCL is set" if is_closed(host, "settings") else None


def _assigned(host: Host) -> Iterator[str]:
    for settings in (host.settings, host.conf_settings):
        yield from (f"{n}={s.text}" for n, s in settings.items() if n.startswith("NCCL_") and s.is_set)


@derived
def place_shown(host: Host, view: View) -> str | None:
    """Where the system runs: ``a container on a virtual machine (aws p4d.24xlarge)``."""
    if host.in_container is None and host.virtual_machine is None:
        return None
    words = ["a container on"] if host.in_container else []
    words.append("a virtual machine" if host.virtual_machine else "a machine of its own")
    kind = " ".join(filter(None, (host.cloud, host.instance_type)))
    return " ".join(words) + (f" ({kind})" if kind else "")


@derived
def verbs_shown(host: Host, view: View) -> str | None:
    """The verbs device files, counted: ``8 in /dev/infiniband``."""
    if not host.hcas and is_closed(host, "hcas"):
        return ""
    names = host.infiniband_devices
    return None if names is None else f"{sum(name.startswith('uverbs') for name in names)} in /dev/infiniband"
