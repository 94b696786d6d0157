"""The facts: what is known of one job, its hosts, devices and ranks, whatever text or machine it came from.

Every field that is not a key is ``X | None`` and None means *unknown*, never "no". Collections are tuples; whether
one is complete is told by ``Host.complete`` and ``Job.complete`` (`COLLECTION_KINDS` maps fields to section kinds).
Fields that can be computed from others are not here but in `ncdiag.facts.derive`; the condition language reads both
alike.
"""

from __future__ import annotations

from ncdiag.facts.model.base import Fact, GidType, HostName, InterfaceKind, Level, LinkLayer, Origin, PortState
from ncdiag.facts.model.fabric import Fabric, FabricLink, FabricNode
from ncdiag.facts.model.hardware import Gpu, PciDevice, TopoLink
from ncdiag.facts.model.job import COLLECTION_KINDS, Advertised, Conflict, Difference, Host, Job, Scaling
from ncdiag.facts.model.monitoring import (
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
from ncdiag.facts.model.network import Address, Gid, Hca, Interface, Port, Route
from ncdiag.facts.model.processes import (
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
    FlightEntry,
    FlightGroup,
    FlightRecord,
    Launch,
    LaunchHost,
    RankTable,
    RankTableDevice,
    Throughput,
    Timeout,
)
from ncdiag.facts.model.system import KernelModule, Library, Limit, Mount, Service
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
    "Address",
    "Advertised",
    "Benchmark",
    "BenchmarkRow",
    "CollectiveSum",
    "Communicator",
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
    "Host",
    "HostName",
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
    "Mount",
    "NetDevice",
    "OperationProfile",
    "OperationSummary",
    "Origin",
    "Parameter",
    "PciDevice",
    "Port",
    "PortState",
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
    "Scaling",
    "Service",
    "Setting",
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
