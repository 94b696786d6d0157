"""Output of monitoring tools: the RAS threads of NCCL, its inspector plugin, and tests such as DCGM's."""

from __future__ import annotations

from typing import Literal

import msgspec

from ncdiag.facts.model.base import Fact, HostName
from ncdiag.facts.scalars import VersionRange


class RasGroup(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row of the table of communicators of a RAS report: ``comms`` communicators of one size and state.

    ``errors`` holds INCOMPLETE, ERROR or MISMATCH; empty means OK.
    """

    number: int
    comms: int | None = None
    nodes_per_comm: int | None = None
    ranks_per_node_min: int | None = None
    ranks_per_node_max: int | None = None
    ranks_per_comm: int | None = None
    ranks: int | None = None
    status: str | None = None
    errors: tuple[str, ...] = ()


class RasProcess(msgspec.Struct, frozen=True, omit_defaults=True):
    """A process that did not answer (``missing``) or that RAS considers dead (``dead``); ``gpus`` are CUDA's numbers.

    ``node`` is the address at which RAS contacted it, which may differ from the host's name elsewhere.
    """

    pid: int
    node: str
    gpus: tuple[int, ...] = ()
    state: Literal["missing", "dead"] = "missing"


class RasRank(msgspec.Struct, frozen=True, omit_defaults=True):
    """A rank that a report lists by name."""

    rank: int
    gpu: int | None = None
    pid: int | None = None
    node: str | None = None


class RasShare(msgspec.Struct, frozen=True, omit_defaults=True):
    """The ranks of a communicator that have the same ``value``.

    The value is a status, an error, or for ``operation`` the last operation that they launched (0: none). ``count`` is
    the number of these ranks; ``ranks`` are those that the report lists, which it does for small groups only.
    """

    value: str
    count: int
    operation: int | None = None
    ranks: tuple[RasRank, ...] = ()


class RasProblem(msgspec.Struct, frozen=True, omit_defaults=True):
    """A problem of one communicator: ``label`` is RAS's ``group-number``, ``hash`` the communicator hash in NCCL's log.

    ``what`` is ``missing`` (ranks that sent nothing), ``status`` or ``operations`` (ranks differ), ``init`` or
    ``async`` (errors). ``collective`` (since 2.26) is the operation whose counts differ. ``behind`` are the listed
    ranks that launched fewer operations than others.
    """

    kind: Literal["INCOMPLETE", "ERROR", "MISMATCH"]
    what: Literal["missing", "status", "operations", "init", "async"] | None = None
    label: str | None = None
    hash: str | None = None
    collective: str | None = None
    missing_count: int | None = None
    shares: tuple[RasShare, ...] = ()
    behind: tuple[int, ...] | None = None


class RasComm(msgspec.Struct, frozen=True, omit_defaults=True):
    """A communicator of a RAS report in JSON: its size and the number of its ranks that answered."""

    hash: str
    size: int | None = None
    answered: int | None = None
    missing: int | None = None


class RasReport(Fact, frozen=True, kw_only=True):
    """A report of NCCL's RAS threads (ncclras, since 2.24): the state of all communicators of the job at one moment.

    Counts that differ are normal while the job makes progress; a communicator hangs only if the same difference is in a
    second report. ``timeouts`` are the timeouts during the collection of the data, ``seconds`` its duration.
    ``outlier_nodes`` run another number of processes than most nodes.
    """

    format: Literal["text", "json"] | None = None
    nccl_version: VersionRange | None = None
    cuda_runtime: int | None = None
    cuda_driver: int | None = None
    timestamp: str | None = None
    nnodes: int | None = None
    nprocesses: int | None = None
    ngpus: int | None = None
    outlier_nodes: tuple[str, ...] = ()
    seconds: float | None = None
    timeouts: int | None = None
    groups: tuple[RasGroup, ...] = ()
    communicators: tuple[RasComm, ...] = ()
    processes: tuple[RasProcess, ...] = ()
    problems: tuple[RasProblem, ...] = ()


class OperationSummary(msgspec.Struct, frozen=True, omit_defaults=True):
    """Measurements of the inspector for one operation with messages of ``size_min`` to ``size_max`` bytes.

    Times are in microseconds, bandwidths in GB/s (10^9 bytes). ``timings`` are the clocks used (``kernel_gpu``,
    ``kernel_cpu``, ``collective_cpu``). ``first`` and ``last`` are sequence numbers in the communicator.
    """

    operation: str
    size_min: int
    size_max: int
    count: int
    time_us: float
    time_us_min: float
    time_us_max: float
    bytes: int
    busbw_mean: float | None = None
    busbw_min: float | None = None
    busbw_max: float | None = None
    algbw_mean: float | None = None
    first: int | None = None
    last: int | None = None
    timings: tuple[str, ...] = ()


class OperationProfile(Fact, frozen=True, kw_only=True):
    """The output of NCCL's inspector plugin for one rank in one communicator, summed up (2.28 and later).

    Point-to-point operations appear under their own names (``Send``, ``Recv``).
    """

    host: HostName | None = None
    pid: int | None = None
    communicator: str | None = None
    name: str | None = None
    rank: int | None = None
    nranks: int | None = None
    nnodes: int | None = None
    format_version: str | None = None
    operations: tuple[OperationSummary, ...] = ()


class HealthCheck(Fact, frozen=True, kw_only=True):
    """The result of one test of ``dcgmi diag``, ``dcgmi health``, nvbandwidth or a CUDA sample.

    ``name`` is the test (``GPU Memory``) or the monitored component. ``gpus`` are the numbers of the GPUs concerned,
    empty for all of them; DCGM and CUDA number GPUs as nvidia-smi does where all GPUs are of one model and none is
    hidden. ``part`` names a component that is not a GPU (``NvSwitch 1``). ``message`` is the text that the program
    prints about it.
    """

    host: HostName
    program: str
    name: str
    result: Literal["pass", "skip", "warn", "fail"]
    gpus: tuple[int, ...] = ()
    part: str | None = None
    message: str | None = None
