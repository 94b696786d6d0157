"""RDMA devices from ``/sys/class/infiniband``: HCAs, ports, GID tables, counters; needs neither packages nor root.

Formats: kernel Documentation/ABI/stable/sysfs-class-infiniband. Reading the type or interface of a GID that is empty,
or whose interface belongs to another network namespace, fails with EINVAL; then it is unknown, as it is to NCCL.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import bus_id
from ncdiag.formats import rdma as formats_rdma
from ncdiag.machine.tree import Tree

DEVICES = "sys/class/infiniband"

_RATE = lazy_regex(r"(\d{1,9}(?:\.\d{1,9})?) Gb/sec")
_PKEYS = 16  # number of table entries that are read; adapters have 128, and the used ones come first


def rdma(tree: Tree) -> Iterator[Observation]:
    """All RDMA devices; a missing folder in a readable /sys means that there are none."""
    names = tree.names(DEVICES)
    if names is None and (DEVICES in tree.refused or not tree.exists("sys/class")):
        return
    for name in names or ():
        yield from _hca(tree, name)
    yield tree.whole(DEVICES, "sysfs_infiniband")


def _hca(tree: Tree, name: str) -> Iterator[Observation]:
    base, key = f"{DEVICES}/{name}", ("Hca", name)
    where = pci_address(tree, f"{base}/device")
    yield tree.fact(base, *key, text=tree.target(f"{base}/device") or "", line=0, bus_id=where)
    yield from tree.told(f"{base}/fw_ver", *key, firmware=tree.text(f"{base}/fw_ver"))
    board = "hca_type" if tree.text(f"{base}/hca_type") else "board_id"
    yield from tree.told(f"{base}/{board}", *key, board=tree.text(f"{base}/{board}"))
    yield from tree.told(f"{base}/node_guid", *key, node_guid=formats_rdma.guid(tree.text(f"{base}/node_guid") or ""))
    node = tree.number(f"{base}/device/numa_node")  # -1: the firmware does not report it
    yield from tree.told(f"{base}/device/numa_node", *key, numa_node=None if node == -1 else node)
    driver = tree.target(f"{base}/device/driver") or uevent(tree, f"{base}/device").get("DRIVER")
    yield from tree.told(f"{base}/device/driver", *key, text=driver, driver=driver)
    ports = [int(port) for port in tree.names(f"{base}/ports") or () if port.isdecimal()]
    for number in ports:
        yield from _port(tree, name, number)
        netdev = _netdev(tree, name, number, alone=len(ports) == 1)
        if netdev:
            path, interface = netdev
            yield tree.fact(path, "Port", name, number, text=interface, netdev=interface)
            if tree.exists(f"sys/class/net/{interface}"):
                yield tree.fact(path, "Interface", interface, text=interface, hca=name)


def _port(tree: Tree, hca: str, number: int) -> Iterator[Observation]:
    base, key = f"{DEVICES}/{hca}/ports/{number}", ("Port", hca, number)
    yield from tree.told(f"{base}/state", *key, state=formats_rdma.port_state(tree.text(f"{base}/state") or ""))
    physical = formats_rdma.physical_state(tree.text(f"{base}/phys_state") or "")
    yield from tree.told(f"{base}/phys_state", *key, physical_state=physical)
    rate_text = tree.text(f"{base}/rate")
    rate = _RATE.match(rate_text or "")
    yield from tree.told(f"{base}/rate", *key, rate_gbps=float(rate[1]) if rate else None, rate_text=rate_text)
    layer = formats_rdma.link_layer(tree.text(f"{base}/link_layer") or "")
    yield from tree.told(f"{base}/link_layer", *key, link_layer=layer)
    yield from tree.told(f"{base}/lid", *key, lid=tree.number(f"{base}/lid", 0))
    yield from tree.told(f"{base}/sm_lid", *key, sm_lid=tree.number(f"{base}/sm_lid", 0))
    counters = _counters(tree, base)
    if counters:
        yield tree.fact(f"{base}/counters", *key, text="", line=0, counters=counters)
    keys = [tree.text(f"{base}/pkeys/{index}") for index in (tree.names(f"{base}/pkeys") or ())[:_PKEYS]]
    table = formats_rdma.pkey_table({index: pkey for index, pkey in enumerate(keys) if pkey})
    if table:
        yield tree.fact(f"{base}/pkeys", *key, text=" ".join(table), line=0, pkeys=table)
    yield from _gids(tree, hca, number, layer)


def _counters(tree: Tree, base: str) -> dict[str, int]:
    """Counters of a port (``base``: its folder); some drivers put ``hw_counters`` in the device folder."""
    own = (f"{base}/counters", f"{base}/hw_counters")
    device = base.rpartition("/ports/")[0]
    return {
        name: value
        for folder in (*own, f"{device}/hw_counters")
        for name in tree.names(folder) or ()
        if name != "lifespan" and (value := tree.number(f"{folder}/{name}")) is not None
    }


def sample_again(tree: Tree, ports: Sequence[Observation], seconds: float) -> list[dict[str, float]] | None:
    """Counters of the same ports ``seconds`` later, with the elapsed time as ``seconds``; None if ``seconds`` is 0."""
    if seconds <= 0 or not ports:
        return None
    again, began = Tree(tree.root, tree.host), time.monotonic()
    time.sleep(seconds)
    return [
        {**_counters(again, f"{DEVICES}/{o.key[0]}/ports/{o.key[1]}"), "seconds": round(time.monotonic() - began, 2)}
        for o in ports
    ]


def _gids(tree: Tree, hca: str, number: int, layer: str | None) -> Iterator[Observation]:
    """The entries of the table that hold a GID; ``gids_complete`` says that all indexes were read."""
    base = f"{DEVICES}/{hca}/ports/{number}"
    indices = tree.names(f"{base}/gids")
    if indices is None:
        return
    for index in (int(name) for name in indices if name.isdecimal()):
        path, key = f"{base}/gids/{index}", ("Gid", hca, number, index)
        text = tree.text(path) or ""
        address = formats_rdma.gid(text)
        if address is None or address in formats_rdma.EMPTY_GIDS:
            continue
        yield tree.fact(path, *key, text=text, address=address, ip=formats_rdma.mapped_ip(address))
        kind = tree.text(f"{base}/gid_attrs/types/{index}")
        if kind == "IB/RoCE v1":
            kind = "IB" if layer == "InfiniBand" else "RoCE v1" if layer == "Ethernet" else None
        yield from tree.told(f"{base}/gid_attrs/types/{index}", *key, type=kind)
        device = f"{base}/gid_attrs/ndevs/{index}"
        yield from tree.told(device, *key, netdev=tree.text(device))
    yield tree.fact(f"{base}/gids", "Port", hca, number, text="", line=0, gids_complete=True)


def _netdev(tree: Tree, hca: str, number: int, *, alone: bool) -> tuple[str, str] | None:
    """(file, interface) of a port: the interface of its first GID, else that of the same PCI function.

    If a function has several interfaces, ``dev_port`` (counted from 0) says to which port each belongs.
    """
    path = f"{DEVICES}/{hca}/ports/{number}/gid_attrs/ndevs/0"
    first = tree.text(path)
    if first:
        return path, first
    folder = f"{DEVICES}/{hca}/device/net"
    names = tree.names(folder) or []
    mine = [name for name in names if tree.number(f"{folder}/{name}/dev_port") == number - 1]
    if len(names) == 1 and alone:
        mine = names
    return (f"{folder}/{mine[0]}", mine[0]) if len(mine) == 1 else None


def uevent(tree: Tree, path: str) -> dict[str, str]:
    """The ``KEY=value`` lines of a device's uevent file."""
    pairs = (line.partition("=") for line in tree.lines(f"{path}/uevent") or ())
    return {key: value for key, equals, value in pairs if equals}


def pci_address(tree: Tree, path: str) -> str | None:
    """The bus id of the PCI function at a ``device`` link, even if a recording replaced the link by a folder."""
    return bus_id(uevent(tree, path).get("PCI_SLOT_NAME") or tree.target(path) or "")
