"""GPUs, PCI devices and how they see each other."""

from __future__ import annotations

from typing import Annotated

from ncdiag.facts.model.base import Fact, HostName
from ncdiag.facts.model.marks import BY_NAME, LEAST


class Gpu(Fact, frozen=True, kw_only=True):
    """A GPU; ``index`` is nvidia-smi's. PCIe generation and width now and at most; ``memory_mib`` in MiB.

    ``nvlinks`` and ``nvlinks_inactive`` count links, ``nvlink_rates`` are their distinct rates in GB/s;
    ``cpu_affinity`` and ``numa_affinity`` as printed (empty where the system hides them).
    Memory faults count errors that ECC could not correct (since the driver was loaded, and ever), pages taken out of
    use, and rows replaced; ``pending`` means: at the next reset of the GPU. ``slowdowns`` are the reasons that hold
    its clocks down now, in nvidia-smi's words; ``fabric_status`` is what became of its registration with the fabric.
    ``sm_clock_mhz`` is the clock of its processors now and at most; ``nvlink_errors`` counts by kind (``replay``,
    ``recovery``, ``crc_flit``, ``crc_data``, ``ecc_data``) over all links since the driver was loaded. ``load_percent``
    is the share of time in which a kernel ran on it, ``power_watts`` what it draws now.
    ``fabric_problems`` are the lines of nvidia-smi's fabric health that are not well. ``unreadable`` is the error that
    nvidia-smi prints in place of the values (``ERR!``, ``GPU is lost``), ``recovery_action`` what it says has to be
    done (``Reset``, ``None``). ``sram_threshold_exceeded``: more SRAM errors than NVIDIA lets a GPU have.
    ``local_gb_per_s`` is what a copy inside its memory reaches, ``from_host_gb_per_s`` and ``to_host_gb_per_s`` what
    one between it and the memory of the host does (CUDA samples, nvbandwidth).
    """

    KEY = (("index", "bus_id"),)

    host: HostName
    index: int | None = None
    bus_id: str | None = None
    uuid: str | None = None
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
    power_watts: int | None = None
    power_limit_watts: int | None = None
    fabric_problems: tuple[str, ...] | None = None
    unreadable: str | None = None
    recovery_action: str | None = None
    reset_required: bool | None = None
    sram_threshold_exceeded: bool | None = None
    local_gb_per_s: Annotated[float | None, LEAST] = None
    from_host_gb_per_s: Annotated[float | None, LEAST] = None
    to_host_gb_per_s: Annotated[float | None, LEAST] = None


class TopoLink(Fact, frozen=True, kw_only=True):
    """How two devices of a host see each other: ``level`` is nvidia-smi's word, ``path_type`` NCCL's.

    ``a`` and ``b`` are labels as printed (``GPU0``, ``NIC3``, ``mlx5_0``); ``p2p_*`` are the words of ``topo -p2p``
    (OK, CNS, NS ...), ``p2p_status`` where the capability was not named. ``nvlink_count`` 0: known to have none.
    ``link_type`` is the word of AMD's and Huawei's tools (``XGMI``, ``PCIE``, ``HCCS``), ``hops`` what they count.
    ``peer_latency_us``, ``staged_latency_us``: what a small copy between two GPUs takes with and without peer access;
    ``peer_gb_per_s``, ``staged_gb_per_s``: what a large one reaches, ``peer_both_gb_per_s``: in both directions at
    once. ``peer_access``: CUDA offers it.
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
    """An Ascend NPU and its own network port, as npu-smi and hccn_tool tell of it; ``index`` is the device id.

    ``health`` and ``net_health`` in their words (``OK``, ``Success``, ``Socket fail``); ``tls`` whether HCCL's set-up
    is encrypted, which all devices of a job must agree on. ``rx_power_mw`` and ``tx_power_mw`` are of the optical
    module, in milliwatts; ``rx_lost``: it receives no light. ``speed_mbps`` in Mbit/s.
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

    ``max_read_request`` in bytes.
    ``class_code`` in hexadecimal (``0x030200``); ``parent`` is the bus id of the bridge above it as a topology file has
    it, ``bridges`` are all those above it, the root port first (empty: it is at the root complex). ``ids`` are
    vendor, device, subsystem vendor and subsystem device (``1000:c010:1000:a096``).
    Of SR-IOV: how many ``virtual_functions`` are made of it and could be, or the ``physical_function`` that it is of.
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
