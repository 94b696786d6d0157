"""What watchers say: the reports of NCCL's RAS threads, the inspector's measurements, the checks of DCGM."""

from __future__ import annotations

from typing import Literal

import msgspec

from ncdiag.facts.model.base import Fact, HostName
from ncdiag.facts.scalars import VersionRange


class RasGroup(msgspec.Struct, frozen=True, omit_defaults=True):
    """A row of the table of communicators: ``comms`` communicators of one size and state.

    ``errors`` empty means OK; the words are INCOMPLETE, ERROR and MISMATCH.
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
    """A process that did not answer (``missing``) or is given up (``dead``); ``gpus`` as CUDA numbers them.

    ``node`` is the address at which RAS reached it, which need not be a host's name elsewhere.
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
    """Ranks of a communicator that have the same ``value``.

    A status, an error, or in ``operation`` the last operation that they launched (0: none). ``count`` is how many they
    are, ``ranks`` those that the report lists: it lists small groups only.
    """

    value: str
    count: int
    operation: int | None = None
    ranks: tuple[RasRank, ...] = ()


class RasProblem(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is wrong with one communicator: ``label`` is RAS's ``group-number``, ``hash`` the one in NCCL's log.

    ``what``: ``missing`` (ranks that sent nothing), ``status`` and ``operations`` (ranks differ), ``init`` and
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
    """A communicator of a report in JSON: its size and how many of its ranks answered."""

    hash: str
    size: int | None = None
    answered: int | None = None
    missing: int | None = None


class RasReport(Fact, frozen=True, kw_only=True):
    """An answer of NCCL's RAS threads (ncclras, since 2.24): state of all communicators of the job at one moment.

    Counts that differ are normal while the job moves; only what stays apart in a second report is stuck. ``timeouts``
    are those met while the data was collected, ``seconds`` how long that took. ``outlier_nodes`` run another number of
    processes than most nodes do.
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
    """What the inspector measured of one operation in messages from ``size_min`` to ``size_max`` bytes.

    Times in microseconds, bandwidths in GB/s (10^9 bytes). ``timings`` are the clocks that were used (``kernel_gpu``,
    ``kernel_cpu``, ``collective_cpu``). ``first`` and ``last`` are sequence numbers of the communicator.
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
    """What NCCL's inspector plugin wrote of one rank in one communicator, summed up (2.28 and later).

    Point-to-point operations are under their own names (``Send``, ``Recv``).
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
    """A verdict of a test program: of ``dcgmi diag`` and ``dcgmi health``, of nvbandwidth or a CUDA sample.

    ``name`` is the test (``GPU Memory``) or the watched system. ``gpus`` are the numbers of the GPUs concerned (DCGM
    and CUDA count as nvidia-smi does where all GPUs are of one model and none is hidden); empty: it is of all of them.
    ``part`` names what is not a GPU (``NvSwitch 1``). ``message`` is what the program says about it.
    """

    host: HostName
    program: str
    name: str
    result: Literal["pass", "skip", "warn", "fail"]
    gpus: tuple[int, ...] = ()
    part: str | None = None
    message: str | None = None
