"""Hosts and the job as a whole."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from ncdiag.base.spans import Span
from ncdiag.facts.model.base import Fact, HostName, InterfaceKind
from ncdiag.facts.model.cluster import CloudInstance, ClusterNode, SecurityGroup
from ncdiag.facts.model.fabric import Fabric
from ncdiag.facts.model.hardware import Gpu, Npu, PciDevice, TopoLink
from ncdiag.facts.model.marks import BY_NAME, GREATEST, READ, UNION, Open, closed_by
from ncdiag.facts.model.monitoring import HealthCheck, OperationProfile, RasReport
from ncdiag.facts.model.network import Hca, Interface, Route, RouteAnswer
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
    Complaint,
    FlightRecord,
    Launch,
    LinkTest,
    RankTable,
    Throughput,
    Timeout,
)
from ncdiag.facts.model.scripts import ScriptFault
from ncdiag.facts.model.stacks import StackDump
from ncdiag.facts.model.system import IdleState, KernelModule, Library, Limit, Mount, ProcessCpus, Service
from ncdiag.facts.model.told import Context, ToldRate, Trial, Want
from ncdiag.facts.model.topology import GraphDump, TopoSystem
from ncdiag.facts.scalars import VersionRange


class Host(Fact, frozen=True, kw_only=True):
    """One machine or pod. ``complete`` holds the section kinds that were seen whole, so that absence means absence.

    ``absent_modules`` are kernel modules known not to be loaded (an empty ``lsmod | grep``); ``nic_labels`` the NICs of
    ``topo -m``, each with its HCA where told; ``acs_redirects`` tells of ACS lines whose device is not named,
    ``unnamed_nic_counters`` of ``ethtool -S`` where the interface is not named. ``gpus_attached`` is how many GPUs
    nvidia-smi counts, ``gpus_queried`` when it looked, as printed. ``cpu_governors`` counts processors by frequency
    governor; ``capabilities`` are those of the process that looked (``IPC_LOCK``); ``oom_kills`` counts the processes
    that the kernel killed in its control group, ``memory_limit_bytes`` is that group's limit;
    ``packet_filters`` are the tables of iptables that exist. ``kernel_release`` as ``uname -r`` prints it,
    ``os_release`` is the name that the operating system gives itself;
    ``cpu_arch`` in the kernel's words (``x86_64``, ``aarch64``), ``cpu_vendor`` as CPUID tells it (``AuthenticAMD``).
    ``machine`` is the maker's name of it. ``cpu_limit`` is the share of processors that the control group may use (2.5:
    two and a half), ``own_namespaces`` the kinds of namespace (``pid``, ``ipc``) that are not the machine's own.
    ``clock_synchronized``: a daemon keeps the clock to a reference; ``clock_offset_seconds``: it is so far ahead of it.
    ``verbs_providers`` are the adapters that rdma-core has drivers for; ``imex_channels`` those of NVIDIA's IMEX that
    programs may open, ``imex_nodes`` the nodes of its domain, ``imex_domain`` the domain's state (``UP``) and
    ``imex_lost`` those of its nodes that are not ready or not connected. ``input_policy`` is what the packet filter
    does with what no rule names, ``input_drops`` how many of its rules drop or reject what comes in,
    ``input_allows`` the networks from which, and the interfaces by which, it lets in all; ``mesh_chain`` is the chain
    by which a service mesh's proxy takes the host's connections, empty for none. ``nccl_parameters`` is the registry of
    the NCCL library there. ``process_cpus`` are the processors of those processes that were
    asked about, ``idle_states`` those in which the processors sleep. ``libfabric_providers`` says by name whether
    libfabric offers them. ``lid_counters`` are the counters of ports that are known by LID and number alone (``17/1``).
    ``nvml_error`` is why nvidia-smi could not begin. ``frameworks`` are the releases of PyTorch and its like by name
    (``pytorch``). ``ucx_transports`` are all transports that UCX has there, ``ucx_configured`` the options it was
    built with. ``nvidia_uvm_file``: is /dev/nvidia-uvm there? ``looked_at``: ncdiag read its files and asked its tools,
    so that what it does not know could not be seen. ``called`` is the name that the machine has for itself, which
    another may have, too.
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
    nvidia_uvm_file: bool | None = None
    gid_count: int | None = None
    gpus_attached: int | None = None
    gpus_queried: str | None = None
    unnamed_nic_counters: dict[str, int] | None = None
    kernel_command_line: str | None = None
    iommu_translating: bool | None = None
    open_kernel_module: bool | None = None
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
    packet_filters: tuple[str, ...] | None = None
    kernel_release: str | None = None
    os_release: str | None = None
    cpu_arch: str | None = None
    cpu_vendor: str | None = None
    machine: str | None = None
    cpu_limit: float | None = None
    own_namespaces: tuple[str, ...] | None = None
    clock_synchronized: bool | None = None
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
    input_policy: Annotated[Literal["accept", "drop"] | None, GREATEST] = None
    input_drops: Annotated[int | None, GREATEST] = None
    input_allows: Annotated[tuple[str, ...] | None, UNION] = None
    route_answers: Annotated[tuple[RouteAnswer, ...] | None, UNION] = None
    libfabric_providers: Annotated[dict[str, bool] | None, BY_NAME] = None
    memory_bytes: int | None = None
    memory_available_bytes: int | None = None
    lid_counters: Annotated[dict[str, dict[str, int]] | None, BY_NAME] = None
    mesh_chain: str | None = None
    nccl_parameters: tuple[Parameter, ...] | None = None
    checks: tuple[HealthCheck, ...] = ()
    nvml_error: str | None = None
    frameworks: Annotated[dict[str, str] | None, BY_NAME] = None
    looked_at: bool | None = None
    called: str | None = None


class Conflict(msgspec.Struct, frozen=True):
    """Two sources disagree on one field; ``kept`` is None when they had equal standing."""

    entity: str
    field: str
    values: tuple[str, ...]
    spans: tuple[Span, ...]
    kept: str | None = None


class Difference(Fact, frozen=True, kw_only=True):
    """Something that should be equal and is not: ``groups`` maps each value to the ranks or hosts that have it, folded.

    ``what``: ``setting`` (``name`` is the variable), ``nccl_version``, ``net``, ``library``, and of hosts
    ``cuda_driver``, ``driver``, ``net_plugin``, ``hca_list``, ``gdr``, ``gid_kind``, ``local_transport``,
    ``interface_mtu`` (``name`` is the IP network), ``port_mtu`` (the ports), ``rocev2_index``, ``nccl_installed`` (the
    release of the only NCCL library of a host); ``wait``: a collective
    in which ranks waited; ``stuck``: one that some completed and others did not; ``call``: the collectives in which
    stacks stand.
    """

    what: str
    name: str
    groups: dict[str, str]


class Scaling(Fact, frozen=True, kw_only=True):
    """What is left of a GPU's speed in the largest run of a training (derived): 1.0 is all of it.

    ``inside``: of one GPU's speed in the largest run on one node; ``across``: of a node's speed in the run of ``gpus``
    GPUs on ``nodes`` nodes. None if no run shows it. ``overall``: of the speed of a GPU of the smallest run, which had
    ``smallest`` GPUs, where nobody says how many nodes the largest run used. ``case`` is what its rows have in common.
    """

    unit: str
    case: str = ""
    gpus: int
    nodes: int | None = None
    inside: float | None = None
    across: float | None = None
    smallest: int | None = None
    overall: float | None = None


class Advertised(Fact, frozen=True, kw_only=True):
    """An address that a rank told the others to use (derived, `ncdiag.facts.vocabulary.addresses`).

    ``role``: ``bootstrap``, ``data`` (an entry of the socket transport's list), ``oob`` (the set-up socket of the IB
    transport) or ``peer`` (the address of another process that a message named). ``failed`` is True when a connection
    to it failed.
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
"""What NCCL chooses, as far as it is compared with a log."""


class ComparedChoice(Fact, frozen=True, kw_only=True):
    """A choice that a log shows beside what else is known leads to (derived, `ncdiag.knowledge.env.agreement`).

    ``choice`` names it for people, ``predicted`` and ``logged`` are the two answers; ``host`` and ``rank`` are the
    first to show it, ``nhosts`` counts the hosts that do.
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
    """Everything that is known.

    ``complete`` holds the names of Job collections that are closed (``ranks``, ``hosts``).
    """

    KEY = ()

    complete: Annotated[frozenset[str], UNION] = frozenset()
    hosts: Open[Host] = ()
    ranks: Open[Rank] = ()
    communicators: Open[Communicator] = ()
    collectives: Open[CollectiveSum] = ()
    settings: Open[Setting] = ()
    events: Open[Event] = ()
    launches: Open[Launch] = ()
    benchmarks: Open[Benchmark] = ()
    timeouts: Open[Timeout] = ()
    rank_tables: Open[RankTable] = ()
    flight_records: Open[FlightRecord] = ()
    topologies: Open[TopoSystem] = ()
    graph_dumps: Open[GraphDump] = ()
    ras_reports: Open[RasReport] = ()
    operation_profiles: Open[OperationProfile] = ()
    fabrics: Open[Fabric] = ()
    throughputs: Open[Throughput] = ()
    link_tests: Open[LinkTest] = ()
    stack_dumps: Open[StackDump] = ()
    script_faults: Annotated[tuple[ScriptFault, ...], READ] = ()
    complaints: Open[Complaint] = ()
    trials: Open[Trial] = ()
    contexts: Open[Context] = ()
    wishes: Open[Want] = ()
    told_rates: Open[ToldRate] = ()
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
