"""Machines that are well, of the kinds that jobs of NCCL run on, and the faults that are planted in them."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from generate.machines import Gpu, Machine, Nic, Rdma

_GPU_BUSES = [f"0000:{n:02x}:00.0" for n in (0x1B, 0x43, 0x52, 0x61, 0x9D, 0xC3, 0xD1, 0xDF)]
_NIC_BUSES = [f"0000:{n:02x}:00.0" for n in (0x18, 0x40, 0x4F, 0x5E, 0x9A, 0xC0, 0xCE, 0xDC)]
EIGHT = tuple(Gpu(bus) for bus in _GPU_BUSES)
_IB = tuple(Rdma(f"mlx5_{i}", bus=bus) for i, bus in enumerate(_NIC_BUSES))
_RAILS = tuple(Nic(f"rail{i}", f"10.61.{i}.7/24", mtu=9000, speed=400000) for i in range(8))
_ROCE = tuple(Rdma(f"mlx5_{i}", "Ethernet", f"rail{i}", bus=bus) for i, bus in enumerate(_NIC_BUSES))
_EFA = tuple(
    Rdma(
        f"rdmap{16 + i}s27",
        "Unspecified",
        rate="100 Gb/sec (4X EDR)",
        driver="efa",
        gids=False,
        bus=f"0000:{i:02x}:1b.0",
    )
    for i in range(4)
)
_ETH = Nic("eno1", "10.60.1.7/22", gateway="10.60.0.1")
_DOCKER = Nic("docker0", "172.17.0.1/16", "bridge", carrier=False)
_MLX = ("mlx5_core", "mlx5_ib", "ib_uverbs", "rdma_ucm")

DGX = Machine(
    "dgx-01",
    (_ETH, _DOCKER, Nic("ibp24s0", kind="card", up=False)),
    _IB,
    EIGHT,
    "open",
    (*_MLX, "nvidia_peermem"),
    "NVIDIA",
    "DGXH100",
)
HGX = Machine(
    "hgx-07", (_ETH, *_RAILS), _ROCE, EIGHT, "open", (*_MLX, "nvidia_peermem"), "Supermicro", "SYS-821GE-TNHR"
)
_VM = "fpu sse2 hypervisor"
P4D = Machine(
    "ip-10-0-1-7",
    (Nic("ens32", "10.0.1.7/20", driver="ena", mtu=9001, gateway="10.0.0.1"),),
    _EFA,
    tuple(Gpu(bus, speed="16.0 GT/s PCIe", speed_max="16.0 GT/s PCIe") for bus in _GPU_BUSES),
    "open",
    ("efa", "ena", "ib_uverbs", "gdrdrv"),
    "Amazon EC2",
    "p4d.24xlarge",
    _VM,
)
AZURE = Machine(
    "ndv5-3",
    (Nic("eth0", "10.1.0.8/24", driver="hv_netvsc", gateway="10.1.0.1"),),
    tuple(Rdma(f"mlx5_{i}", bus=f"01{i:02x}:00:00.0", lid=300 + i) for i in range(8)),
    tuple(Gpu(f"000{i}:00:00.0", speed="32.0 GT/s PCIe") for i in range(1, 9)),
    "open",
    (*_MLX, "nvidia_peermem"),
    "Microsoft Corporation",
    "Virtual Machine",
    _VM,
)
GCP = Machine(
    "a3-high-2",
    tuple(
        Nic(f"eth{i}", f"10.{128 + i}.0.4/32", driver="gve", mtu=8244, gateway=f"10.{128 + i}.0.1") for i in range(5)
    ),
    (),
    EIGHT,
    "open",
    ("gve",),
    "Google",
    "Google Compute Engine",
    _VM,
)
OCI = HGX.but(
    name="bm-h100",
    vendor="Oracle Corporation",
    product="ORACLE SERVER X9-2c",
    files={"sys/class/dmi/id/chassis_asset_tag": "OracleCloud.com"},
)
POD = Machine("trainer-0", (Nic("eth0", "10.244.3.17/24", "veth", mtu=1450, gateway="10.244.3.1"),), container=True)
POD_NET1 = POD.but(nics=(*POD.nics, Nic("net1", "192.168.9.17/24", "macvlan", mtu=9000)))
LAPTOP = Machine(
    "thinkpad",
    (
        Nic("enp0s31f6", up=True, carrier=False, driver="e1000e"),
        Nic("wlp0s20f3", "192.168.178.44/24", "wifi", driver="iwlwifi", gateway="192.168.178.1"),
        _DOCKER,
    ),
    (),
    (Gpu("0000:01:00.0", 8, 8, cls="0x030000", ids=("0x10de", "0x28a0")),),
    "open",
    ("iwlwifi",),
    "LENOVO",
    "21HK",
    memlock="8388608",
    nofile="1024",
    shm="16373012k",
    hosts="127.0.0.1 localhost\n127.0.1.1 thinkpad\n",
)
NODE = HGX.but(
    name="k8s-4",
    nics=(
        _ETH,
        *_RAILS,
        Nic("flannel.1", "10.244.4.0/32", devtype="vxlan", kind="vxlan", mtu=1450),
        Nic("cni0", "10.244.4.1/24", "bridge", mtu=1450),
        Nic("veth3a1b2c4d", "", "veth", master="cni0", mtu=1450),
    ),
)

HEALTHY: dict[str, Machine] = {
    "DGX with InfiniBand": DGX,
    "HGX with eight RoCE rails": HGX,
    "A100 on bare metal, cards of generation 4": DGX.but(
        name="dgx-a100", product="DGXA100", gpus=tuple(Gpu(bus, speed_max="16.0 GT/s PCIe") for bus in _GPU_BUSES)
    ),
    "AWS p4d with EFA": P4D,
    "AWS g5, one NIC and no EFA": P4D.but(product="g5.xlarge", rdma=(), gpus=(Gpu("0000:00:1e.0", 8, 8),)),
    "Azure ND H100 v5": AZURE,
    "GCP a3-high": GCP,
    "OCI bare metal": OCI,
    "a VM without a GPU": Machine("vm-1", flags=_VM),
    "a pod with eth0": POD,
    "a pod with eth0 and net1": POD_NET1,
    "a pod with a GPU and an RDMA device": POD.but(
        gpus=EIGHT, nvidia="open", rdma=_IB[:1], modules=(*_MLX, "nvidia_peermem"), shm="67108864k"
    ),
    "a node of Kubernetes with flannel": NODE,
    "a node of Kubernetes with cilium": NODE.but(
        nics=(
            _ETH,
            *_RAILS,
            Nic("cilium_net", "", "veth"),
            Nic("cilium_host", "10.0.4.9/32", "veth"),
            Nic("lxc1a2b3c4d5e6f", "", "veth"),
        )
    ),
    "a node of Kubernetes with calico": NODE.but(
        nics=(
            _ETH,
            *_RAILS,
            Nic("vxlan.calico", "10.42.7.0/32", kind="vxlan", devtype="vxlan"),
            Nic("cali12ab34cd56e", "", "veth"),
        )
    ),
    "a laptop on its wireless network": LAPTOP,
    "a workstation with one NIC": Machine(
        "ws-1",
        (
            Nic("enp6s0", "192.168.1.20/24", driver="igc", gateway="192.168.1.1"),
            Nic("virbr0", "192.168.122.1/24", "bridge", carrier=False),
        ),
        (),
        (Gpu("0000:01:00.0", cls="0x030000", speed_max="16.0 GT/s PCIe"),),
        "open",
        ("igc",),
        shm="32768000k",
        nofile="1024",
        memlock="8388608",
    ),
    "GH200": Machine(
        "gh-1",
        (Nic("enP2p3s0", "10.3.0.9/24", gateway="10.3.0.1"),),
        _IB[:1],
        EIGHT[:1],
        "open",
        (*_MLX, "nvidia_peermem"),
        "NVIDIA",
        "P3880",
        arm=True,
    ),
    "GB200 tray": Machine(
        "gb-1",
        (Nic("enP5p9s0", "10.3.0.9/24", gateway="10.3.0.1"),),
        _IB[:4],
        EIGHT[:4],
        "open",
        (*_MLX, "nvidia_peermem"),
        "NVIDIA",
        "GB200 NVL",
        arm=True,
    ),
    "a server behind a bond": Machine(
        "bond-1",
        (
            Nic("eno1", master="bond0"),
            Nic("eno2", master="bond0"),
            Nic("bond0", "10.9.0.4/24", "bond", gateway="10.9.0.1"),
        ),
    ),
    "a hypervisor whose bridge has the card": Machine(
        "hv-1", (Nic("eno1", master="br0"), Nic("br0", "10.9.0.4/24", "bridge", gateway="10.9.0.1"))
    ),
    "IPv6 alone": Machine("six-1", (Nic("eth0", ipv6="2001:db8:7::5/64"),)),
    "a DGX that is on tailscale as well": DGX.but(nics=(_ETH, Nic("tailscale0", "100.101.7.9/32", "tun"))),
    "the card lent to a virtual machine": HGX.but(
        gpus=tuple(Gpu(bus, driver="vfio-pci") for bus in _GPU_BUSES), nvidia="", modules=("vfio_pci", *_MLX)
    ),
}


class Planted(NamedTuple):
    """A fault in a machine that is well otherwise; ``found``: the rule that says so."""

    machine: Machine
    found: str


def _rdma(machine: Machine, place: int, **changes: object) -> Machine:
    devices = [replace(one, **changes) if i == place else one for i, one in enumerate(machine.rdma)]  # type: ignore[arg-type]
    return machine.but(rdma=tuple(devices))


_NARROW = (Gpu(_GPU_BUSES[0], 4), *EIGHT[1:])
PLANTED: dict[str, Planted] = {
    "no device files of verbs": Planted(HGX.but(verbs=False), "container-no-infiniband-devices"),
    "64 KiB of locked memory": Planted(HGX.but(memlock="65536"), "memlock-too-low"),
    "a port that is down": Planted(_rdma(DGX, 6, state="1: DOWN"), "ib-port-not-active"),
    "a rate of 100 of 400": Planted(_rdma(DGX, 3, rate="100 Gb/sec (4X EDR)"), "ib-rate-degraded"),
    "an interface that is not there": Planted(HGX.but(conf="NCCL_SOCKET_IFNAME=eth7"), "socket-ifname-no-match"),
    "a list of devices that are not there": Planted(HGX.but(conf="NCCL_IB_HCA=ibp"), "ib-hca-filter-matches-nothing"),
    "RDMA switched off": Planted(HGX.but(conf="NCCL_IB_DISABLE=1"), "env-ib-disable"),
    "P2P switched off": Planted(HGX.but(conf="NCCL_P2P_DISABLE=1"), "env-p2p-disable"),
    "a misspelt variable": Planted(HGX.but(conf="NCCL_SOCKET_IFNAM=eno1"), "env-unknown-variable"),
    "few ports": Planted(HGX.but(ports="60000\t60100"), "port-range-tiny"),
    "GPUs and no driver": Planted(
        HGX.but(gpus=tuple(Gpu(bus, driver="") for bus in _GPU_BUSES), nvidia="", modules=_MLX), "gpu-driver-not-loaded"
    ),
    "a GPU on 4 lanes of 16": Planted(HGX.but(gpus=_NARROW), "pcie-link-degraded"),
    "a RoCE port without GIDs": Planted(_rdma(HGX, 2, gids=False), "roce-port-without-gid"),
    "one rail of another MTU": Planted(
        HGX.but(
            nics=(
                _ETH,
                *(nic if nic.name != "rail5" else Nic("rail5", nic.ip, mtu=1500, speed=400000) for nic in _RAILS),
            )
        ),
        "roce-rail-mtu-differs",
    ),
    "the proprietary driver without nvidia_peermem": Planted(DGX.but(nvidia="proprietary", modules=_MLX), "gdr-no-way"),
    "a p4d without EFA": Planted(P4D.but(rdma=()), "cloud-aws-efa-missing"),
    "the IOMMU translates": Planted(
        HGX.but(iommu="DMA", cmdline="root=/dev/sda1 intel_iommu=on"), "gdr-iommu-translation"
    ),
    "64 MiB of shared memory": Planted(POD.but(gpus=EIGHT, nvidia="open", shm="65536k"), "shm-small"),
    "256 open files": Planted(HGX.but(nofile="256"), "nofile-too-low"),
    "a VPN alone": Planted(Machine("v-1", (Nic("wg0", "10.7.0.2/24", "tun"),)), "socket-choice-alone"),
    "zerotier before the card": Planted(
        Machine("v-2", (Nic("ztabcdefgh", "10.7.0.2/24", "tun"), Nic("eth0", "10.1.0.5/24"))), "socket-choice-inside"
    ),
    "loopback named in the conf file": Planted(HGX.but(conf="NCCL_SOCKET_IFNAME=lo"), "socket-choice-inside"),
    "169.254 alone": Planted(Machine("l-1", (Nic("eth0", "169.254.9.9/16"),)), "socket-choice-alone"),
    "a podman bridge before the card": Planted(
        Machine("p-1", (Nic("podman1", "10.89.0.1/24", "bridge"), Nic("eth0", "10.1.0.5/24"))), "socket-choice-inside"
    ),
    "a bridge of any name without a card": Planted(
        Machine("p-2", (Nic("lab0", "10.89.0.1/24", "bridge"), Nic("eth0", "10.1.0.5/24"))), "socket-choice-inside"
    ),
}
