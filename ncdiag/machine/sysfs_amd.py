"""AMD GPUs from the compute driver's topology (``/sys/class/kfd``): the GPUs, and the pairs connected by xGMI.

Format: kernel drivers/gpu/drm/amd/amdkfd/kfd_topology.c, kfd_crat.h (a link of type 11 is xGMI, of type 2 PCIe) and
drivers/gpu/drm/amd/amdgpu/amdgpu_vram_mgr.c. GPUs are numbered in the order of their bus ids, as in rocm-smi.
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import bus_id
from ncdiag.machine.sysfs_pci import DEVICES, gpu_link
from ncdiag.machine.tree import Tree

NODES = "sys/class/kfd/kfd/topology/nodes"

_AMD = 0x1002
_LEVELS = {11: "XGMI", 2: "PCIE"}
_DRIVER = "sys/module/amdgpu/version"


def gpus(tree: Tree) -> Iterator[Observation]:
    """The GPUs, and a TopoLink for each pair of them."""
    nodes = {}
    for name in tree.names(NODES) or ():
        told = _properties(tree, f"{NODES}/{name}/properties")
        place = _bus_id(told) if told.get("vendor_id") == _AMD and told.get("location_id") else None
        if place and name.isdecimal():
            nodes[int(name)] = place
    order = {where: index for index, where in enumerate(sorted(nodes.values()))}
    driver = tree.text(_DRIVER)
    for node, where in nodes.items():
        key, device = ("Gpu", where), f"{DEVICES}/{where}"
        memory = tree.number(f"{device}/mem_info_vram_total")
        yield tree.fact(
            f"{NODES}/{node}/properties", *key, text=f"AMD GPU {where}", line=0, bus_id=where, index=order[where],
            driver=driver, model=tree.text(f"{device}/product_name"), memory_mib=memory >> 20 if memory else None,
        )  # fmt: skip
        yield from gpu_link(tree, where, key)
        yield from _links(tree, node, nodes, order)
    if nodes:
        yield tree.whole(NODES, "kfd")


def _links(tree: Tree, node: int, nodes: dict[int, str], order: dict[str, int]) -> Iterator[Observation]:
    for folder in ("io_links", "p2p_links"):  # direct ones, and those over bridges
        for number in tree.names(f"{NODES}/{node}/{folder}") or ():
            path = f"{NODES}/{node}/{folder}/{number}/properties"
            told = _properties(tree, path)
            level, other = _LEVELS.get(told.get("type", 0)), nodes.get(told.get("node_to", -1))
            if level and other and order[other] > order[nodes[node]]:
                ends = [f"GPU{order[where]}" for where in (nodes[node], other)]
                way = "NVL" if level == "XGMI" else None  # RCCL treats xGMI like NVLink
                text = f"type {told['type']}"
                yield tree.fact(path, "TopoLink", *ends, text=text, line=0, level=level, path_type=way)


def _properties(tree: Tree, path: str) -> dict[str, int]:
    """Parse lines of a name and a number."""
    pairs = (line.split() for line in tree.lines(path) or ())
    return {
        words[0]: int(words[1]) for words in pairs
        if len(words) == 2 and words[1].isdecimal() and len(words[1]) < 25  # noqa: PLR2004  (digits of 64 bits)
    }  # fmt: skip


def _bus_id(told: dict[str, int]) -> str | None:
    """The bus id: ``location_id`` is bus and function in 16 bits, ``domain`` the PCI domain."""
    place, domain = told["location_id"], told.get("domain", 0)
    return bus_id(f"{domain & 0xFFFFFFFF:04x}:{place >> 8 & 0xFF:02x}:{place >> 3 & 0x1F:02x}.{place & 7}")
