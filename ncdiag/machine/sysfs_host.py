"""Facts of the host: kernel modules, limits, driver, IOMMU, container or virtual machine, cloud, sysctls.

Each reader takes a `Tree` and yields observations; a fact is unknown if its file is absent or unreadable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ncdiag.agent.ask import sizes
from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.observe import Observation
from ncdiag.formats.clouds import AMAZON, CLOUDS
from ncdiag.formats.shell import hide_secrets
from ncdiag.machine.tree import Tree

_LIMITS = {
    "Max locked memory": "memlock", "Max open files": "nofile", "Max stack size": "stack", "Max processes": "nproc",
}  # fmt: skip
_PEER_CLIENTS = ("nv_mem", "nv_mem_nc")  # files that NCCL itself looks for: v2.30.7, src/transport/net_ib/gdr.cc
_DRIVER = lazy_regex(r"(?:Kernel Module|Open Kernel Module for \S+)\s+(\d+\.\d+(?:\.\d+)?)")
_CONTAINER_FILES = (".dockerenv", "run/.containerenv", ".singularity.d", "run/systemd/container")
_CONTAINER_GROUPS = lazy_regex(r"docker|kubepods|containerd|crio|libpod|/lxc[./]|garden|nspawn", re.IGNORECASE)
_SHM = "/dev/shm"  # noqa: S108  (it is the subject, no temporary file)
_SIZE = lazy_regex(r"\bsize=(\d{1,15})([kmg]?)\b")
_SHIFTS = {"": 0, "k": 10, "m": 20, "g": 30}
_INITS = ("systemd", "init", "openrc-init", "runit")
_TRANSLATED = ("DMA", "DMA-FQ")  # Documentation/ABI/testing/sysfs-kernel-iommu_groups
_OS_NAME, _OS_LENGTH = "PRETTY_NAME=", 100
_CONF = ("arp_announce", "arp_filter", "arp_ignore", "rp_filter")
_SYSCTLS = (
    *(f"kernel/{name}" for name in ("dmesg_restrict", "numa_balancing", "shmmax", "yama/ptrace_scope")),
    *(f"net/core/{name}" for name in ("rmem_max", "somaxconn", "wmem_max")),
    *(f"net/ipv4/{name}" for name in ("ip_local_port_range", "ip_local_reserved_ports", "tcp_max_syn_backlog")),
    *(f"net/ipv4/{name}" for name in ("tcp_keepalive_time", "tcp_rmem", "tcp_wmem")),
    *(f"net/ipv4/conf/{where}/{name}" for where in ("all", "default") for name in _CONF),
    "net/ipv6/conf/all/disable_ipv6",
    "vm/max_map_count",
    "vm/nr_hugepages",
)


def modules(tree: Tree) -> Iterator[Observation]:
    """Loaded kernel modules; unknown if the file is missing, as on a kernel without modules."""
    lines = tree.lines("proc/modules")
    for index, line in enumerate(lines or ()):
        words = line.split()
        if len(words) > 2 and words[1].isdecimal():  # noqa: PLR2004  (name, size, use count ...)
            used = int(words[2]) if words[2].isdecimal() else None
            key = ("KernelModule", words[0])
            yield tree.fact("proc/modules", *key, text=line, line=index + 1, size=int(words[1]), used_by=used)
    if lines is not None:
        yield tree.whole("proc/modules", "lsmod")
    path = "sys/module/nvidia_peermem/version"
    if lines is None and tree.exists(path):
        yield tree.fact(path, "KernelModule", "nvidia_peermem")


def peer_memory(tree: Tree) -> Iterator[Observation]:
    """Whether a GPU memory client is registered with the RDMA core (``/sys/kernel/mm/memory_peers``)."""
    for client in _PEER_CLIENTS:
        path = f"sys/kernel/mm/memory_peers/{client}/version"
        if tree.exists(path):
            yield tree.fact(path, "Host", peermem_registered=True)
            return
    if tree.names("sys/kernel/mm") is not None:
        yield tree.fact("sys/kernel/mm/memory_peers", "Host", text="absent or empty", line=0, peermem_registered=False)


def limits(tree: Tree) -> Iterator[Observation]:
    """Soft limits of the inspected process, else of this one; memlock and stack in bytes.

    Those of this process are the ones that a program started from the same shell gets.
    """
    path = f"proc/{tree.ask('process', lambda: None) or 'self'}/limits"
    lines = tree.lines(path)
    for index, line in enumerate(lines or ()):
        name = next((short for long, short in _LIMITS.items() if line.startswith(long)), None)
        values = line[25:].split()[:2] if name else []  # fs/proc/base.c prints the name in 25 columns
        if name and len(values) == 2:  # noqa: PLR2004  (soft and hard)
            soft, hard = (int(value) if value.isdecimal() else None for value in values)
            free, hard_free = (value == "unlimited" for value in values)
            told = {"soft": soft, "unlimited": free, "hard": hard, "hard_unlimited": hard_free or None}
            yield tree.fact(path, "Limit", name, text=line, line=index + 1, **told)
    if lines:
        yield tree.whole(path, "ulimit")


def kernel(tree: Tree) -> Iterator[Observation]:
    """Kernel release, command line and sysctls, and the name of the operating system."""
    for file, field in (("osrelease", "kernel_release"), ("arch", "cpu_arch")):  # arch: Linux 6.1 and later
        fields: dict[str, Any] = {field: tree.text(f"proc/sys/kernel/{file}")}
        yield from tree.told(f"proc/sys/kernel/{file}", "Host", **fields)
    for text in tree.lines("etc/os-release") or ():  # os-release(5)
        if text.startswith(_OS_NAME):
            name = text.removeprefix(_OS_NAME).strip().strip("\"'")[:_OS_LENGTH]  # without shell quotes
            yield from tree.told("etc/os-release", "Host", text=text, os_release=name or None)
    line = hide_secrets(tree.text("proc/cmdline") or "") or None
    yield from tree.told("proc/cmdline", "Host", text=line, kernel_command_line=line)
    values = {
        name.replace("/", "."): " ".join(value.split())
        for name in (*_SYSCTLS, *_of_interfaces(tree))
        if (value := tree.text(f"proc/sys/{name}")) is not None
    }
    if values:
        yield tree.fact("proc/sys", "Host", text="", line=0, sysctls=values)


def _of_interfaces(tree: Tree) -> Iterator[str]:
    """The sysctl of each external interface: the kernel uses the larger of this and that of ``all``."""
    for name in tree.names("sys/class/net") or ():
        if any(tree.exists(f"sys/class/net/{name}/{entry}") for entry in ("device", "bonding")):
            yield from (f"net/ipv4/conf/{name}/{option}" for option in _CONF)


def driver(tree: Tree) -> Iterator[Observation]:
    """The version of the NVIDIA driver, and whether its kernel module is the open one."""
    text = tree.text("proc/driver/nvidia/version")
    found = _DRIVER.search(text or "")
    if text and found:
        is_open = "Open Kernel Module" in text
        yield tree.fact("proc/driver/nvidia/version", "Host", text=text, driver=found[1], open_kernel_module=is_open)


def iommu(tree: Tree) -> Iterator[Observation]:
    """Whether the IOMMU translates for GPUs and NICs (if these are unknown: for any device).

    Without groups it is off.
    """
    base = "sys/kernel/iommu_groups"
    groups = tree.names(base)
    if groups is None:
        return
    types = {group: tree.text(f"{base}/{group}/type") for group in groups}
    mine = [group for group in groups if _of_interest(tree, f"{base}/{group}/devices")] or groups
    unknown = [group for group in mine if types[group] is None]
    translated = [group for group in mine if types[group] in _TRANSLATED]
    if translated:
        yield tree.fact(f"{base}/{translated[0]}/type", "Host", iommu_translating=True)
    elif not unknown:
        text = "all groups identity" if groups else "no groups"
        yield tree.fact(base, "Host", text=text, line=0, iommu_translating=False)


def _of_interest(tree: Tree, path: str) -> bool:
    kinds = ((tree.text(f"{path}/{name}/class") or "")[2:4] for name in tree.names(path) or ())
    return any(kind in {"02", "03", "12"} for kind in kinds)


def surroundings(tree: Tree) -> Iterator[Observation]:
    """Container, virtual machine, cloud and instance type; each is unknown without evidence for or against it."""
    yield from _container(tree)
    processor = _processor(tree)
    flags, vendor = processor.get("flags"), processor.get("vendor_id")
    if flags is not None:  # only x86 has this line
        virtual = "hypervisor" in flags.split()
        yield tree.fact("proc/cpuinfo", "Host", text="hypervisor" if virtual else "", line=0, virtual_machine=virtual)
    arch = "x86_64" if flags is not None else "aarch64" if "CPU implementer" in processor else None
    yield from tree.told("proc/cpuinfo", "Host", text=f"vendor_id: {vendor}", cpu_vendor=vendor, cpu_arch=arch)
    for file in ("sys_vendor", "chassis_asset_tag"):
        path = f"sys/class/dmi/id/{file}"
        cloud = CLOUDS.get(tree.text(path) or "")
        if cloud:
            yield tree.fact(path, "Host", cloud=cloud)
            break
    product = tree.text("sys/class/dmi/id/product_name")
    maker = tree.text("sys/class/dmi/id/sys_vendor")
    if product and maker:
        yield tree.fact("sys/class/dmi/id/product_name", "Host", machine=f"{maker} {product}")
    if product and maker == AMAZON:  # other makers put no instance type there
        yield tree.fact("sys/class/dmi/id/product_name", "Host", instance_type=product)


def _processor(tree: Tree) -> dict[str, str]:
    """The entries of ``/proc/cpuinfo`` for the first processor."""
    found: dict[str, str] = {}
    for line in tree.lines("proc/cpuinfo") or ():
        if not line.strip():
            break
        key, _, value = line.partition(":")
        found.setdefault(key.strip(), value.strip())
    return found


def _container(tree: Tree) -> Iterator[Observation]:
    for path in _CONTAINER_FILES:
        if tree.exists(path):
            yield tree.fact(path, "Host", text="exists", line=0, in_container=True)
            return
    groups = tree.text("proc/1/cgroup") or ""
    if _CONTAINER_GROUPS.search(groups):
        yield tree.fact("proc/1/cgroup", "Host", text=groups, in_container=True)
    elif tree.text("proc/1/comm") in _INITS:
        yield tree.fact("proc/1/comm", "Host", in_container=False)


def infiniband_devices(tree: Tree) -> Iterator[Observation]:
    """Device files that verbs programs open (``uverbs0``, ``rdma_cm``); an empty list means that there are none."""
    names = tree.names("dev/infiniband")
    if names is None and ("dev/infiniband" in tree.refused or not tree.exists("dev")):
        return
    yield tree.fact("dev/infiniband", "Host", text=" ".join(names or ()), line=0, infiniband_devices=names or [])


def shared_memory(tree: Tree) -> Iterator[Observation]:
    """The size of /dev/shm: by statvfs on this machine, from the mount options (``size=65536k``) in a recorded tree."""
    rows = [line.split() for line in tree.lines("proc/self/mounts") or ()]
    row = next((row for row in reversed(rows) if row[1:2] == [_SHM] and len(row) > 3), None)  # noqa: PLR2004
    device, _, fstype, options = row[:4] if row else (None, None, None, "")
    key = ("Mount", _SHM)
    fields: dict[str, Any] = {"filesystem": device, "fstype": fstype}
    if tree.replies:
        told = tree.ask("size of /dev/shm", sizes)
        if told is None:
            return
        if not told:
            yield tree.whole("dev", "df_shm")
            return
        fields.update(told)
        yield tree.fact("dev/shm", *key, text=f"statvfs: {fields['size_bytes']} bytes", line=0, **fields)
    else:
        size = _SIZE.search(options)
        if size is None:
            return
        fields["size_bytes"] = int(size[1]) << _SHIFTS[size[2]]
        yield tree.fact("proc/self/mounts", *key, text=" ".join(row or ()), **fields)
    yield tree.whole("dev/shm", "df_shm")
