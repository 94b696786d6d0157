"""What a look at each host of a large cluster saw: nodes with eight GPUs and eight RoCE rails, alike but for oddities.

Names and addresses are invented. Every host is an item for `ncdiag.text.reading.many.read_all`, as a bundle is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, get_args

from ncdiag.base.spans import span
from ncdiag.facts.observe import Observation

Oddity = Literal[
    "driver", "memlock", "mtu", "module", "lanes", "nvlink", "firmware", "port", "setting", "governor",
]  # fmt: skip
ODDITIES: tuple[Oddity, ...] = get_args(Oddity)
"""What can be planted, each on a host of its own."""

_GPU_BUSES = [f"0000:{n:02x}:00.0" for n in (0x1B, 0x43, 0x52, 0x61, 0x9D, 0xC3, 0xD1, 0xDF)]
_NIC_BUSES = [f"0000:{n:02x}:00.0" for n in (0x18, 0x40, 0x4F, 0x5E, 0x9A, 0xC0, 0xCE, 0xDC)]
_MODULES = (
    "nvidia", "nvidia_uvm", "nvidia_modeset", "nvidia_peermem", "mlx5_core", "mlx5_ib", "mlxfw", "ib_core",
    "ib_uverbs", "ib_umad", "ib_ipoib", "ib_cm", "rdma_cm", "rdma_ucm", "iw_cm", "gdrdrv", "xpmem", "knem", "bonding",
    "tls", "psample", "ip_tables", "nf_tables", "nf_conntrack", "overlay", "br_netfilter", "bridge", "stp", "llc",
    "nvme", "nvme_core", "raid1", "ext4", "xfs", "jbd2", "mbcache", "ipmi_si", "ipmi_devintf", "acpi_power_meter",
    "i2c_i801",
)  # fmt: skip
_SETTINGS = {
    "NCCL_DEBUG": "INFO", "NCCL_SOCKET_IFNAME": "eno1", "NCCL_IB_HCA": "mlx5", "NCCL_IB_GID_INDEX": "3",
    "NCCL_IB_TC": "106", "NCCL_IB_QPS_PER_CONNECTION": "4", "NCCL_IB_TIMEOUT": "22", "NCCL_CUMEM_ENABLE": "1",
    "NCCL_NET_GDR_LEVEL": "PIX", "NCCL_CROSS_NIC": "0", "UCX_NET_DEVICES": "eno1",
    "TORCH_NCCL_ASYNC_ERROR_HANDLING": "1",
}  # fmt: skip
_SEEN_WHOLE = [
    "interfaces", "routes", "sysfs_infiniband", "show_gids", "sysfs_pci", "lsmod", "ulimit", "df_shm", "nvidia_smi_q",
    "topo_m", "env",
]  # fmt: skip
_RELEASES = {"driver": "550.54.15", "firmware": "28.39.1002"}


class Node(NamedTuple):
    """A host: its number, and what is odd on it."""

    number: int
    odd: Oddity | None = None

    @property
    def name(self) -> str:
        """``gpu0017``."""
        return f"gpu{self.number:04d}"

    def readings(self, *, alone: bool) -> list[Any]:
        """Nothing was printed."""
        del alone
        return []

    def not_seen(self) -> list[str]:
        """Everything was seen."""
        return []

    def observations(self) -> list[Observation]:
        """What was seen, an observation for each entity."""
        return [*_observations(self)]


def fleet(hosts: int, *oddities: Oddity) -> list[Node]:
    """So many hosts, and the oddities on some of them, evenly spread."""
    step = hosts // (len(oddities) + 1)
    places = {step * (index + 1): oddity for index, oddity in enumerate(oddities)}
    return [Node(number, places.get(number)) for number in range(1, hosts + 1)]


def _observations(node: Node) -> Iterator[Observation]:
    def see(entity: str, *key: str | int, **fields: Any) -> Observation:  # noqa: ANN401
        where = span(f"{node.name}.tar.gz/{entity.lower()}", 0, " ".join(map(str, key)))
        return Observation(entity=entity, key=key, host=node.name, span=where, fields=fields)

    for part in (_host, _gpus, _nics, _network, _software, _paths):
        yield from part(node, see)


See = Callable[..., Observation]


def _host(node: Node, see: See) -> Iterator[Observation]:
    driver = "535.104.05" if node.odd == "driver" else _RELEASES["driver"]
    yield see(
        "Host", complete=_SEEN_WHOLE, looked_at=True, called=node.name, driver=driver, open_kernel_module=True,
        kernel_release="6.8.0-60-generic", os_release="Ubuntu 24.04.2 LTS", ofed_version="24.10-1.1.4",
        rdma_core_version="50.0", iommu_translating=False, peermem_registered=True, in_container=False,
        virtual_machine=False, clock_source="tsc", clock_synchronized=True, cpu_arch="x86_64",
        cpu_vendor="GenuineIntel", machine="Supermicro SYS-821GE-TNHR", memory_bytes=(2015 << 30) + node.number * 4096,
        kernel_command_line=f"BOOT_IMAGE=/vmlinuz root=UUID={node.number:08x} ro iommu=pt pci=realloc=off",
        cpu_governors={"powersave" if node.odd == "governor" else "performance": 224},
        infiniband_devices=[f"uverbs{i}" for i in range(8)], nic_labels={f"NIC{i}": f"mlx5_{i}" for i in range(8)},
        sysctls={
            "kernel.numa_balancing": "0", "net.core.somaxconn": "4096", "vm.max_map_count": "262144",
            "net.ipv4.ip_local_port_range": "32768 60999", "net.ipv4.conf.all.rp_filter": "2",
        },
    )  # fmt: skip


def _gpus(node: Node, see: See) -> Iterator[Observation]:
    for index, bus in enumerate(_GPU_BUSES):
        short = index == 5 and node.odd == "nvlink"
        yield see(
            "Gpu", index, bus_id=bus, uuid=f"GPU-{node.number:08x}-{index}", model="NVIDIA H100 80GB HBM3",
            driver=_RELEASES["driver"] if node.odd != "driver" else "535.104.05", cuda="12.4",
            numa_node=index // 4, nvlinks=16 if short else 18, nvlinks_inactive=2 if short else 0, mig=False,
            memory_mib=81559, compute_capability="9.0", fabric_state="Completed", fabric_status="Success",
            pcie_gen=5, pcie_gen_max=5, pcie_width=16, pcie_width_max=16, persistence_mode=True,
            compute_mode="Default", ecc_enabled=True, ecc_uncorrected=0, remapping_pending=False,
            remapping_failed=False, slowdowns=[], sm_clock_mhz=1980, sm_clock_max_mhz=1980,
            power_watts=70 + node.number % 9, power_limit_watts=700,
        )  # fmt: skip
    for index, bus in enumerate(_GPU_BUSES):
        width = 8 if index == 2 and node.odd == "lanes" else 16
        yield see(
            "PciDevice", bus, device_class="3D controller", ids="10de:2330:10de:16c1", width=width, width_max=16,
            speed_gts=32.0, speed_gts_max=32.0, numa_node=index // 4, driver="nvidia", is_bridge=False,
        )  # fmt: skip


def _nics(node: Node, see: See) -> Iterator[Observation]:
    for index, bus in enumerate(_NIC_BUSES):
        name, down = f"mlx5_{index}", index == 6 and node.odd == "port"
        firmware = "28.35.2000" if node.odd == "firmware" else _RELEASES["firmware"]
        yield see(
            "PciDevice", bus, device_class="Ethernet controller", ids="15b3:1021:15b3:0041", width=16, width_max=16,
            speed_gts=32.0, speed_gts_max=32.0, numa_node=index // 4, driver="mlx5_core", is_bridge=False,
        )  # fmt: skip
        yield see(
            "Hca", name, bus_id=bus, firmware=firmware, board="MT4129", board_id="MT_0000000838", numa_node=index // 4,
            node_guid=f"a088:c203:{node.number:04x}:{index:04x}", driver="mlx5_core", vendor_id="0x15b3",
        )  # fmt: skip
        yield see(
            "Port", name, 1, state="down" if down else "active", physical_state="Polling" if down else "LinkUp",
            link_layer="Ethernet", rate_gbps=400.0, active_mtu=4096, max_mtu=4096, netdev=f"rail{index}", lid=0,
            gids_complete=True, counters={"link_downed": 0, "symbol_error": 0, "port_rcv_errors": 0},
        )  # fmt: skip
        ip = _rail(node, index)
        local = f"fe80:0000:0000:0000:a288:c2ff:{node.number:04x}:{index:04x}"
        words = [int(part) for part in ip.split(".")]
        mapped = f"0000:0000:0000:0000:0000:ffff:{words[0] << 8 | words[1]:04x}:{words[2] << 8 | words[3]:04x}"
        for entry, (address, kind) in enumerate(
            ((local, "RoCE v1"), (local, "RoCE v2"), (mapped, "RoCE v1"), (mapped, "RoCE v2"))
        ):
            more = {"ip": ip} if entry > 1 else {}
            yield see("Gid", name, 1, entry, address=address, type=kind, netdev=f"rail{index}", **more)


def _rail(node: Node, index: int) -> str:
    return f"10.{64 + index}.{node.number // 250}.{node.number % 250 + 1}"


def _network(node: Node, see: See) -> Iterator[Observation]:
    yield see(
        "Interface", "lo", kind="loopback", up=True, running=True, mtu=65536, ifindex=1,
        addresses=[{"ip": "127.0.0.1", "prefix_len": 8}],
    )  # fmt: skip
    yield _card(node, see, "eno1", f"10.60.{node.number // 250}.{node.number % 250 + 1}", 16, 1500, 25000, 2)
    yield see("Route", "default", "eno1", gateway="10.60.0.254")
    yield see("Route", "10.60.0.0/16", "eno1")
    for index in range(8):
        mtu = 1500 if index == 3 and node.odd == "mtu" else 9000
        yield _card(node, see, f"rail{index}", _rail(node, index), 16, mtu, 400000, 3 + index)
        yield see("Route", f"10.{64 + index}.0.0/16", f"rail{index}")


def _card(node: Node, see: See, name: str, ip: str, prefix: int, mtu: int, speed: int, ifindex: int) -> Observation:
    return see(
        "Interface", name, kind="physical", up=True, running=True, operstate="up", mtu=mtu, speed_mbps=speed,
        ifindex=ifindex, mac=f"a0:88:c2:{node.number >> 8:02x}:{node.number & 255:02x}:{ifindex:02x}",
        addresses=[{"ip": ip, "prefix_len": prefix}], driver="mlx5_core", duplex="full",
    )  # fmt: skip


def _software(node: Node, see: See) -> Iterator[Observation]:
    for name in _MODULES:
        if name != "nvidia_peermem" or node.odd != "module":
            yield see("KernelModule", name, size=16384, used_by=0)
    small = node.odd == "memlock"
    yield see("Limit", "memlock", **({"soft": 65536, "unlimited": False} if small else {"unlimited": True}))
    yield see("Limit", "nofile", soft=1048576, unlimited=False, hard=1048576)
    yield see("Limit", "stack", soft=8388608, unlimited=False)
    yield see("Mount", "/dev/shm", filesystem="tmpfs", fstype="tmpfs", size_bytes=1081870385152)  # noqa: S108
    yield see("Service", "nvidia-fabricmanager", active=True, version="550.54.15")
    yield see("Service", "nvidia-persistenced", active=True)
    yield see("Library", "/usr/lib/x86_64-linux-gnu/libnccl.so.2.27.7", version="2.27.7")
    for name, text in _SETTINGS.items():
        text = "0" if name == "NCCL_IB_GID_INDEX" and node.odd == "setting" else text  # noqa: PLW2901
        yield see("Setting", name, text=text, is_set=True, origin="live")


def _paths(node: Node, see: See) -> Iterator[Observation]:
    """The matrix of ``nvidia-smi topo -m``: NVLink between the GPUs, a NIC beside each of them."""
    del node
    for a in range(8):
        for b in range(a + 1, 8):
            yield see("TopoLink", f"GPU{a}", f"GPU{b}", level="NV18", nvlink_count=18)
        for nic in range(8):
            level = "PIX" if nic == a else "NODE" if nic // 4 == a // 4 else "SYS"
            yield see("TopoLink", f"GPU{a}", f"NIC{nic}", level=level)
