"""What NCCL wrote down of a machine and of its plans: the topology file and the graph file."""

from __future__ import annotations

import msgspec

from ncdiag.facts.model.base import Fact, HostName


class TopoCpu(msgspec.Struct, frozen=True, omit_defaults=True):
    """A NUMA node of a topology file; ``numa_id`` -1: the place of devices that NCCL could not find in /sys.

    ``host_hash`` (since 2.21.5) tells hosts apart in a file that joins several. ``affinity`` is the mask of CPUs.
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

    ``cpu`` is the index of its TopoCpu, ``parent`` the bus id of the bridge above.
    ``speed_gts`` (of a lane) and ``width`` are those that NCCL counts with: the lower of device and slot, 0 where it
    could not read them. Numbers in hexadecimal stand as printed. ``peers`` are the ends of links between switches.
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
    """NVLinks (or xGMI links) of a GPU to one target: how many, and the PCI class of what is there.

    Class 0x068000 is an NVSwitch, 0x03... another GPU, 0x0b40... a POWER CPU.
    """

    target: str
    count: int | None = None
    target_class: str | None = None
    kind: str = "nvlink"


class TopoGpu(msgspec.Struct, frozen=True, omit_defaults=True):
    """A GPU of a topology file; ``dev`` is NVML's index, ``gdr`` whether NCCL found GPUDirect RDMA for it.

    ``sm`` is the compute capability times ten (of AMD GPUs the number of compute units); ``gcn`` AMD's architecture.
    ``c2c_bw`` in MB/s for each of ``c2c_count`` chip-to-chip links.
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

    ``collnet``, ``keep`` and ``rail`` as the file has them (``keep`` 0: NCCL leaves the device out).
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
    """A network card with its devices; ``bus_id`` None: it hangs directly at the CPU (NCCL did not find its place)."""

    bus_id: str | None = None
    cpu: int | None = None
    nets: tuple[TopoNet, ...] = ()


class TopoSystem(Fact, frozen=True, kw_only=True):
    """A topology file of NCCL: a dump (NCCL_TOPO_DUMP_FILE) or one that a job was given (NCCL_TOPO_FILE).

    ``whole`` is False of a file that is cut off; ``nhosts`` counts the host hashes, None before 2.21.5.
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
    """A channel: the GPUs in their order (NVML indices, ranks where told) between the nets it comes in and goes out by.

    Since 2.21 a file that joins hosts has numbers with the host in the upper half.
    """

    gpus: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()
    nets: tuple[int, ...] = ()


class GraphPlan(msgspec.Struct, frozen=True, omit_defaults=True):
    """A graph that NCCL's search found; bandwidths in GB/s for each channel, ``type_*`` the worst path in it.

    ``id``: 0 ring, 1 tree, 2 collnet, 3 NVLS. ``nchannels`` 0: nothing was found. ``pattern`` as graph.h numbers it.
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
    """A graph file of NCCL (NCCL_GRAPH_DUMP_FILE or NCCL_GRAPH_FILE); ``whole`` False when it is cut off."""

    version: int | None = None
    whole: bool | None = None
    graphs: tuple[GraphPlan, ...] = ()
