"""Writes the log of a job of any size, host after host, with faults planted on hosts that the seed chooses.

As a program, in ``tests``: ``python -m generate.large RELEASE FABRIC NODES GPUS [FAULT...]``, for instance
``python -m generate.large 2.27.7 roce 16 8 veth gdr``.
"""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, cast, get_args

from generate import healthy

Fault = Literal["veth", "missing", "version", "gdr", "gid"]
FAULTS: tuple[Fault, ...] = get_args(Fault)
"""What can be planted, each on one host.

``veth``: its ranks announce a veth. ``missing``: one of its ranks prints nothing and no rank completes. ``version``:
another release runs there. ``gdr``: no GPUDirect RDMA. ``gid``: its transfers fail with link-local GIDs.
"""


_NEVER = re.compile(
    r"INFO (?:Channel |Trees |P2P Chunksize|Connected all|\d+ coll channels|Init timings|\[Service thread\])"
    r"|Init COMPLETE|Destroy COMPLETE"
)
"""What a rank prints only after all have met."""


@dataclass(frozen=True)
class Large:
    """A job with its faults: ``hosts`` tells the node on which each stands."""

    job: healthy.Job
    hosts: dict[Fault, int]

    @property
    def missing_rank(self) -> int | None:
        """The rank that prints nothing: the first of its host."""
        return self.hosts["missing"] * self.job.gpus if "missing" in self.hosts else None

    def name(self, fault: Fault) -> str:
        """The name of the host on which a fault stands."""
        return f"trn-{self.hosts[fault] + 11:02d}"


def large(
    release: str, fabric: healthy.Fabric, nodes: int, gpus: int = 8, channels: int = 2, faults: tuple[Fault, ...] = (),
    seed: int = 0,
) -> Large:  # fmt: skip
    """A job with faults on hosts of their own, the same for the same seed; rank 0's host stays sound."""
    chosen = random.Random(seed).sample(range(1, nodes), len(faults))
    return Large(
        healthy.Job(release, fabric, nodes=nodes, gpus=gpus, channels=channels), dict(zip(faults, chosen, strict=True))
    )


def lines(of: Large) -> Iterator[str]:
    """The log, host after host."""
    job = of.job
    other = healthy.RELEASES[healthy.RELEASES.index(job.release) - 1]
    for rank in range(job.nranks):
        node = rank // job.gpus
        here = {fault for fault, place in of.hosts.items() if place == node}
        if rank == of.missing_rank:
            continue
        kind = healthy.Job(other, job.fabric, job.nodes, job.gpus, job.channels) if "version" in here else job
        told: Iterator[str] = healthy.rank_lines(kind, rank)
        if "missing" in of.hosts:
            told = (line for line in told if not _NEVER.search(line))
        for fault in here & _PLANTED.keys():
            told = _PLANTED[fault](told, job)
        yield from told


def _veth(told: Iterator[str], _: healthy.Job) -> Iterator[str]:
    for line in told:
        if "NCCL INFO Bootstrap" in line:
            yield re.sub(r"bond0:[\d.]+<0>", "veth5a3f1c2:172.29.0.14<0>", line)
        else:
            yield line


def _without_gdr(told: Iterator[str], _: healthy.Job) -> Iterator[str]:
    for line in told:
        if "GPU Direct RDMA Enabled for HCA" in line:
            yield line.replace("Enabled", "Disabled")
        elif "GPU Direct RDMA Enabled" not in line:
            yield re.sub(r"/GDRDMA(?:\(PCI\))?", "", line).replace("PXN 0 GDR 1", "PXN 0 GDR 0")


def _wrong_gid(told: Iterator[str], job: healthy.Job) -> Iterator[str]:
    head = ""
    for line in told:
        head = line.partition("NCCL")[0]
        yield line
    where = "status=12 opcode=0 len=0" if job.version >= (2, 20) else "error 12, opcode 0, len 0,"
    gids = " localGid fe80::e42:a1ff:fe4a:7c21 remoteGidsfe80::e42:a1ff:fe4a:9d33" if job.version >= (2, 18) else ""
    colon, hca = (":", " hca mlx5_0") if job.version >= (2, 22) else (" :", "")
    kind = " (Recv)" if job.version >= (2, 18) else ""
    clock = "[2026-03-02 04:11:09] " if job.version >= (2, 26) else ""
    peer = " from peer 10.61.4.22<48211>" if job.version >= (2, 10) else ""
    text = f"NET/IB{colon} Got completion{peer} with {where} vendor err 129{kind}{gids}{hca}"
    yield f"{clock}{head}transport/net_ib.cc:1295 NCCL WARN {text}"


_PLANTED: dict[Fault, Callable[[Iterator[str], healthy.Job], Iterator[str]]] = {
    "veth": _veth, "gdr": _without_gdr, "gid": _wrong_gid,
}  # fmt: skip


def main(arguments: list[str]) -> None:
    """Command line: see the module's docstring."""
    release, network, nodes, gpus, *faults = arguments
    fabric = next(each for each in healthy.FABRICS if each == network)
    chosen = cast("tuple[Fault, ...]", tuple(fault for fault in FAULTS if fault in faults))
    for line in lines(large(release, fabric, int(nodes), int(gpus), faults=chosen)):
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
