"""What the host itself tells: kernel modules, limits, driver, IOMMU, container or virtual machine, cloud, sysctls.

Each reader takes a `Tree` and gives observations; a file that is absent or unreadable leaves its fact unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ncdiag.facts.observe import Observation
from ncdiag.sources.tree import Tree

_LIMITS = {
    "Max locked memory": "memlock", "Max open files": "nofile", "Max stack size": "stack", "Max processes": "nproc",
}  # fmt: skip
_PEER_CLIENTS = ("nv_mem", "nv_mem_nc")  # src/transport/net_ib/gdr.cc, the files that NCCL itself looks for
_DRIVER = re.compile(r"(?:Kernel Module|Open Kernel Module for \S+)\s+(\d+\.\d+(?:\.\d+)?)")
_CONTAINER_FILES = (".dockerenv", "run/.containerenv", ".singularity.d", "run/systemd/container")
_CONTAINER_GROUPS = re.compile(r"docker|kubepods|containerd|crio|libpod|/lxc[./]|garden|nspawn", re.IGNORECASE)
_INITS = ("systemd", "init", "openrc-init", "runit")
_TRANSLATED = ("DMA", "DMA-FQ")  # Documentation/ABI/testing/sysfs-kernel-iommu_groups
_CLOUDS = {  # by DMI: the vendor, else the chassis tag
    "Amazon EC2": "aws", "Google": "gcp", "Alibaba Cloud": "alibaba", "Tencent Cloud": "tencent",
    "OracleCloud.com": "oci", "7783-7084-3265-9085-8269-3286-77": "azure",
}  # fmt: skip
_SYSCTLS = (
    *(f"kernel/{name}" for name in ("numa_balancing", "shmmax", "yama/ptrace_scope")),
    *(f"net/core/{name}" for name in ("rmem_max", "somaxconn", "wmem_max")),
    *(f"net/ipv4/{name}" for name in ("ip_local_port_range", "ip_local_reserved_ports", "tcp_max_syn_backlog")),
    *(f"net/ipv4/conf/{name}" for name in ("all/arp_announce", "all/arp_ignore", "all/rp_filter", "default/rp_filter")),
    "net/ipv6/conf/all/disable_ipv6",
    "vm/max_map_count",
)


def modules(tree: Tree) -> Iterator[Observation]:
    """Loaded kernel modules; a machine whose kernel has no modules has no such file, and that is unknown."""
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
    """Tell whether a GPU memory client registered with the RDMA core (``/sys/kernel/mm/memory_peers``)."""
    for client in _PEER_CLIENTS:
        path = f"sys/kernel/mm/memory_peers/{client}/version"
        if tree.exists(path):
            yield tree.fact(path, "Host", peermem_registered=True)
            return
    if tree.names("sys/kernel/mm") is not None:
        yield tree.fact("sys/kernel/mm/memory_peers", "Host", text="absent or empty", line=0, peermem_registered=False)


def limits(tree: Tree) -> Iterator[Observation]:
    """Soft limits of this process, as a program started from the same shell has; memlock and stack in bytes."""
    lines = tree.lines("proc/self/limits")
    for index, line in enumerate(lines or ()):
        name = next((short for long, short in _LIMITS.items() if line.startswith(long)), None)
        soft = line[25:].split()[:1] if name else []  # fs/proc/base.c prints the name in 25 columns
        if not name or not soft:
            continue
        fact = ("proc/self/limits", "Limit", name)
        if soft[0] == "unlimited":
            yield tree.fact(*fact, text=line, line=index + 1, unlimited=True)
        elif soft[0].isdecimal():
            yield tree.fact(*fact, text=line, line=index + 1, soft=int(soft[0]), unlimited=False)
    if lines:
        yield tree.whole("proc/self/limits", "ulimit")


def kernel(tree: Tree) -> Iterator[Observation]:
    """Kernel command line and sysctls."""
    line = tree.text("proc/cmdline")
    yield from tree.told("proc/cmdline", "Host", kernel_command_line=line)
    values = {
        name.replace("/", "."): value for name in _SYSCTLS if (value := tree.text(f"proc/sys/{name}")) is not None
    }
    if values:
        yield tree.fact("proc/sys", "Host", text="", line=0, sysctls=values)


def driver(tree: Tree) -> Iterator[Observation]:
    """Version of the NVIDIA driver and whether its kernel module is the open one."""
    text = tree.text("proc/driver/nvidia/version")
    found = _DRIVER.search(text or "")
    if text and found:
        is_open = "Open Kernel Module" in text
        yield tree.fact("proc/driver/nvidia/version", "Host", text=text, driver=found[1], open_kernel_module=is_open)


def iommu(tree: Tree) -> Iterator[Observation]:
    """Tell whether the IOMMU translates for GPUs and NICs (for any device where theirs are not known).

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
    return any(kind in {"02", "03"} for kind in kinds)


def surroundings(tree: Tree) -> Iterator[Observation]:
    """Container, virtual machine, cloud and instance type, each unknown when nothing speaks for or against it."""
    yield from _container(tree)
    flags = next((line for line in tree.lines("proc/cpuinfo") or () if line.startswith("flags")), None)
    if flags is not None:  # x86 alone has this line
        virtual = "hypervisor" in flags.split()
        yield tree.fact("proc/cpuinfo", "Host", text="hypervisor" if virtual else "", line=0, virtual_machine=virtual)
    for file in ("sys_vendor", "chassis_asset_tag"):
        path = f"sys/class/dmi/id/{file}"
        cloud = _CLOUDS.get(tree.text(path) or "")
        if cloud:
            yield tree.fact(path, "Host", cloud=cloud)
            break
    product = tree.text("sys/class/dmi/id/product_name")
    if product and tree.text("sys/class/dmi/id/sys_vendor") == "Amazon EC2":  # others put no instance type there
        yield tree.fact("sys/class/dmi/id/product_name", "Host", instance_type=product)


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
    """Device files that verbs programs open (``uverbs0``, ``rdma_cm``); that there are none is an answer, too."""
    names = tree.names("dev/infiniband")
    if names is None and ("dev/infiniband" in tree.refused or not tree.exists("dev")):
        return
    yield tree.fact("dev/infiniband", "Host", text=" ".join(names or ()), line=0, infiniband_devices=names or [])
