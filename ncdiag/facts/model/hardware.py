"""GPUs, NPUs, PCI devices, and how the GPUs and NICs of a host are connected."""

from __future__ import annotations

from typing import Annotated

from ncdiag.facts.model.base import Fact, HostName
from ncdiag.facts.model.marks import BY_NAME, FACE, LEAST


class Gpu(Fact, frozen=True, kw_only=True):
    """A GPU, as nvidia-smi and similar tools report it; ``index`` is nvidia-smi's number.

    ``pcie_gen`` and ``pcie_width`` are the current values, ``*_max`` the highest possible ones. ``memory_mib`` is in
    MiB, as is ``bar1_mib``, the window through which others access it. ``nvlinks`` and ``nvlinks_inactive`` count
    links, ``nvlink_rates`` are their distinct rates in GB/s.
    ``cpu_affinity`` and ``numa_affinity`` are as printed, empty where the system hides them.

    ``ecc_uncorrected`` counts memory errors that ECC could not correct since the driver was loaded,
    ``ecc_uncorrected_ever`` over the life of the GPU. ``retired_*`` count memory pages taken out of use, ``remapped_*``
    count rows replaced; ``*_pending`` means that this takes effect at the next reset of the GPU.
    ``sram_threshold_exceeded``: the GPU has more SRAM errors than NVIDIA accepts.

    ``sm_clock_mhz`` is the current clock of the processors, ``sm_clock_max_mhz`` the highest. ``slowdowns`` are the
    reasons that hold the clocks down now, in nvidia-smi's words. ``load_percent`` is the share of time in which a
    kernel ran on it, ``memory_activity_percent`` that in which its memory was read or written, ``power_watts`` is its
    current power draw, ``memory_used_mib`` the memory in use, in MiB, ``process_mib`` that of each process that
    computes on it, by its process id. ``nvlink_errors`` counts errors over all links
    since the driver was loaded, by kind (``replay``, ``recovery``, ``crc_flit``, ``crc_data``, ``ecc_data``).

    ``fabric_state`` and ``fabric_status`` are the state and the result of the registration with the NVLink fabric,
    ``fabric_problems`` the lines of nvidia-smi's fabric health that report a problem. ``unreadable`` is the error that
    nvidia-smi prints in place of values (``ERR!``, ``GPU is lost``), ``recovery_action`` the action that it asks for
    (``Reset``, ``None``). ``license`` is the state of a virtual GPU's licence (``Unlicensed (Restricted)``).

    ``local_gb_per_s`` is the rate of a copy inside the memory of the GPU, ``from_host_gb_per_s`` and
    ``to_host_gb_per_s`` of a copy between it and the memory of the host (CUDA samples, nvbandwidth).
    """

    KEY = (("index", "bus_id"),)

    host: HostName
    index: int | None = None
    bus_id: str | None = None
    uuid: Annotated[str | None, FACE] = None
    model: str | None = None
    driver: str | None = None
    cuda: str | None = None
    numa_node: int | None = None
    cpu_affinity: str | None = None
    numa_affinity: str | None = None
    nvlinks: int | None = None
    nvlinks_inactive: int | None = None
    nvlink_rates: tuple[float, ...] | None = None
    mig: bool | None = None
    memory_mib: int | None = None
    bar1_mib: int | None = None
    process_mib: dict[str, int] | None = None
    compute_capability: str | None = None
    fabric_state: str | None = None
    pcie_gen: int | None = None
    pcie_gen_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    persistence_mode: bool | None = None
    compute_mode: str | None = None
    fabric_status: str | None = None
    ecc_enabled: bool | None = None
    ecc_uncorrected: int | None = None
    ecc_uncorrected_ever: int | None = None
    retired_single_bit: int | None = None
    retired_double_bit: int | None = None
    retirement_pending: bool | None = None
    remapped_correctable: int | None = None
    remapped_uncorrectable: int | None = None
    remapping_pending: bool | None = None
    remapping_failed: bool | None = None
    slowdowns: tuple[str, ...] | None = None
    sm_clock_mhz: int | None = None
    sm_clock_max_mhz: int | None = None
    nvlink_errors: dict[str, int] | None = None
    load_percent: int | None = None
    memory_activity_percent: int | None = None
    memory_used_mib: int | None = None
    power_watts: int | None = None
    power_limit_watts: int | None = None
    fabric_problems: tuple[str, ...] | None = None
    license: str | None = None
    unreadable: str | None = None
    recovery_action: str | None = None
    reset_required: bool | None = None
    sram_threshold_exceeded: bool | None = None
    local_gb_per_s: Annotated[float | None, LEAST] = None
    from_host_gb_per_s: Annotated[float | None, LEAST] = None
    to_host_gb_per_s: Annotated[float | None, LEAST] = None


class TopoLink(Fact, frozen=True, kw_only=True):
    """How two devices of a host are connected: ``level`` is nvidia-smi's name of the path, ``path_type`` NCCL's.

    ``a`` and ``b`` are labels as printed (``GPU0``, ``NIC3``, ``mlx5_0``). ``p2p_*`` are the results of ``topo -p2p``
    by capability (OK, CNS, NS ...), ``p2p_status`` the result where the output names no capability. ``nvlink_count`` 0
    means that the pair is known to have no NVLink. ``link_type`` is the name that AMD's and Huawei's tools print
    (``XGMI``, ``PCIE``, ``HCCS``), ``hops`` the number of hops that they print.

    ``peer_latency_us`` and ``staged_latency_us`` are the time of a small copy between two GPUs with and without peer
    access, in microseconds; ``peer_gb_per_s`` and ``staged_gb_per_s`` the rate of a large copy, in GB/s, and
    ``peer_both_gb_per_s`` the rate in both directions at once. ``peer_access``: does CUDA offer peer access?
    """

    KEY = ("a", "b")

    host: HostName
    a: str
    b: str
    level: str | None = None
    path_type: str | None = None
    nvlink_count: int | None = None
    link_type: str | None = None
    hops: int | None = None
    p2p_read: str | None = None
    p2p_write: str | None = None
    p2p_nvlink: str | None = None
    p2p_atomics: str | None = None
    p2p_proprietary: str | None = None
    p2p_status: str | None = None
    peer_latency_us: float | None = None
    staged_latency_us: float | None = None
    peer_gb_per_s: Annotated[float | None, LEAST] = None
    staged_gb_per_s: Annotated[float | None, LEAST] = None
    peer_both_gb_per_s: Annotated[float | None, LEAST] = None
    peer_access: bool | None = None


class Npu(Fact, frozen=True, kw_only=True):
    """An Ascend NPU and the network port on it, as npu-smi and hccn_tool report them; ``index`` is the device id.

    ``health`` and ``net_health`` are as printed (``OK``, ``Success``, ``Socket fail``). ``tls``: is the set-up of HCCL
    encrypted? All devices of a job must have the same setting. ``rx_power_mw`` and ``tx_power_mw`` are the power of the
    optical module in milliwatts; ``rx_lost``: it receives no light. ``speed_mbps`` is in Mbit/s.
    """

    KEY = ("index",)

    host: HostName
    index: int
    model: str | None = None
    bus_id: str | None = None
    health: str | None = None
    ip: str | None = None
    netmask: str | None = None
    gateway: str | None = None
    detect_ip: str | None = None
    link_up: bool | None = None
    link_downs: int | None = None
    net_health: str | None = None
    tls: bool | None = None
    fec: str | None = None
    speed_mbps: int | None = None
    mtu: int | None = None
    optical_present: bool | None = None
    rx_power_mw: float | None = None
    tx_power_mw: float | None = None
    rx_lost: bool | None = None
    cpu_affinity: str | None = None
    counters: Annotated[dict[str, int] | None, BY_NAME] = None


class PciDevice(Fact, frozen=True, kw_only=True):
    """A PCI function; ``acs_redirects`` is True when an ACS control that sends peer traffic upstream is on.

    ``max_read_request`` is in bytes, ``class_code`` in hexadecimal (``0x030200``). ``parent`` is the bus id of the
    bridge above it, from a topology file. ``bridges`` are all bridges above it, the root port first; empty means that
    it is attached to the root complex. ``ats``: is address translation (ATS) enabled on it? ``ids`` are vendor, device,
    subsystem vendor and subsystem device (``1000:c010:1000:a096``).

    For SR-IOV: ``virtual_functions`` is the number of virtual functions of it, ``virtual_functions_max`` the largest
    possible number; ``physical_function`` is the bus id of the function that a virtual one belongs to.
    """

    KEY = ("bus_id",)

    host: HostName
    bus_id: str
    description: str | None = None
    device_class: str | None = None
    is_bridge: bool | None = None
    width: int | None = None
    width_max: int | None = None
    speed_gts: float | None = None
    speed_gts_max: float | None = None
    acs_redirects: bool | None = None
    acs_controls: str | None = None
    ats: bool | None = None
    iommu_group: int | None = None
    numa_node: int | None = None
    driver: str | None = None
    max_read_request: int | None = None
    class_code: str | None = None
    parent: str | None = None
    bridges: tuple[str, ...] | None = None
    ids: str | None = None
    virtual_functions: int | None = None
    virtual_functions_max: int | None = None
    physical_function: str | None = None
