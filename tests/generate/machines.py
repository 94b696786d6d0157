"""Writes trees of /sys and /proc of machines that do not exist, as far as ncdiag reads them: healthy ones and faulty.

Names and addresses are invented; the files have the forms of the kernel's documentation (Documentation/ABI).
"""

from __future__ import annotations

import ipaddress
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

GPU_MODULES = ("nvidia", "nvidia_uvm", "nvidia_modeset")


@dataclass(frozen=True)
class Nic:
    """A network interface; ``kind``: ``card``, ``veth``, ``bridge``, ``wifi``, ``bond``, ``tun`` or ``macvlan``."""

    name: str
    ip: str = ""
    kind: str = "card"
    mtu: int = 1500
    up: bool = True
    carrier: bool = True
    speed: int = 25000
    driver: str = "mlx5_core"
    ipv6: str = ""
    gateway: str = ""
    master: str = ""
    bus: str = ""
    devtype: str = ""


@dataclass(frozen=True)
class Rdma:
    """An RDMA device with one port; over Ethernet ``netdev`` is its interface and ``gids`` whether it has entries."""

    name: str
    layer: str = "InfiniBand"
    netdev: str = ""
    rate: str = "400 Gb/sec (4X NDR)"
    state: str = "4: ACTIVE"
    gids: bool = True
    lid: int = 17
    sm_lid: int = 1
    bus: str = ""
    driver: str = "mlx5_core"
    width: int = 16
    width_max: int = 16


@dataclass(frozen=True)
class Gpu:
    """A GPU on the PCI bus; ``speed`` as the kernel prints it, idle ones run slower than they can."""

    bus: str
    width: int = 16
    width_max: int = 16
    speed: str = "2.5 GT/s PCIe"
    speed_max: str = "32.0 GT/s PCIe"
    cls: str = "0x030200"
    driver: str = "nvidia"
    ids: tuple[str, str] = ("0x10de", "0x2330")


@dataclass(frozen=True)
class Machine:
    """A machine; ``nvidia`` is the kind of its driver: ``open``, ``proprietary`` or empty for none."""

    name: str = "n1"
    nics: tuple[Nic, ...] = (Nic("eth0", "10.1.0.5/24", gateway="10.1.0.1"),)
    rdma: tuple[Rdma, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    nvidia: str = ""
    modules: tuple[str, ...] = ("tcp_cubic",)
    vendor: str = ""
    product: str = ""
    flags: str = "fpu sse2"
    arm: bool = False
    container: bool = False
    cmdline: str = "BOOT_IMAGE=/vmlinuz root=/dev/sda1 ro"
    memlock: str = "unlimited"
    nofile: str = "1048576"
    shm: str = "1056514048k"
    ports: str = "32768\t60999"
    kernel: str = "6.8.0-60-generic"
    iommu: str = "identity"
    routes: tuple[tuple[str, str, str, int], ...] = ()
    conf: str = ""
    hosts: str = "127.0.0.1 localhost\n"
    verbs: bool = True
    files: Mapping[str, str] = field(default_factory=dict)

    def but(self, **changes: object) -> Machine:
        """The same machine with something changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


def write(root: Path, machine: Machine) -> Path:
    """The tree of the machine below ``root``, which is made anew."""
    shutil.rmtree(root, ignore_errors=True)

    def put(path: str, text: str) -> None:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text if text.endswith("\n") or not text else f"{text}\n")

    _host(machine, put)
    _interfaces(machine, put)
    _devices(machine, put)
    (root / "sys/class/infiniband").mkdir(parents=True, exist_ok=True)
    (root / "sys/bus/pci/devices").mkdir(parents=True, exist_ok=True)
    (root / "sys/kernel/iommu_groups").mkdir(parents=True, exist_ok=True)
    (root / "sys/kernel/mm").mkdir(parents=True, exist_ok=True)
    for path, text in machine.files.items():
        put(path, text)
    return root


Put = Callable[[str, str], None]


def _host(machine: Machine, put: Put) -> None:
    put("etc/hostname", machine.name)
    put("etc/hosts", machine.hosts)
    if machine.conf:
        put("etc/nccl.conf", machine.conf)
    names = machine.modules + ((*GPU_MODULES,) if machine.nvidia else ())
    put("proc/modules", "".join(f"{name} 16384 0 - Live 0x0000000000000000\n" for name in names))
    put("proc/cmdline", machine.cmdline)
    put("proc/sys/kernel/osrelease", machine.kernel)
    put("proc/sys/net/ipv4/ip_local_port_range", machine.ports)
    put("proc/sys/net/core/somaxconn", "4096")
    put("proc/sys/kernel/numa_balancing", "0")
    head = f"{'Limit':26}{'Soft Limit':21}{'Hard Limit':21}Units\n"
    rows = {"Max stack size": "8388608", "Max open files": machine.nofile, "Max locked memory": machine.memlock}
    put("proc/self/limits", head + "".join(f"{name:26}{value:21}{value:21}bytes\n" for name, value in rows.items()))
    put("proc/self/mounts", f"tmpfs /dev/shm tmpfs rw,nosuid,nodev,size={machine.shm},inode64 0 0")
    put("dev/shm/.keep", "")
    put("proc/1/comm", "sleep" if machine.container else "systemd")
    put("proc/1/cgroup", "0::/kubepods.slice/pod1" if machine.container else "0::/init.scope")
    flags = "CPU implementer\t: 0x41" if machine.arm else f"vendor_id\t: GenuineIntel\nflags\t\t: {machine.flags}"
    put("proc/cpuinfo", f"processor\t: 0\n{flags}\n")
    for file, text in (("sys_vendor", machine.vendor), ("product_name", machine.product)):
        if text:
            put(f"sys/class/dmi/id/{file}", text)
    put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc")
    put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance")
    if machine.nvidia:
        kind = "Open Kernel Module for x86_64" if machine.nvidia == "open" else "x86_64 Kernel Module"
        put("proc/driver/nvidia/version", f"NVRM version: NVIDIA UNIX {kind}  550.54.15  Release Build")


_TYPES = {"tun": "65534"}
_DEVTYPES = {"bridge": "bridge", "bond": "bond", "wifi": "wlan", "macvlan": "macvlan"}


def _interface(index: int, nic: Nic, put: Put) -> None:
    base = f"sys/class/net/{nic.name}"
    link = index + 40 if nic.kind in {"veth", "macvlan"} else index
    state = "up" if nic.up and nic.carrier else "down"
    state = "unknown" if nic.kind == "tun" and nic.up else state
    values = {
        "type": _TYPES.get(nic.kind, "1"), "ifindex": str(index), "iflink": str(link), "mtu": str(nic.mtu),
        "flags": "0x1003" if nic.up else "0x1002", "operstate": state,
        "speed": str(nic.speed if nic.kind in {"card", "bond"} and nic.carrier else -1),
        "address": f"0c:42:a1:00:00:{index:02x}",
    }  # fmt: skip
    for file, text in values.items():
        put(f"{base}/{file}", text)
    devtype = nic.devtype or _DEVTYPES.get(nic.kind, "")
    put(f"{base}/uevent", (f"DEVTYPE={devtype}\n" if devtype else "") + f"INTERFACE={nic.name}\nIFINDEX={index}")
    if nic.kind in {"card", "wifi"}:
        put(f"{base}/device/uevent", f"DRIVER={nic.driver}\n" + (f"PCI_SLOT_NAME={nic.bus}\n" if nic.bus else ""))
        put(f"{base}/device/driver", nic.driver)
    if nic.kind == "bridge":
        put(f"{base}/bridge/bridge_id", "8000.0c42a1000001")
    if nic.kind == "tun":
        put(f"{base}/tun_flags", "0x1001")
    if nic.master:
        put(f"{base}/master", nic.master)


def _interfaces(machine: Machine, put: Put) -> None:
    lines, trie, six = [], ["Local:", "  +-- 0.0.0.0/0 3 0 5", "     |-- 127.0.0.1", "        /32 host LOCAL"], []
    six.append(f"{int(ipaddress.ip_address('::1')):032x} 01 80 10 80       lo")
    put("sys/class/net/lo/type", "772")
    for file, text in (("ifindex", "1"), ("iflink", "1"), ("flags", "0x9"), ("operstate", "unknown"), ("mtu", "65536")):
        put(f"sys/class/net/lo/{file}", text)
    for index, nic in enumerate(machine.nics, 2):
        _interface(index, nic, put)
        if nic.ip and nic.up:
            address = ipaddress.ip_interface(nic.ip)
            trie += [f"     |-- {address.ip}", "        /32 host LOCAL"]
            lines.append(_route(nic.name, str(address.network)))
        if nic.gateway:
            lines.append(_route(nic.name, "0.0.0.0/0", nic.gateway))
        if nic.ipv6:
            own = ipaddress.ip_interface(nic.ipv6)
            scope = "20" if own.ip.is_link_local else "00"
            six.append(f"{int(own.ip):032x} {index:02x} {own.network.prefixlen:02x} {scope} 80 {nic.name:>8}")
    lines += [_route(name, network, gateway, flags) for name, network, gateway, flags in machine.routes]
    put(
        "proc/net/route",
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n" + "".join(lines),
    )
    put("proc/net/fib_trie", "\n".join(trie))
    put("proc/net/if_inet6", "\n".join(six))
    put("proc/net/ipv6_route", "")


def _route(name: str, network: str, gateway: str = "0.0.0.0", flags: int = 1) -> str:  # noqa: S104
    def words(text: str) -> str:
        return f"{int.from_bytes(ipaddress.ip_address(text).packed, 'little'):08X}"

    known = ipaddress.ip_network(network)
    flags |= 2 if gateway != "0.0.0.0" else 0  # noqa: S104
    columns = (name, words(str(known.network_address)), words(gateway), f"{flags:04X}", "0", "0", "100")
    return "\t".join((*columns, words(str(known.netmask)), "0", "0", "0")) + "\n"


Functions = dict[str, dict[str, str]]
"""The files of each PCI function, by bus id."""


def _devices(machine: Machine, put: Put) -> None:
    functions: Functions = {}
    for gpu in machine.gpus:
        functions[gpu.bus] = _function(
            gpu.cls, gpu.ids, gpu.driver, (gpu.width, gpu.width_max), (gpu.speed, gpu.speed_max)
        )
        if machine.nvidia and gpu.driver == "nvidia":
            model = "Model: \t\t NVIDIA H100 80GB HBM3\nIRQ:   \t\t 16"
            put(f"proc/driver/nvidia/gpus/{gpu.bus}/information", model)
    for number, device in enumerate(machine.rdma):
        _rdma_device(machine, number, device, put)
        if device.bus:
            widths, speed = (device.width, device.width_max), "32.0 GT/s PCIe"
            ids = ("0x15b3", "0x1021")
            functions[device.bus] = _function("0x020700", ids, device.driver, widths, (speed, speed))
    for number, (bus, files) in enumerate(functions.items()):
        put(f"sys/bus/pci/devices/{bus}/numa_node", "0")
        put(f"sys/bus/pci/devices/{bus}/iommu_group", str(number))
        put(f"sys/kernel/iommu_groups/{number}/type", machine.iommu)
        put(f"sys/kernel/iommu_groups/{number}/devices/{bus}/class", files["class"])
        for file, text in files.items():
            if text:
                put(f"sys/bus/pci/devices/{bus}/{file}", text)


def _function(
    cls: str, ids: tuple[str, str], driver: str, widths: tuple[int, int], speeds: tuple[str, str]
) -> dict[str, str]:
    return {
        "class": cls, "vendor": ids[0], "device": ids[1], "subsystem_vendor": ids[0], "subsystem_device": "0x16c1",
        "driver": driver, "current_link_width": str(widths[0]), "max_link_width": str(widths[1]),
        "current_link_speed": speeds[0], "max_link_speed": speeds[1],
    }  # fmt: skip


def _rdma_device(machine: Machine, number: int, device: Rdma, put: Put) -> None:
    base, port = f"sys/class/infiniband/{device.name}", f"sys/class/infiniband/{device.name}/ports/1"
    infiniband = device.layer == "InfiniBand"
    where = f"PCI_SLOT_NAME={device.bus}\n" if device.bus else ""
    values = {
        f"{base}/node_guid": f"0c42:a103:004a:7c{number:02x}", f"{base}/hca_type": "MT4129",
        f"{base}/device/uevent": f"DRIVER={device.driver}\n{where}", f"{port}/state": device.state,
        f"{port}/phys_state": "5: LinkUp" if "ACTIVE" in device.state else "2: Polling", f"{port}/rate": device.rate,
        f"{port}/link_layer": device.layer, f"{port}/lid": hex(device.lid if infiniband else 0),
        f"{port}/sm_lid": hex(device.sm_lid if infiniband else 0), f"{port}/counters/link_downed": "0",
        f"{port}/gids/9": ":".join(["0000"] * 8),
    }  # fmt: skip
    for index, (address, kind) in enumerate(_gids(machine, device)):
        values |= {f"{port}/gids/{index}": address, f"{port}/gid_attrs/types/{index}": kind}
        if device.netdev:
            values[f"{port}/gid_attrs/ndevs/{index}"] = device.netdev
    if device.netdev:
        values[f"{base}/device/net/{device.netdev}/dev_port"] = "0"
    if machine.verbs:
        values[f"dev/infiniband/uverbs{number}"] = ""
    for path, text in values.items():
        put(path, text)


def _gids(machine: Machine, device: Rdma) -> list[tuple[str, str]]:
    """The entries of the table; an InfiniBand port has one that its subnet manager gave."""
    if not device.gids:
        return []
    if device.layer == "InfiniBand":
        return [("fe80:0000:0000:0000:0c42:a103:004a:7c00", "IB/RoCE v1")]
    nic = next((nic for nic in machine.nics if nic.name == device.netdev), None)
    local = "fe80:0000:0000:0000:0e42:a1ff:fe4a:7c22"
    found = [(local, "IB/RoCE v1"), (local, "RoCE v2")]
    if nic is not None and nic.ip:
        digits = ipaddress.ip_interface(nic.ip).ip.packed.hex()
        mapped = f"0000:0000:0000:0000:0000:ffff:{digits[:4]}:{digits[4:]}"
        found += [(mapped, "IB/RoCE v1"), (mapped, "RoCE v2")]
    return found
