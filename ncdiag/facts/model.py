"""The facts: what is known of one job, its hosts, devices and ranks, whatever text or machine it came from.

Every field that is not a key is ``X | None`` and None means *unknown*, never "no". Collections are tuples; whether one is
complete is told by ``Host.complete`` and ``Job.complete`` (`COLLECTION_KINDS` maps fields to section kinds).
Fields that can be computed from others are not here but in `ncdiag.facts.derive`; the condition language reads both alike.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from ncdiag.facts.scalars import VersionRange
from ncdiag.spans import Span

HostName = Annotated[str, msgspec.Meta(extra={"ref": "Host"})]
"""The name of a host; a path of the condition language that goes on behind it (``rank.host.gpus``) follows it."""

InterfaceKind = Literal[
    "physical", "bond", "vlan", "bridge", "veth", "tunnel", "ipoib", "loopback", "virtual", "wireless"
]
PortState = Literal["down", "init", "armed", "active", "active_defer", "nop"]
LinkLayer = Literal["InfiniBand", "Ethernet"]
GidType = Literal["IB", "RoCE v1", "RoCE v2"]
Origin = Literal["process", "log echo", "live", "shell", "conf file", "launcher", "manifest"]
Level = Literal["WARN", "ATTN", "INFO", "TRACE", "DIAG", "CALL", "ABORT", "ERROR"]


class Fact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base of all facts: ``provenance`` maps a field to the span it was read from (``""``: the entity as a whole)."""

    provenance: dict[str, Span] = {}


class Address(msgspec.Struct, frozen=True, omit_defaults=True):
    """An IP address of an interface; ``prefix_len`` in bits, ``peer`` for point-to-point links."""

    ip: str
    prefix_len: int | None = None
    peer: str | None = None


class Interface(Fact):
    """A kernel network interface. ``mtu`` in bytes, ``speed_mbps`` in Mbit/s, ``running`` is IFF_RUNNING (carrier).

    ``operstate`` in the lower case of /sys; ``parent`` is what ``ip`` prints behind the ``@``: the lower device, a veth's
    peer, or ``if<index>`` where that stands in another namespace. ``trust``, ``pfc`` (priorities with flow control) and
    ``dcbx`` are the lossless settings of a RoCE interface, as mlnx_qos prints them.
    """

    host: HostName
    name: str
    kind: InterfaceKind | None = None
    up: bool | None = None
    running: bool | None = None
    operstate: str | None = None
    mtu: int | None = None
    speed_mbps: int | None = None
    mac: str | None = None
    addresses: tuple[Address, ...] | None = None
    master: str | None = None
    slaves: tuple[str, ...] | None = None
    hca: str | None = None
    ifindex: int | None = None
    parent: str | None = None
    bond_mode: str | None = None
    trust: str | None = None
    pfc: tuple[int, ...] | None = None
    dcbx: str | None = None
    dscp_default: bool | None = None


class Route(Fact):
    """A route of the main table; ``destination`` is a CIDR text or ``default``."""

    host: HostName
    destination: str
    interface: str | None = None
    gateway: str | None = None
    metric: int | None = None


class Gid(Fact):
    """One entry of a port's GID table. ``ip`` is the IPv4 address of a mapped GID; ``type`` None where unreadable."""

    host: HostName
    hca: str
    port: int
    index: int
    address: str | None = None
    type: GidType | None = None
    ip: str | None = None
    netdev: str | None = None


class Port(Fact):
    """A port of an RDMA device. ``rate_gbps`` in Gbit/s; ``active_mtu`` in bytes; ``lid`` 0 means none.

    ``physical_state`` in ibstat's words (``LinkUp``, ``Polling``, ``Disabled``); ``rate_text``, ``active_width`` and
    ``active_speed`` (of one lane) as printed.
    """

    host: HostName
    hca: str
    number: int
    state: PortState | None = None
    physical_state: str | None = None
    link_layer: LinkLayer | None = None
    rate_gbps: float | None = None
    rate_text: str | None = None
    active_width: str | None = None
    active_speed: str | None = None
    lid: int | None = None
    sm_lid: int | None = None
    active_mtu: int | None = None
    max_mtu: int | None = None
    netdev: str | None = None
    gids: tuple[Gid, ...] = ()
    gids_complete: bool | None = None
    counters: dict[str, int] | None = None


class Hca(Fact):
    """An RDMA device such as ``mlx5_0``; ``board`` is the CA type (``MT4129``), ``board_id`` the PSID, ``vendor_id`` the
    PCI vendor (``0x02c9``) and ``part_id`` the PCI device number, each as printed."""

    host: HostName
    name: str
    ports: tuple[Port, ...] = ()
    bus_id: str | None = None
    firmware: str | None = None
    numa_node: int | None = None
    board: str | None = None
    board_id: str | None = None
    vendor_id: str | None = None
    part_id: str | None = None
    node_guid: str | None = None
    driver: str | None = None


class Gpu(Fact):
    """A GPU; ``index`` is nvidia-smi's. PCIe generation and width now and at most; ``memory_mib`` in MiB.

    ``nvlinks`` and ``nvlinks_inactive`` count links, ``nvlink_rates`` are their distinct rates in GB/s; ``cpu_affinity`` and
    ``numa_affinity`` as printed (empty where the system hides them).
    """

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


class TopoLink(Fact):
    """How two devices of a host see each other: ``level`` is nvidia-smi's word, ``path_type`` NCCL's.

    ``a`` and ``b`` are labels as printed (``GPU0``, ``NIC3``, ``mlx5_0``); ``p2p_*`` are the words of ``topo -p2p`` (OK, CNS, NS ...),
    ``p2p_status`` where the capability was not named. ``nvlink_count`` 0: known to have none.
    """

    host: HostName
    a: str
    b: str
    level: str | None = None
    path_type: str | None = None
    nvlink_count: int | None = None
    p2p_read: str | None = None
    p2p_write: str | None = None
    p2p_nvlink: str | None = None
    p2p_atomics: str | None = None
    p2p_proprietary: str | None = None
    p2p_status: str | None = None


class PciDevice(Fact):
    """A PCI function; ``acs_redirects`` is True when an ACS control that sends peer traffic upstream is on."""

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


class KernelModule(Fact):
    """A loaded kernel module; ``used_by`` is its use count."""

    host: HostName
    name: str
    size: int | None = None
    used_by: int | None = None


class Mount(Fact):
    """A mounted file system; sizes in bytes."""

    host: HostName
    path: str
    filesystem: str | None = None
    fstype: str | None = None
    size_bytes: int | None = None
    used_bytes: int | None = None
    available_bytes: int | None = None


class Limit(Fact):
    """A resource limit (``memlock``, ``nofile``, ``stack``, ``nproc``): ``soft`` in bytes or a count; None with ``unlimited``."""

    host: HostName
    name: str
    soft: int | None = None
    unlimited: bool | None = None
    hard: int | None = None
    hard_unlimited: bool | None = None


class Service(Fact):
    """A systemd unit; ``active`` as systemctl says, ``version`` where known."""

    host: HostName
    name: str
    active: bool | None = None
    version: str | None = None


class Library(Fact):
    """A shared library that a program could load or has loaded."""

    host: HostName
    path: str
    version: VersionRange | None = None


class Setting(Fact):
    """One variable (NCCL_*, and those of frameworks and launchers) as one source gave it.

    ``text`` is the value as written; ``number`` what NCCL's strtoll makes of it for integer parameters; ``effective`` the
    value in force (the default when known to be unset); ``is_set`` None when the sources at hand cannot tell.
    """

    name: str
    host: HostName | None = None
    rank: int | None = None
    pid: int | None = None
    is_set: bool | None = None
    text: str | None = None
    number: int | None = None
    effective: int | str | None = None
    default: int | str | None = None
    valid: bool | None = None
    origin: Origin | None = None


class Event(Fact):
    """A message of a program, recognised by `ncdiag.messages`; the typed holes of its template are in ``fields``.

    ``time`` is seconds since the epoch where the line has a date; ``order`` the position in the input (source, then line);
    ``count`` how often the same text came from the same rank.
    """

    event: str
    origin: str
    level: Level | None = None
    kind: Literal["cause", "echo", "harmless", "fact", "symptom"] | None = None
    text: str = ""
    time: float | None = None
    order: int = 0
    rank: int | None = None
    host: HostName | None = None
    pid: int | None = None
    peer: str | None = None
    file: str | None = None
    line: int | None = None
    count: int = 1
    fields: dict[str, int | float | str | None] = {}


class NetDevice(Fact):
    """An RDMA device as NCCL announced it: ``index`` is NCCL's NIC number, ``name`` may join merged ports with ``+``."""

    index: int
    name: str
    port: int | None = None
    link_layer: Literal["IB", "RoCE"] | None = None
    sharp: bool | None = None


class GidUse(Fact):
    """A GID that a log says was used. ``index`` None when only the address was printed."""

    hca: str | None = None
    port: int | None = None
    index: int | None = None
    local_gid: str | None = None
    remote_gid: str | None = None


class GdrVerdict(Fact):
    """What NCCL said about GPUDirect RDMA: of a NIC (``gpu`` None) or of a GPU and NIC pair, with its distance test."""

    hca: str
    enabled: bool
    gpu: str | None = None
    distance: int | None = None
    limit: int | None = None
    reason: str | None = None


class Rank(Fact):
    """One rank of the job: a process, or a thread with its own GPU.

    ``rank`` is None for a process whose number no line told. ``transports`` counts connections by transport
    (``P2P/IPC``, ``NET/IB``, ``NET/IB/GDRDMA``, ``SHM``). ``state``: started, ready, failed or silent.
    ``nics_used`` are NCCL's numbers of the NICs that its channels named; ``relaxed_ordering`` is the ``[RO]`` of its list.
    """

    host: HostName
    rank: int | None = None
    pid: int | None = None
    nranks: int | None = None
    communicator: str | None = None
    cuda_dev: int | None = None
    bus_id: str | None = None
    nccl_version: VersionRange | None = None
    library: Literal["NCCL", "RCCL"] | None = None
    state: Literal["started", "ready", "failed", "silent"] | None = None
    bootstrap_interface: Interface | None = None
    socket_interfaces: tuple[Interface, ...] | None = None
    oob_interface: Interface | None = None
    net: str | None = None
    net_plugin: str | None = None
    net_devices: tuple[NetDevice, ...] | None = None
    gids_used: tuple[GidUse, ...] = ()
    gdr: tuple[GdrVerdict, ...] = ()
    transports: dict[str, int] | None = None
    nics_used: tuple[int, ...] | None = None
    relaxed_ordering: bool | None = None
    settings: dict[str, Setting] = {}
    link_layers: tuple[str, ...] | None = None


class Communicator(Fact):
    """A communicator; ``ranks_started`` and ``ranks_ready`` are the rank numbers whose Init lines were seen."""

    id: str
    nranks: int | None = None
    nhosts: int | None = None
    parent: str | None = None
    ranks_started: tuple[int, ...] = ()
    ranks_ready: tuple[int, ...] = ()


class Host(Fact):
    """One machine or pod. ``complete`` holds the section kinds that were seen whole, so that absence means absence.

    ``absent_modules`` are kernel modules known not to be loaded (an empty ``lsmod | grep``); ``nic_labels`` the NICs of
    ``topo -m``, each with its HCA where told; ``acs_redirects`` tells of ACS lines whose device is not named.
    """

    name: str
    complete: frozenset[str] = frozenset()
    gpus: tuple[Gpu, ...] = ()
    hcas: tuple[Hca, ...] = ()
    interfaces: tuple[Interface, ...] = ()
    routes: tuple[Route, ...] = ()
    links: tuple[TopoLink, ...] = ()
    pci: tuple[PciDevice, ...] = ()
    modules: tuple[KernelModule, ...] = ()
    absent_modules: tuple[str, ...] | None = None
    nic_labels: dict[str, str | None] | None = None
    acs_redirects: bool | None = None
    mounts: tuple[Mount, ...] = ()
    limits: tuple[Limit, ...] = ()
    services: tuple[Service, ...] = ()
    libraries: tuple[Library, ...] = ()
    sysctls: dict[str, str] | None = None
    settings: dict[str, Setting] = {}
    conf_settings: dict[str, Setting] = {}
    peermem_registered: bool | None = None
    infiniband_devices: tuple[str, ...] | None = None
    gid_count: int | None = None
    kernel_command_line: str | None = None
    iommu_translating: bool | None = None
    open_kernel_module: bool | None = None
    driver: str | None = None
    in_container: bool | None = None
    virtual_machine: bool | None = None
    cloud: str | None = None
    instance_type: str | None = None
    nccl_version: VersionRange | None = None


class LaunchHost(msgspec.Struct, frozen=True, omit_defaults=True):
    """A host named on a launch line with its slots."""

    name: str
    slots: int | None = None


class Launch(Fact):
    """A command line that starts the job. ``env`` are the variables it sets for the ranks, ``prefix_env`` those set
    in front of the command (for the launcher itself), ``forwarded`` those it passes on by name.

    ``memlock``, ``shm_size_bytes``, ``ipc`` and ``devices`` are a container's; program ``hostfile`` stands for a list of hosts.
    """

    program: str
    text: str
    host: HostName | None = None
    np: int | None = None
    hosts: tuple[LaunchHost, ...] = ()
    env: dict[str, str] = {}
    prefix_env: dict[str, str] = {}
    forwarded: tuple[str, ...] = ()
    mca: dict[str, str] = {}
    nnodes: int | None = None
    nproc_per_node: int | None = None
    node_rank: int | None = None
    master_addr: str | None = None
    master_port: int | None = None
    hostfile: str | None = None
    shm_size_bytes: int | None = None
    ipc: str | None = None
    network: str | None = None
    memlock: str | None = None
    devices: tuple[str, ...] = ()
    cap_add: tuple[str, ...] = ()
    gpus: str | None = None
    privileged: bool | None = None
    image: str | None = None


class BenchmarkRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One size of an nccl-tests table: bytes, microseconds, GB/s (10^9), wrong elements (None for N/A).

    ``error`` is the largest deviation that releases before 2.11 printed in place of ``wrong``.
    """

    size: int
    count: int | None = None
    datatype: str | None = None
    redop: str | None = None
    root: int | None = None
    time_us: float | None = None
    algbw: float | None = None
    busbw: float | None = None
    wrong: int | None = None
    error: float | None = None
    in_place_time_us: float | None = None
    in_place_algbw: float | None = None
    in_place_busbw: float | None = None
    in_place_wrong: int | None = None
    in_place_error: float | None = None
    iterations: int | None = None


class Benchmark(Fact):
    """An nccl-tests run; unmarked columns of its rows are out-of-place. Bandwidths in GB/s (10^9 bytes), sizes in bytes.

    ``out_of_bounds`` counts wrong results; ``*_ok`` is the verdict printed behind a number (OK, FAILED). ``columns`` are the
    names in the head of the table; ``unreadable_rows`` counts rows whose numbers were blanked out.
    """

    program: str | None = None
    nranks: int | None = None
    nhosts: int | None = None
    nthreads: int | None = None
    gpus_per_process: int | None = None
    min_bytes: int | None = None
    max_bytes: int | None = None
    iterations: int | None = None
    validation: int | None = None
    columns: tuple[str, ...] | None = None
    average_busbw: float | None = None
    average_ok: bool | None = None
    out_of_bounds: int | None = None
    out_of_bounds_ok: bool | None = None
    unreadable_rows: int = 0
    rows: tuple[BenchmarkRow, ...] = ()


class Timeout(Fact):
    """A collective that a watchdog gave up (PyTorch). Times in milliseconds."""

    rank: int | None = None
    sequence: int | None = None
    operation: str | None = None
    numel_in: int | None = None
    numel_out: int | None = None
    timeout_ms: int | None = None
    ran_ms: int | None = None
    last_enqueued: int | None = None
    last_completed: int | None = None
    process_group: str | None = None


class FlightGroup(msgspec.Struct, frozen=True, omit_defaults=True):
    """A process group in a flight recorder dump; sequence numbers of its collectives, -1 for none."""

    name: str
    ranks: tuple[int, ...] | None = None
    last_enqueued: int | None = None
    last_started: int | None = None
    last_completed: int | None = None


class FlightEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A collective that the flight recorder saw; ``state`` is scheduled, started or completed."""

    group: str | None = None
    sequence: int | None = None
    operation: str | None = None
    state: str | None = None


class FlightRecord(Fact):
    """A dump of PyTorch's NCCL flight recorder (one rank); entries in the order in which they were enqueued."""

    version: str | None = None
    nccl_version: VersionRange | None = None
    groups: tuple[FlightGroup, ...] = ()
    entries: tuple[FlightEntry, ...] = ()


class RankTableDevice(msgspec.Struct, frozen=True, omit_defaults=True):
    """A device of an HCCL rank table."""

    device_id: str | None = None
    device_ip: str | None = None
    rank_id: str | None = None
    server_id: str | None = None


class RankTable(Fact):
    """An HCCL rank table; ``problems`` are sentences about what breaks HCCL's own rules for it.

    ``server_count`` is what the table declares, ``servers`` how many it lists.
    """

    version: str | None = None
    status: str | None = None
    valid_json: bool | None = None
    server_count: int | None = None
    servers: int | None = None
    devices: tuple[RankTableDevice, ...] = ()
    problems: tuple[str, ...] = ()


class Conflict(msgspec.Struct, frozen=True):
    """Two sources disagree on one field; ``kept`` is None when they had equal standing."""

    entity: str
    field: str
    values: tuple[str, ...]
    spans: tuple[Span, ...]
    kept: str | None = None


class Difference(Fact):
    """Something that should be equal and is not: ``groups`` maps each value to the ranks or hosts that have it, folded.

    ``what``: ``setting`` (``name`` is the variable), ``nccl_version``, ``net``, ``library``, ``bootstrap_network`` ...
    """

    what: str
    name: str
    groups: dict[str, str]


class Advertised(Fact):
    """An address that a rank told the others to use (derived, `ncdiag.facts.derive.network`).

    ``role``: ``bootstrap``, ``data`` (an entry of the socket transport's list), ``oob`` (the set-up socket of the IB transport) or
    ``peer`` (the address of another process that a message named). ``failed`` is True when a connection to it failed.
    """

    ip: str | None = None
    interface: str | None = None
    kind: InterfaceKind | None = None
    virtual: bool | None = None
    host: HostName | None = None
    rank: int | None = None
    role: Literal["bootstrap", "data", "oob", "peer"] = "bootstrap"
    failed: bool | None = None


class Job(Fact):
    """Everything that is known. ``complete`` holds the names of Job collections that are closed (``ranks``, ``hosts``)."""

    complete: frozenset[str] = frozenset()
    hosts: tuple[Host, ...] = ()
    ranks: tuple[Rank, ...] = ()
    communicators: tuple[Communicator, ...] = ()
    settings: tuple[Setting, ...] = ()
    events: tuple[Event, ...] = ()
    launches: tuple[Launch, ...] = ()
    benchmarks: tuple[Benchmark, ...] = ()
    timeouts: tuple[Timeout, ...] = ()
    rank_tables: tuple[RankTable, ...] = ()
    flight_records: tuple[FlightRecord, ...] = ()
    nranks: int | None = None
    nhosts: int | None = None
    conflicts: tuple[Conflict, ...] = ()


COLLECTION_KINDS = {
    "gpus": frozenset({"nvidia_smi_L", "nvidia_smi_q", "topo_m", "nvml"}),
    "hcas": frozenset({"ibstat", "ibstatus", "ibv_devinfo", "show_gids", "sysfs_infiniband"}),
    "interfaces": frozenset({"interfaces"}),
    "routes": frozenset({"routes"}),
    "links": frozenset({"topo_m"}),
    "pci": frozenset({"lspci", "sysfs_pci"}),
    "modules": frozenset({"lsmod"}),
    "mounts": frozenset({"df_shm"}),
    "limits": frozenset({"ulimit"}),
    "settings": frozenset({"env"}),
}
"""A collection of a host is closed when one of these section kinds was seen whole."""
