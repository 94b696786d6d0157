"""What people say in their own words: weaker than what a tool printed, and never more than what they say."""

from __future__ import annotations

from typing import Literal

from ncdiag.facts.model.base import Fact

Outcome = Literal["works", "fails", "other-error", "slower", "faster", "unchanged"]
"""What came of a change; ``unchanged``: it did not help."""


class Trial(Fact, frozen=True, kw_only=True):
    """What a person changed and what came of it; ``text`` is the line that tells it.

    ``change`` is a variable (``NCCL_P2P_DISABLE=1``, or its name alone) or a label: ``one-gpu``, ``no-firewall``,
    ``older-nccl``, or ``nccl-2.18`` where nothing tells whether the other side is newer.
    Something ``fails`` only beside something that works.
    """

    change: str
    outcome: Outcome
    told: bool = True
    text: str = ""


class Context(Fact, frozen=True, kw_only=True):
    """What a person says about the environment of the job: ``value`` in lower case, ``8 gpus`` for a number."""

    kind: Literal[
        "mesh", "cni", "operator", "cloud", "instance-type", "vm", "passthrough", "wsl", "gpu-model", "gpu-count",
        "host-count", "nvlink-bridge", "nvswitch", "driver-branch", "cuda-toolkit", "nccl-version", "framework",
        "framework-version", "launcher", "container", "orchestrator",
    ]  # fmt: skip
    value: str
    told: bool = True
    text: str = ""


class Want(Fact, frozen=True, kw_only=True):
    """What a person wants NCCL to do, as a label: ``use-sockets``, ``choose-interface``."""

    what: str
    told: bool = True
    text: str = ""


class ToldRate(Fact, frozen=True, kw_only=True):
    """A rate between hosts that a person tells: ``gbps`` in Gbit/s, of each of ``count`` links.

    ``of``: what a ``link`` is said to carry, what was ``expected``, or what was reached by ``nccl``, by an RDMA test
    from host memory (``rdma-test``) or from that of a GPU (``gpu-test``), by TCP with one stream (``tcp-stream``) or
    with several (``tcp``), and ``job`` where nobody says by what.
    """

    of: Literal["link", "expected", "nccl", "rdma-test", "gpu-test", "tcp", "tcp-stream", "job"]
    gbps: float
    count: int = 1
    told: bool = True
    text: str = ""
