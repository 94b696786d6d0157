"""The facts: what is known of one job, its hosts, devices and ranks, whatever text or machine it came from.

Every field that is not a key is ``X | None`` and None means *unknown*, never "no". Collections are tuples; each says
what closes it (`ncdiag.facts.model.marks`), so that what is not in it is known to be absent.
Fields that can be computed from others are not here but in `ncdiag.facts.vocabulary` and `ncdiag.knowledge`; the
condition language reads both alike.
"""

from __future__ import annotations

from ncdiag.facts.model.base import Fact, GidType, HostName, InterfaceKind, Level, LinkLayer, Origin, PortState
from ncdiag.facts.model.cluster import CloudInstance, ClusterNode, SecurityGroup
from ncdiag.facts.model.declared import declared
from ncdiag.facts.model.fabric import Fabric, FabricLink, FabricNode
from ncdiag.facts.model.hardware import Gpu, Npu, PciDevice, TopoLink
from ncdiag.facts.model.job import Advertised, ComparedChoice, Conflict, Difference, Host, Job, Scaling
from ncdiag.facts.model.monitoring import (
    HealthCheck,
    OperationProfile,
    OperationSummary,
    RasComm,
    RasGroup,
    RasProblem,
    RasProcess,
    RasRank,
    RasReport,
    RasShare,
)
from ncdiag.facts.model.network import Address, Gid, Hca, Interface, Port, Route, RouteAnswer
from ncdiag.facts.model.processes import (
    FAILURES,
    CollectiveSum,
    Communicator,
    Event,
    GdrVerdict,
    GidUse,
    LastOp,
    NetDevice,
    Parameter,
    Rank,
    Setting,
)
from ncdiag.facts.model.records import (
    Benchmark,
    BenchmarkRow,
    Complaint,
    FlightEntry,
    FlightGroup,
    FlightRecord,
    Launch,
    LaunchHost,
    LinkTest,
    LinkTestRow,
    RankTable,
    RankTableDevice,
    Throughput,
    Timeout,
)
from ncdiag.facts.model.stacks import StackDump, StackFrame, StackThread
from ncdiag.facts.model.system import IdleState, KernelModule, Library, Limit, Mount, ProcessCpus, Service
from ncdiag.facts.model.topology import (
    GraphChannel,
    GraphDump,
    GraphPlan,
    TopoCpu,
    TopoGpu,
    TopoNet,
    TopoNic,
    TopoNvlink,
    TopoPci,
    TopoSystem,
)

__all__ = [
    "COLLECTION_KINDS",
    "FAILURES",
    "Address",
    "Advertised",
    "Benchmark",
    "BenchmarkRow",
    "CloudInstance",
    "ClusterNode",
    "CollectiveSum",
    "Communicator",
    "ComparedChoice",
    "Complaint",
    "Conflict",
    "Difference",
    "Event",
    "Fabric",
    "FabricLink",
    "FabricNode",
    "Fact",
    "FlightEntry",
    "FlightGroup",
    "FlightRecord",
    "GdrVerdict",
    "Gid",
    "GidType",
    "GidUse",
    "Gpu",
    "GraphChannel",
    "GraphDump",
    "GraphPlan",
    "Hca",
    "HealthCheck",
    "Host",
    "HostName",
    "IdleState",
    "Interface",
    "InterfaceKind",
    "Job",
    "KernelModule",
    "LastOp",
    "Launch",
    "LaunchHost",
    "Level",
    "Library",
    "Limit",
    "LinkLayer",
    "LinkTest",
    "LinkTestRow",
    "Mount",
    "NetDevice",
    "Npu",
    "OperationProfile",
    "OperationSummary",
    "Origin",
    "Parameter",
    "PciDevice",
    "Port",
    "PortState",
    "ProcessCpus",
    "Rank",
    "RankTable",
    "RankTableDevice",
    "RasComm",
    "RasGroup",
    "RasProblem",
    "RasProcess",
    "RasRank",
    "RasReport",
    "RasShare",
    "Route",
    "RouteAnswer",
    "Scaling",
    "SecurityGroup",
    "Service",
    "Setting",
    "StackDump",
    "StackFrame",
    "StackThread",
    "Throughput",
    "Timeout",
    "TopoCpu",
    "TopoGpu",
    "TopoLink",
    "TopoNet",
    "TopoNic",
    "TopoNvlink",
    "TopoPci",
    "TopoSystem",
]

COLLECTION_KINDS = {name: closing.kinds for name, closing in declared(Host).closings.items()}
"""The section kinds that close each collection of a host, once one of them was seen whole."""
