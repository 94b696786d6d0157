"""Hosts and the job as a whole."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from ncdiag.base.spans import Span
from ncdiag.facts.model.base import Fact, HostName, InterfaceKind
from ncdiag.facts.model.cluster import CloudInstance, ClusterNode, SecurityGroup
from ncdiag.facts.model.fabric import Fabric
from ncdiag.facts.model.hardware import Gpu, Npu, PciDevice, TopoLink
from ncdiag.facts.model.marks import BY_NAME, FACE, GREATEST, READ, UNION, Open, closed_by
from ncdiag.facts.model.monitoring import HealthCheck, OperationProfile, RasReport
from ncdiag.facts.model.network import Hca, Interface, Route, RouteAnswer, Traffic
from ncdiag.facts.model.probes import (
    ProbeGap,
    ProbeLink,
    ProbeLogin,
    ProbeMeeting,
    ProbeName,
    ProbeOwn,
    ProbePair,
    ProbePath,
    ProbePort,
    ProbeProgram,
    ProbeRail,
)
from ncdiag.facts.model.processes import CollectiveSum, Communicator, Event, Parameter, Rank, Setting
from ncdiag.facts.model.records import (
    Benchmark,
    CallTimes,
    Complaint,
    FlightRecord,
    KernelWatch,
    Launch,
    LinkTest,
    RankTable,
    StepPart,
    Throughput,
    Timeout,
)
from ncdiag.facts.model.scripts import ScriptFault
from ncdiag.facts.model.stacks import StackDump
from ncdiag.facts.model.system import IdleState, KernelModule, Library, Limit, Mount, ProcessCpus, Service
from ncdiag.facts.model.told import Access, Context, Duration, RunLabel, ToldRate, Trial, Want
from ncdiag.facts.model.topology import GraphDump, TopoSystem
from ncdiag.facts.scalars import VersionRange


class Host(Fact, frozen=True, kw_only=True):
    """One machine or pod.

    ``complete`` holds the kinds of sections that were seen whole: what such a section does not list is known to be
    absent. ``called`` is the name that the machine uses for itself, which another host may use too. ``looked_at``:
    ncdiag itself read the files of the host and ran its tools, so an unknown value could not be read. ``machine`` is
    the manufacturer's model name. ``kernel_release`` is the output of ``uname -r``, ``os_release`` the name of the
    operating system.

    Kernel modules and GPUs: ``absent_modules`` are modules known not to be loaded (an empty ``lsmod | grep``).
    ``nvidia_uvm_file``: does /dev/nvidia-uvm exist? ``gpus_attached`` is the number of GPUs that nvidia-smi counts,
    ``gpus_queried`` the time of its output, as printed. ``nvml_error`` is the error with which nvidia-smi could not
    start. ``imex_channels`` are the channels of NVIDIA's IMEX that programs may open, ``imex_nodes`` the nodes of its
    domain, ``imex_domain`` the state of the domain (``UP``), ``imex_lost`` those nodes that are not ready or not
    connected, ``imex_addresses`` the addresses in the list of its nodes.

    Network: ``nic_labels`` maps the NIC labels of ``topo -m`` to RDMA devices where the legend names them.
    ``acs_redirects`` summarizes ACS lines that name no device, ``unnamed_nic_counters`` the counters of ``ethtool -S``
    output that names no interface, ``lid_counters`` those of ports that are known by LID and number alone (``17/1``).
    ``port_types`` are the link types in the firmware of cards (``/dev/mst/mt4129_pciconf0 1``: ``ETH``),
    ``ats_settings`` the values of ATS_ENABLED there (``/dev/mst/mt4129_pciconf0``: ``False``),
    ``mst_devices`` the RDMA devices of MFT's device files and of PCI addresses.
    ``infiniband_closed`` are the device files of RDMA cards that only their owner and its group may open.
    ``verbs_providers`` are the adapters that rdma-core has drivers for. ``libfabric_providers`` says, by provider name,
    whether libfabric offers it. ``ucx_transports`` are all transports of UCX, ``ucx_configured`` its build options.
    ``slurm_config`` is the configuration of Slurm, as ``scontrol show config`` prints it, ``slurm_mpi_types`` the
    kinds of PMI that it has plugins for.

    Firewall: ``packet_filters`` are the tables of iptables that exist. ``input_policy`` is the default policy for
    incoming packets, ``input_drops`` the number of rules that drop or reject incoming packets, ``input_allows`` the
    networks and interfaces from which everything is accepted, ``input_networks`` all IPv4 networks that rules name.
    ``input_filters`` are the tools that manage the rules shown (``iptables``, ``nft``, ``ufw``, ``firewalld``),
    ``input_chain`` is nft's chain for incoming packets (``inet filter input``). ``input_ports`` are the TCP ports that
    firewalld lets in from everywhere (``29500``, ``6000-6100``).
    ``mesh_chain`` is the chain with which the proxy of a
    service mesh captures connections; empty means none.

    Processors and limits: ``cpu_arch`` is the kernel's name (``x86_64``, ``aarch64``), ``cpu_vendor`` the CPUID vendor
    (``AuthenticAMD``). ``cpu_governors`` counts processors by frequency governor, ``idle_states`` are the idle states
    of the processors. ``cpu_limit`` is the number of processors that the control group may use (2.5: two and a half),
    ``cpu_throttled`` the share of the periods in which it was stopped because it had used them up,
    ``memory_limit_bytes`` its memory limit, ``oom_kills`` the number of its processes that the kernel killed for lack
    of memory, ``rdma_limits`` the number of RDMA handles and objects that it may have on each card, ``rdma_held`` the
    number that it has (``mlx5_0 hca_object``: 4096). ``cma_bytes`` is the size of the kernel's contiguous memory area
    (CMA), ``cma_free_bytes`` its free part. ``capabilities`` are those of the process that collected the data
    (``IPC_LOCK``). ``own_namespaces`` are the kinds of namespace (``pid``, ``ipc``) that differ from the machine's.
    ``process_cpus`` are the processors that certain processes may use. ``numa_without_memory`` are the NUMA nodes that
    have processors and no memory.

    Clock and software: ``examined_at`` is the time in seconds since 1970 at which ncdiag looked at the host.
    ``clock_synchronized``: does a daemon synchronize the clock? ``clock_offset_seconds`` is how far
    the clock is ahead of its reference. ``nccl_parameters`` is the parameter registry of the installed NCCL library.
    ``frameworks`` are releases of PyTorch and other frameworks by name (``pytorch``). ``files`` are paths of libraries
    and XML files that listings show outside of containers, ``mapped_files`` of libraries that listings show in the
    memory of one process, ``folders`` those that not only root may write in, with their owner (``anybody``),
    ``device_groups`` the numbers of the groups of device files. ``shm_files`` are the owners of files in /dev/shm with
    the beginning of the names (``user7 torch_``).
    """

    KEY = ()
    HOST = "some"

    name: str
    complete: Annotated[frozenset[str], UNION] = frozenset()
    gpus: Annotated[tuple[Gpu, ...], closed_by("nvidia_smi", "nvidia_smi_L", "nvidia_smi_q", "topo_m", "nvml")] = ()
    npus: tuple[Npu, ...] = ()
    hcas: Annotated[
        tuple[Hca, ...], closed_by("ibstat", "ibstatus", "ibv_devinfo", "show_gids", "sysfs_infiniband")
    ] = ()
    traffic: tuple[Traffic, ...] = ()
    interfaces: Annotated[tuple[Interface, ...], closed_by("interfaces")] = ()
    routes: Annotated[tuple[Route, ...], closed_by("routes")] = ()
    links: Annotated[tuple[TopoLink, ...], closed_by("topo_m")] = ()
    pci: Annotated[tuple[PciDevice, ...], closed_by("lspci", "sysfs_pci")] = ()
    modules: Annotated[tuple[KernelModule, ...], closed_by("lsmod")] = ()
    absent_modules: Annotated[tuple[str, ...] | None, UNION] = None
    nic_labels: dict[str, str | None] | None = None
    acs_redirects: bool | None = None
    mounts: Annotated[tuple[Mount, ...], closed_by("df_shm")] = ()
    limits: Annotated[tuple[Limit, ...], closed_by("ulimit")] = ()
    services: tuple[Service, ...] = ()
    libraries: tuple[Library, ...] = ()
    sysctls: dict[str, str] | None = None
    settings: Annotated[dict[str, Setting], closed_by("env")] = {}
    conf_settings: dict[str, Setting] = {}
    peermem_registered: bool | None = None
    infiniband_devices: tuple[str, ...] | None = None
    infiniband_closed: tuple[str, ...] | None = None
    nvidia_uvm_file: bool | None = None
    gid_count: int | None = None
    gpus_attached: int | None = None
    gpus_queried: str | None = None
    unnamed_nic_counters: dict[str, int] | None = None
    kernel_command_line: str | None = None
    iommu_translating: bool | None = None
    open_kernel_module: bool | None = None
    numa_without_memory: tuple[int, ...] | None = None
    driver: str | None = None
    in_container: bool | None = None
    virtual_machine: bool | None = None
    in_wsl: bool | None = None
    cloud: str | None = None
    instance_type: str | None = None
    nccl_version: VersionRange | None = None
    clock_source: str | None = None
    cpu_governors: dict[str, int] | None = None
    process_cpus: Annotated[tuple[ProcessCpus, ...] | None, UNION] = None
    idle_states: tuple[IdleState, ...] | None = None
    capabilities: tuple[str, ...] | None = None
    memory_limit_bytes: int | None = None
    oom_kills: int | None = None
    listening_ports: tuple[int, ...] | None = None
    port_programs: Annotated[dict[str, str] | None, BY_NAME] = None
    packet_filters: tuple[str, ...] | None = None
    kernel_release: str | None = None
    os_release: str | None = None
    cpu_arch: str | None = None
    cpu_vendor: str | None = None
    machine: str | None = None
    cpu_limit: float | None = None
    cpu_throttled: Annotated[float | None, GREATEST] = None
    own_namespaces: tuple[str, ...] | None = None
    clock_synchronized: bool | None = None
    examined_at: float | None = None
    clock_offset_seconds: float | None = None
    rdma_core_version: str | None = None
    ofed_version: str | None = None
    verbs_providers: tuple[str, ...] | None = None
    ucx_transports: tuple[str, ...] | None = None
    ucx_configured: str | None = None
    imex_channels: tuple[str, ...] | None = None
    imex_nodes: int | None = None
    imex_domain: str | None = None
    imex_lost: tuple[str, ...] | None = None
    imex_addresses: Annotated[tuple[str, ...] | None, UNION] = None
    input_policy: Annotated[Literal["accept", "drop"] | None, GREATEST] = None
    input_drops: Annotated[int | None, GREATEST] = None
    input_allows: Annotated[tuple[str, ...] | None, UNION] = None
    input_networks: Annotated[tuple[str, ...] | None, UNION] = None
    input_filters: Annotated[tuple[str, ...] | None, UNION] = None
    input_chain: str | None = None
    input_ports: Annotated[tuple[str, ...] | None, UNION] = None
    route_answers: Annotated[tuple[RouteAnswer, ...] | None, UNION] = None
    libfabric_providers: Annotated[dict[str, bool] | None, BY_NAME] = None
    memory_bytes: int | None = None
    memory_available_bytes: int | None = None
    rdma_limits: Annotated[dict[str, int] | None, BY_NAME] = None
    rdma_held: Annotated[dict[str, int] | None, BY_NAME] = None
    cma_bytes: int | None = None
    cma_free_bytes: int | None = None
    lid_counters: Annotated[dict[str, dict[str, int]] | None, BY_NAME] = None
    mesh_chain: str | None = None
    slurm_mpi_types: Annotated[tuple[str, ...] | None, UNION] = None
    slurm_config: Annotated[dict[str, str] | None, BY_NAME] = None
    port_types: Annotated[dict[str, str] | None, BY_NAME] = None
    ats_settings: Annotated[dict[str, str] | None, BY_NAME] = None
    mst_devices: Annotated[dict[str, str] | None, BY_NAME] = None
    nccl_parameters: tuple[Parameter, ...] | None = None
    checks: tuple[HealthCheck, ...] = ()
    nvml_error: str | None = None
    frameworks: Annotated[dict[str, str] | None, BY_NAME] = None
    files: Annotated[tuple[str, ...] | None, UNION] = None
    mapped_files: Annotated[tuple[str, ...] | None, UNION] = None
    folders: Annotated[dict[str, str] | None, BY_NAME] = None
    shm_files: Annotated[tuple[str, ...] | None, UNION] = None
    device_groups: Annotated[dict[str, str] | None, BY_NAME] = None
    looked_at: bool | None = None
    called: Annotated[str | None, FACE] = None


class Conflict(msgspec.Struct, frozen=True):
    """Two sources disagree on one field; ``kept`` is the value that was kept, None when both sources rank equally."""

    entity: str
    field: str
    values: tuple[str, ...]
    spans: tuple[Span, ...]
    kept: str | None = None


class Difference(Fact, frozen=True, kw_only=True):
    """Something that should be equal everywhere and is not; ``groups`` maps each value to its ranks or hosts, folded.

    ``what`` is one of: ``setting`` (``name`` is the variable), ``nccl_version``, ``net``, ``library``; for hosts
    ``cuda_driver``, ``driver``, ``net_plugin``, ``hca_list``, ``gdr``, ``gid_kind``, ``local_transport``,
    ``interface_mtu`` (``name`` is the IP network), ``port_mtu`` (``name`` lists the ports), ``rocev2_index``,
    ``nccl_installed`` (the release of the only NCCL library of a host); for collectives ``wait`` (ranks waited in
    different ones), ``stuck`` (some ranks completed it and others did not), ``call`` (the collectives that appear in
    stacks).
    """

    what: str
    name: str
    groups: dict[str, str]


class Scaling(Fact, frozen=True, kw_only=True):
    """How much of the speed per GPU remains in the largest run of a training (derived): 1.0 means all of it.

    ``inside`` compares the largest run on one node with the speed of a single GPU. ``across`` compares the run of
    ``gpus`` GPUs on ``nodes`` nodes with the speed of one node. ``overall`` compares with the speed per GPU of the
    smallest run, which had ``smallest`` GPUs; it is used where the number of nodes of the largest run is unknown. Each
    is None where no run shows it. ``case`` is the configuration that the compared rows have in common.
    """

    unit: str
    case: str = ""
    gpus: int
    nodes: int | None = None
    inside: float | None = None
    across: float | None = None
    smallest: int | None = None
    overall: float | None = None


class StepAccount(Fact, frozen=True, kw_only=True):
    """What the times of a training's steps show (derived), as a sentence in ``text``; ``what`` is its sort.

    ``late``: one rank needs longer than the others for a part; ``enters-late``: one rank calls collectives later;
    ``spread``: the slowest rank needs longer, and is not named; ``data`` and ``communication``: the part of the step or
    profile that they take, ``share``.
    """

    what: Literal["late", "enters-late", "spread", "data", "communication"]
    text: str
    rank: int | None = None
    share: float | None = None


class Advertised(Fact, frozen=True, kw_only=True):
    """An address that a rank announced to the other ranks (derived, `ncdiag.facts.vocabulary.addresses`).

    ``role`` is ``bootstrap``, ``data`` (an entry of the list of the socket transport), ``oob`` (the socket for the
    set-up of the IB transport) or ``peer`` (the address of another process that a message named). ``failed`` is True
    when a connection to it failed.
    """

    ip: str | None = None
    interface: str | None = None
    kind: InterfaceKind | None = None
    virtual: bool | None = None
    host: HostName | None = None
    rank: int | None = None
    role: Literal["bootstrap", "data", "oob", "peer"] = "bootstrap"
    failed: bool | None = None


Choice = Literal[
    "bootstrap interface", "socket interfaces", "network", "RDMA ports", "GID index", "GPUDirect RDMA level", "setting"
]
"""The choices of NCCL for which a prediction is compared with the log."""


class ComparedChoice(Fact, frozen=True, kw_only=True):
    """A choice in a log, with the one that the other facts predict (derived, `ncdiag.knowledge.env.agreement`).

    ``choice`` is its name for readers, ``predicted`` and ``logged`` are the two values. ``host`` and ``rank`` are the
    first that show it, ``nhosts`` is the number of hosts that do.
    """

    choice: Choice
    predicted: str
    logged: str
    host: HostName | None = None
    rank: int | None = None
    nhosts: int | None = None
    in_container: bool | None = None
    plugin: str | None = None


class Job(Fact, frozen=True, kw_only=True):
    """Everything that is known about one job.

    ``complete`` holds the names of the collections of Job that are closed (``ranks``, ``hosts``).
    ``communicators_unlisted`` more are set up completely, and not in ``communicators``: a source has too many of them.
    """

    KEY = ()

    complete: Annotated[frozenset[str], UNION] = frozenset()
    hosts: Open[Host] = ()
    ranks: Open[Rank] = ()
    communicators: Open[Communicator] = ()
    communicators_unlisted: Annotated[int | None, GREATEST] = None
    collectives: Open[CollectiveSum] = ()
    settings: Open[Setting] = ()
    events: Open[Event] = ()
    launches: Open[Launch] = ()
    benchmarks: Open[Benchmark] = ()
    timeouts: Open[Timeout] = ()
    kernel_watches: Open[KernelWatch] = ()
    rank_tables: Open[RankTable] = ()
    flight_records: Open[FlightRecord] = ()
    topologies: Open[TopoSystem] = ()
    graph_dumps: Open[GraphDump] = ()
    ras_reports: Open[RasReport] = ()
    operation_profiles: Open[OperationProfile] = ()
    fabrics: Open[Fabric] = ()
    throughputs: Open[Throughput] = ()
    step_parts: Open[StepPart] = ()
    call_times: Open[CallTimes] = ()
    link_tests: Open[LinkTest] = ()
    stack_dumps: Open[StackDump] = ()
    script_faults: Annotated[tuple[ScriptFault, ...], READ] = ()
    complaints: Open[Complaint] = ()
    trials: Open[Trial] = ()
    run_labels: Open[RunLabel] = ()
    contexts: Open[Context] = ()
    accesses: Open[Access] = ()
    wishes: Open[Want] = ()
    told_rates: Open[ToldRate] = ()
    durations: Open[Duration] = ()
    cluster_nodes: Open[ClusterNode] = ()
    cloud_instances: Open[CloudInstance] = ()
    security_groups: Open[SecurityGroup] = ()
    probe_links: Open[ProbeLink] = ()
    probe_ports: Open[ProbePort] = ()
    probe_names: Open[ProbeName] = ()
    probe_rails: Open[ProbeRail] = ()
    probe_pairs: Open[ProbePair] = ()
    probe_gaps: Open[ProbeGap] = ()
    probe_logins: Open[ProbeLogin] = ()
    probe_meetings: Open[ProbeMeeting] = ()
    probe_own: Open[ProbeOwn] = ()
    probe_paths: Open[ProbePath] = ()
    probe_programs: Open[ProbeProgram] = ()
    nranks: int | None = None
    nhosts: int | None = None
    conflicts: tuple[Conflict, ...] = ()
