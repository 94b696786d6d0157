"""The topology and graph files of NCCL: the hardware of a machine as NCCL sees it, and the channels it plans."""

from __future__ import annotations

import msgspec

from ncdiag.facts.model.base import Fact, HostName


class TopoCpu(msgspec.Struct, frozen=True, omit_defaults=True):
    """A NUMA node of a topology file; ``numa_id`` -1 holds the devices whose NUMA node NCCL did not find in /sys.

    ``host_hash`` (since 2.21.5) identifies the host in a file that joins several hosts. ``affinity`` is the CPU mask.
    """

    numa_id: int | None = None
    host_hash: str | None = None
    affinity: str | None = None
    arch: str | None = None
    vendor: str | None = None
    family_id: int | None = None
    model_id: int | None = None


class TopoPci(msgspec.Struct, frozen=True, omit_defaults=True):
    """A PCI function of a topology file.

    ``cpu`` is the index of its TopoCpu, ``parent`` the bus id of the bridge above it. ``speed_gts`` (per lane) and
    ``width`` are the values that NCCL uses: the lower of device and slot, 0 where it could not read them. Hexadecimal
    numbers are kept as printed. ``peers`` are the other ends of links between switches.
    """

    bus_id: str
    cpu: int | None = None
    parent: str | None = None
    class_code: str | None = None
    vendor: str | None = None
    device: str | None = None
    subsystem_vendor: str | None = None
    subsystem_device: str | None = None
    speed_gts: float | None = None
    width: int | None = None
    peers: tuple[str, ...] = ()


class TopoNvlink(msgspec.Struct, frozen=True, omit_defaults=True):
    """The NVLinks (or xGMI links) of a GPU to one target: their number, and the PCI class of the target.

    Class 0x068000 is an NVSwitch, 0x03... another GPU, 0x0b40... a POWER CPU.
    """

    target: str
    count: int | None = None
    target_class: str | None = None
    kind: str = "nvlink"


class TopoGpu(msgspec.Struct, frozen=True, omit_defaults=True):
    """A GPU of a topology file; ``dev`` is NVML's index, ``gdr``: does NCCL consider it capable of GPUDirect RDMA?

    ``sm`` is the compute capability times ten (for AMD GPUs the number of compute units), ``gcn`` AMD's architecture.
    ``c2c_bw`` is in MB/s for each of ``c2c_count`` chip-to-chip links.
    """

    bus_id: str | None = None
    cpu: int | None = None
    dev: int | None = None
    sm: int | None = None
    gcn: str | None = None
    rank: int | None = None
    gdr: bool | None = None
    links: tuple[TopoNvlink, ...] = ()
    c2c_bw: int | None = None
    c2c_count: int | None = None


class TopoNet(msgspec.Struct, frozen=True, omit_defaults=True):
    """A network device of a topology file; ``speed_mbps`` in Mbit/s, ``guid`` 0x0 for sockets, ``latency`` in us.

    ``collnet``, ``keep`` and ``rail`` are as in the file (``keep`` 0: NCCL ignores the device).
    """

    name: str
    dev: int | None = None
    speed_mbps: int | None = None
    port: int | None = None
    guid: str | None = None
    latency: float | None = None
    max_connections: int | None = None
    gdr: bool | None = None
    collnet: bool | None = None
    keep: bool | None = None
    rail: int | None = None


class TopoNic(msgspec.Struct, frozen=True, omit_defaults=True):
    """A network card with its devices; ``bus_id`` None: below the CPU, since NCCL did not find its PCI device."""

    bus_id: str | None = None
    cpu: int | None = None
    nets: tuple[TopoNet, ...] = ()


class TopoSystem(Fact, frozen=True, kw_only=True):
    """A topology file of NCCL: a dump (NCCL_TOPO_DUMP_FILE) or an input to a job (NCCL_TOPO_FILE).

    ``whole`` is False for a file that is cut off. ``nhosts`` is the number of distinct host hashes, None before 2.21.5.
    """

    HOST = "some"

    host: HostName | None = None
    name: str | None = None
    version: int | None = None
    whole: bool | None = None
    nhosts: int | None = None
    cpus: tuple[TopoCpu, ...] = ()
    pci: tuple[TopoPci, ...] = ()
    gpus: tuple[TopoGpu, ...] = ()
    nics: tuple[TopoNic, ...] = ()


class GraphChannel(msgspec.Struct, frozen=True, omit_defaults=True):
    """A channel of a graph file: its GPUs in order, between the network devices at which it enters and leaves.

    GPUs are NVML indices, or ranks where the file has them. Since 2.21 the numbers of a file that joins several hosts
    have the host in their upper half.
    """

    gpus: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()
    nets: tuple[int, ...] = ()


class GraphPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """A graph that NCCL's search found; bandwidths in GB/s per channel, ``type_*`` is the worst path type in it.

    ``id``: 0 ring, 1 tree, 2 collnet, 3 NVLS. ``nchannels`` 0 means that no graph was found. ``pattern`` has the
    numbers of NCCL's graph.h.
    """

    id: int
    pattern: int | None = None
    cross_nic: int | None = None
    nchannels: int | None = None
    bw_intra: float | None = None
    bw_inter: float | None = None
    latency_inter: float | None = None
    type_intra: str | None = None
    type_inter: str | None = None
    same_channels: bool | None = None
    channels: tuple[GraphChannel, ...] = ()


class GraphDump(Fact, frozen=True, kw_only=True):
    """A graph file of NCCL (NCCL_GRAPH_DUMP_FILE or NCCL_GRAPH_FILE); ``whole`` is False when it is cut off."""

    version: int | None = None
    whole: bool | None = None
    graphs: tuple[GraphPlan, ...] = ()
