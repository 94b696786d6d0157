"""What people say in their own words; it counts less than the output of a tool, and nothing is inferred beyond it."""

from __future__ import annotations

from typing import Literal

from ncdiag.facts.model.base import Fact

Spell = Literal[
    "saving", "evaluating", "preparing", "compiling", "downloading", "loading", "generating", "pause", "limit",
    "idle-limit", "short-pause",
]  # fmt: skip
"""What a `Duration` is of: the work of one process while others wait, a pause, or a limit of time."""
Outcome = Literal["works", "fails", "other-error", "slower", "faster", "unchanged"]
"""The result of a change; ``unchanged`` means that it did not help."""

RELEASED = (
    "nccl", "driver", "cuda", "framework", "kernel", "firmware", "ofed", "rocm", "plugin", "mpi", "os", "image",
    "release",
)  # fmt: skip
"""What is counted by releases, in labels such as ``older-nccl``; ``release``: of something that is not named."""


class Trial(Fact, frozen=True, kw_only=True):
    """A change that a person made, and its result; ``text`` is the line that says so.

    ``change`` is a variable (``NCCL_P2P_DISABLE=1``, or its name alone) or a label: ``one-gpu``, ``no-firewall``,
    ``older-nccl``, or ``nccl-2.18`` where it is not known whether the other release is newer. ``fails`` is used only in
    contrast to a configuration that works. ``release``: of several that work, the one next to those that fail.
    """

    change: str
    outcome: Outcome
    release: str = ""
    told: bool = True
    text: str = ""


class RunLabel(Fact, frozen=True, kw_only=True):
    """A line in which a person names the run whose output follows: ``With NCCL 2.18.5:``, ``Bad node:``.

    ``conditions`` are its changes: ``nccl-2.18.5``, ``NCCL_ALGO=Ring``. ``well`` is what the line says of the outcome.
    """

    conditions: tuple[str, ...] = ()
    well: bool | None = None
    told: bool = True
    text: str = ""


class Context(Fact, frozen=True, kw_only=True):
    """What a person says about the environment of the job: ``value`` in lower case, ``8 gpus`` for a number.

    A ``state`` is a thing and what it is said to be: ``iommu-off``, ``nvlink-down``, ``peermem-loaded``. A ``feature``
    is one of NCCL that the job uses: ``cuda-graphs``, ``comm-split``. An ``outage`` is the number of seconds for which
    a link, a switch or a network was down. A ``release`` is one that the job runs: ``nccl 2.30.4``. ``ranks-a-host``
    are the numbers of two hosts (``7 8``), that of each (``8``), or ``uneven``; a ``function`` is one that somebody
    saw on a stack or calls, as it is written. ``plane-lost`` is how many planes of a network are lost, and of
    how many if the sentence says so: ``1 of 8``. A ``troubled-host`` is the host that the trouble follows, as it is
    written: ``node 7``. ``card-aside`` is an RDMA card for storage or management, ``card-idle`` one whose counters do
    not move while those of others grow. ``in_part``: a state of one host or of some, by the sentence that says so.
    """

    kind: Literal[
        "mesh", "cni", "operator", "cloud", "instance-type", "vm", "passthrough", "wsl", "gpu-model", "gpu-count",
        "host-count", "nvlink-bridge", "nvswitch", "driver-branch", "cuda-toolkit", "nccl-version", "framework",
        "framework-version", "launcher", "container", "orchestrator", "state", "machine", "slot", "network",
        "networks", "storage", "processor", "feature", "outage", "release", "rank-count", "ranks-a-host",
        "rdma-port-count", "function", "plane-lost", "planes", "cpu-count", "loader-count", "card-aside",
        "card-idle", "troubled-host",
    ]  # fmt: skip
    value: str
    in_part: bool = False
    told: bool = True
    text: str = ""


class Access(Fact, frozen=True, kw_only=True):
    """Whether a tool reached the GPUs or RDMA devices, as a person says it or a pasted command shows it.

    ``tool``: a ``-smi`` only queries the driver; ``cuda``, ``rocm`` and ``npu`` use the GPU; a ``program`` may use any.
    ``place`` is where it ran, or as whom; empty where nothing says it.
    """

    tool: Literal["nvidia-smi", "cuda", "rocm-smi", "rocm", "npu-smi", "npu", "rdma", "program"]
    place: Literal["host", "container", "job", "root", "user", ""]
    works: bool
    told: bool = True
    text: str = ""


class Want(Fact, frozen=True, kw_only=True):
    """What a person wants NCCL to do, as a label: ``use-sockets``, ``choose-interface``."""

    what: str
    told: bool = True
    text: str = ""


class ToldRate(Fact, frozen=True, kw_only=True):
    """A data rate between hosts that a person mentions: ``gbps`` in Gbit/s, for each of ``count`` links.

    ``of`` says what it is the rate of: the nominal rate of a ``link``, the rate that was ``expected``, or the rate
    reached by ``nccl``, by an RDMA test from host memory (``rdma-test``) or from GPU memory (``gpu-test``), by TCP with
    one stream (``tcp-stream``) or with several (``tcp``), or by the ``job`` where the person does not say by what.
    """

    of: Literal["link", "expected", "nccl", "rdma-test", "gpu-test", "tcp", "tcp-stream", "job"]
    gbps: float
    count: int = 1
    told: bool = True
    text: str = ""


class Duration(Fact, frozen=True, kw_only=True):
    """The shortest time that something took, in ``seconds``. ``told``: a person wrote it; else a log shows it.

    ``of``: work of one process while others may wait (``preparing`` of data), a ``pause`` without traffic, the
    ``limit`` after which a collective was given up, or the ``idle-limit`` of a firewall, a NAT or a load balancer
    (as a person says, or the default of a product that is named). The job works if each pause is shorter than a
    ``short-pause``.
    ``rank`` is the process whose log shows it. ``begun`` and ``ended`` are its moments by the stamps of the log, in
    seconds since the epoch: in 1972 where the stamp has no year, within the first day where it has no date. ``ended``
    is None where nothing shows the end, ``seconds`` where only the beginning is shown.
    """

    of: Spell
    seconds: float | None = None
    begun: float | None = None
    ended: float | None = None
    rank: int | None = None
    told: bool = True
    text: str = ""
