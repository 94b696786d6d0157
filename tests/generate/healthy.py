"""Writes logs of jobs that are well, in the dialect of each release: for the healthy shelf, tests and bench.

Names, addresses and numbers are invented; the forms are those of the format strings at the release tags of NVIDIA/nccl.
As a program: ``python tests/generate/healthy.py info PATH MEGABYTES CHANNEL_SHARE`` or ``... healthy RELEASE FABRIC``.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

Fabric = Literal["ib", "roce", "socket", "single", "efa"]
FABRICS: tuple[Fabric, ...] = get_args(Fabric)
RELEASES = ("2.8.4", "2.12.12", "2.18.3", "2.21.5", "2.24.3", "2.27.7", "2.29.3")
CUDA = {"2.8": "11.2", "2.12": "11.6", "2.18": "12.1", "2.21": "12.4", "2.24": "12.8", "2.27": "12.9", "2.29": "13.0"}
BUSES = ("1b000", "3a000", "5d000", "9c000", "b4000", "c1000", "d8000", "e2000")


@dataclass(frozen=True)
class Job:
    """A job: its release, network and size; ``calls`` of each rank are in the trace of the collectives."""

    release: str
    fabric: Fabric
    nodes: int = 2
    gpus: int = 4
    channels: int = 4
    net_lines: bool = True
    calls: int = 0

    @property
    def version(self) -> tuple[int, int]:
        """Major and minor."""
        major, minor, _ = self.release.split(".")
        return int(major), int(minor)

    @property
    def nranks(self) -> int:
        """Ranks of the job."""
        return self.nodes * self.gpus

    @property
    def printed(self) -> str:
        """The version as the library prints it."""
        return f"{self.release}+cuda{CUDA[self.release.rsplit('.', 1)[0]]}"


def healthy_job(release: str, fabric: Fabric) -> Job:
    """The job of the shelf for a release and a network."""
    return Job(release, fabric, nodes=1 if fabric == "single" else 2)


def healthy_log(job: Job, seed: int = 0) -> str:
    """The log of all ranks of ``job``, interleaved as they would be on one console."""
    chance = random.Random(seed)
    queues = [list(rank_lines(job, rank)) for rank in range(job.nranks)]
    lines = []
    while waiting := [queue for queue in queues if queue]:
        queue = chance.choice(waiting)
        size = chance.randint(1, 4)
        lines += queue[:size]
        del queue[:size]
    return "\n".join(lines) + "\n"


def rank_lines(job: Job, rank: int) -> Iterator[str]:
    """What one rank prints, from the first line to the last."""
    node, local = divmod(rank, job.gpus)
    host, pid = f"trn-{node + 11:02d}", 51000 + 40 * node + local
    main, worker = f"{host}:{pid}:{pid} [{local}] NCCL INFO ", f"{host}:{pid}:{pid + 300} [{local}] NCCL INFO "
    number = 4 * 256 + 21 + node
    address = f"10.61.{number >> 8}.{number & 255}"
    yield from (main + text for text in _opening(job, address))
    yield from _version_lines(job, rank, main)
    yield from (worker + text for text in _network(job, address, local))
    yield from (worker + text for text in _communicator(job, rank, local))
    yield from (main + _call(job, rank, number) for number in range(job.calls))


def _opening(job: Job, address: str) -> Iterator[str]:
    v = job.version
    if v >= (2, 16):
        yield "NCCL_SOCKET_IFNAME set by environment to bond0"
    yield f"Bootstrap{' ' if v < (2, 24) else ''}: Using bond0:{address}<0>"
    if v >= (2, 13):
        yield "cudaDriverVersion 12080"
    if job.fabric == "efa":
        return
    missing = "libnccl-net.so: cannot open shared object file: No such file or directory"
    if v < (2, 17):
        yield "NET/Plugin : No plugin found (libnccl-net.so), using internal implementation"
    elif v < (2, 19):
        yield f"NET/Plugin : Plugin load (libnccl-net.so) returned 2 : {missing}"
        yield "NET/Plugin : No plugin found, using internal implementation"
    elif v < (2, 22):
        yield "NET/Plugin: No plugin found (libnccl-net.so)"
        yield f"NET/Plugin: Plugin load returned 2 : {missing} : when loading libnccl-net.so"
        yield "NET/Plugin: Using internal network plugin."
    elif v < (2, 26):
        yield "NET/Plugin: Could not find: libnccl-net.so. Using internal network plugin."
    else:
        yield "NET/Plugin: Could not find: libnccl-net.so"
        yield "TUNER/Plugin: Could not find: libnccl-tuner.so"
        yield "PROFILER/Plugin: Could not find: libnccl-profiler.so"


def _version_lines(job: Job, rank: int, main: str) -> Iterator[str]:
    if job.version < (2, 22):
        if rank == 0:
            yield f"NCCL version {job.printed}"
        return
    yield f"{main}NCCL version {job.printed}"
    if job.version >= (2, 29):
        yield f"{main}NCCL git version v{job.release}-1 4f1e2a9"


def _network(job: Job, address: str, local: int) -> Iterator[str]:
    v = job.version
    if job.fabric in {"ib", "roce"}:
        layer = "IB" if job.fabric == "ib" else "RoCE"
        listed = " ".join(f"[{n}]mlx5_{n}:1/{layer}" for n in range(job.gpus))
        yield f"NET/IB : Using {listed} {'[RO]' if v >= (2, 12) else ''}; OOB bond0:{address}<0>"
        name = "IB"
    elif job.fabric == "efa":
        yield "NET/OFI Initializing aws-ofi-nccl 1.13.2-aws"
        yield "NET/OFI Using Libfabric version 1.22"
        yield f"NET/OFI Selected provider is efa, fabric is efa (found {job.gpus} nics)"
        if v >= (2, 13):
            yield f"NET/Plugin: Loaded net plugin AWS Libfabric (v{min(v[1] // 3, 9) if v >= (2, 19) else 5})"
        name = "AWS Libfabric"
    else:
        yield "NET/IB : No device found."
        yield f"NET/Socket : Using [0]bond0:{address}<0>"
        name = "Socket"
    if v >= (2, 27):
        yield f"Initialized NET plugin {name}"
        yield f"Assigned NET plugin {name} to comm"
    yield f"Using network {name}"
    if v >= (2, 13) and job.fabric != "socket":
        yield f"DMA-BUF is available on GPU device {local}"
    if job.net_lines and job.fabric in {"ib", "roce"}:
        yield from _gdr(job, local)


def _gdr(job: Job, local: int) -> Iterator[str]:
    v, bus = job.version, BUSES[local]
    limit = 4 if v < (2, 26) else 5 if v < (2, 29) else 6  # PXB, PXB behind C2C, P2C
    for nic in range(job.gpus):
        if v >= (2, 13):
            yield f"NET/IB : GPU Direct RDMA Enabled for HCA {nic} 'mlx5_{nic}'"
    if v < (2, 21):
        yield f"GPU Direct RDMA Enabled for GPU {bus} / HCA {local} (distance 4 <= {limit}), read 1"
    elif v < (2, 24):
        yield f"GPU Direct RDMA Enabled for GPU {bus} / HCA {local:x} (distance 4 <= {limit}), read 1"
    elif v < (2, 29):
        mode = " mode Default" if v >= (2, 26) else ""
        yield f"GPU Direct RDMA Enabled for GPU {local} / HCA {local:x} (distance 4 <= {limit}), read 1{mode}"
    else:
        pair = f"GPU/0-{bus} (rank {local}) - NET/0-{local}"
        yield f"GPU Direct RDMA Enabled for {pair} (distance 4 <= {limit}, read 1, mode Default)"


def _communicator(job: Job, rank: int, local: int) -> Iterator[str]:
    v, life = job.version, _life(job, rank, local)
    if v >= (2, 18):
        yield f"{'[Rank ' + str(rank) + '] ' if v >= (2, 29) else ''}{life} - Init START"
    yield "Setting affinity for GPU 0 to ffffffff,ffffffff"
    if v >= (2, 20):
        node, pointer = divmod(rank, job.gpus)[0], _pointer(rank)
        yield (
            f"comm {pointer} rank {rank} nRanks {job.nranks} nNodes {job.nodes} localRanks {job.gpus} "
            f"localRank {rank - node * job.gpus} MNNVL 0"
        )
    if rank == 0:
        order = "".join(f" {n:3d}" for n in range(job.nranks))
        yield from (f"Channel {n:02d}/{job.channels:02d} :{order}" for n in range(job.channels))
    below = rank + 1 if local + 1 < job.gpus else -1
    trees = " ".join(f"[{n}] {below}/-1/-1->{rank}->{rank - 1 if local else -1}" for n in range(job.channels))
    yield f"Trees {trees}"
    if v >= (2, 17):
        yield "P2P Chunksize set to 131072"
    if v < (2, 22):
        yield from _connections(job, rank, local)
    yield _channel_counts(job)
    yield f"{life} - Init COMPLETE"
    if v >= (2, 22):
        alloc = "alloc 0.10, " if v >= (2, 23) else ""
        name = " - ncclCommInitRankConfig" if v >= (2, 23) else ""
        yield (
            f"Init timings{name}: rank {rank} nranks {job.nranks} total 1.08 (kernels 0.51, {alloc}bootstrap 0.12, "
            "allgathers 0.01, topo 0.28, graphs 0.04, connections 0.02, rest 0.00)"
        )
        yield from _connections(job, rank, local)
    if v >= (2, 12):
        yield f"[Service thread] Connection closed by localRank {local}"
        device = f"cudaDev {local} busId {BUSES[local]}"
        yield f"comm {_pointer(rank)} rank {rank} nranks {job.nranks} {device} - Destroy COMPLETE"


def _life(job: Job, rank: int, local: int) -> str:
    v = job.version
    api = "" if v < (2, 21) else "ncclCommInitRank " if v < (2, 23) else "ncclCommInitRankConfig "
    nvml = f" nvmlDev {local}" if v >= (2, 18) else ""
    comm = " commId 0x7c31d09be25f4a16" if v >= (2, 16) else ""
    return (
        f"{api}comm {_pointer(rank)} rank {rank} nranks {job.nranks} cudaDev {local}{nvml} busId {BUSES[local]}{comm}"
    )


def _pointer(rank: int) -> str:
    return f"0x55d0{rank * 4096 + 0x8A1000:x}"


def _channel_counts(job: Job) -> str:
    v, n = job.version, job.channels
    if v < (2, 17):
        return f"{n} coll channels, {2 * n} p2p channels, 2 p2p channels per peer"
    nvls = "0 nvls channels, "
    collnet = "0 collnet channels, " if v >= (2, 20) else ""
    return f"{n} coll channels, {collnet}{nvls}{2 * n} p2p channels, 2 p2p channels per peer"


def _connections(job: Job, rank: int, local: int) -> Iterator[str]:
    for number in range(job.channels):
        yield from _channel(job, rank, local, number)
    gdr = int(job.fabric in {"ib", "roce", "efa"})
    yield "Connected all rings" + (f", use ring PXN 0 GDR {gdr}" if job.version >= (2, 24) else "")
    yield "Connected all trees"


def _channel(job: Job, rank: int, local: int, number: int) -> Iterator[str]:
    v = job.version

    def named(other: int) -> str:
        device = other % job.gpus
        return f"{other}[{device if v >= (2, 18) else BUSES[device]}]"

    after, before = (rank + 1) % job.nranks, (rank - 1) % job.nranks
    net = {"ib": "IB", "roce": "IB", "efa": "AWS Libfabric"}.get(job.fabric, "Socket")
    gdr = "/GDRDMA" if net != "Socket" else ""
    gdr += "(PCI)" if gdr and v >= (2, 27) else ""
    nic = number % job.gpus if net != "Socket" else 0
    net_index = f"{number:02d}" + ("/0" if v >= (2, 12) else "")
    p2p_index = f"{number:02d}" + ("/0" if v >= (2, 14) else "")
    if job.nodes > 1 and local == 0:
        yield f"Channel {net_index} : {named(before)} -> {named(rank)} [receive] via NET/{net}/{nic}{gdr}"
    if job.nodes > 1 and local == job.gpus - 1:
        yield f"Channel {net_index} : {named(rank)} -> {named(after)} [send] via NET/{net}/{nic}{gdr}"
    else:
        yield f"Channel {p2p_index} : {named(rank)} -> {named(after)} via P2P/{'CUMEM' if v >= (2, 24) else 'IPC'}"


NOISE = (
    "Trees [0] 1/-1/-1->0->-1 [1] 1/-1/-1->0->-1 [2] 1/-1/-1->0->-1 [3] 1/-1/-1->0->-1",
    "P2P Chunksize set to 131072",
    "Setting affinity for GPU 0 to ffffffff,ffffffff",
    "threadThresholds 8/8/64 | 1024/8/64 | 512 | 512",
    "Connected all trees",
    "CUMEM allocated shareable buffer 0x7f3a4000 size 2097152 ipcDesc 0x7f3a",
)


FUNCTIONS = ("AllReduce", "AllGather", "ReduceScatter", "Broadcast")


def write_info_log(
    path: Path, megabytes: float, channel_share: float, seed: int = 0, call_share: float = 0.0, nodes: int = 16
) -> None:
    """Write an INFO log of 8 ranks a node; 10^6 bytes are a megabyte.

    ``channel_share`` of its lines (0 to 1) are channel lines, ``call_share`` those of the collective trace.
    """
    chance, wanted = random.Random(seed).random, int(megabytes * 1e6)
    job = Job("2.27.7", "ib", nodes=nodes, gpus=8)
    ranks = [_Bulk(job, rank) for rank in range(job.nranks)]

    def line() -> str:
        kind, bulk = chance(), ranks[int(chance() * len(ranks))]
        if kind < channel_share:
            return bulk.links[int(chance() * len(bulk.links))]
        if kind < channel_share + call_share:
            return bulk.call()
        return bulk.noise[int(chance() * len(bulk.noise))]

    with path.open("w", encoding="ascii") as out:
        written = out.write(healthy_log(Job("2.27.7", "ib", nodes=nodes, gpus=8, channels=2), seed))
        while written < wanted:
            written += out.write("".join([line() for _ in range(2000)]))


class _Bulk:
    """The lines of which a rank prints many."""

    def __init__(self, job: Job, rank: int) -> None:
        node, local = divmod(rank, job.gpus)
        pid = 51000 + 40 * node + local
        self.job, self.rank, self.calls = job, rank, 0
        self.before = f"trn-{node + 11:02d}:{pid}:{pid + 300} [{local}] NCCL INFO "
        links = (text for number in range(32) for text in _channel(job, rank, local, number))
        self.links = [f"{self.before}{text}\n" for text in links]
        self.noise = [f"{self.before}{text}\n" for text in NOISE]

    def call(self) -> str:
        """The next collective call."""
        self.calls += 1
        return f"{self.before}{_call(self.job, self.rank, self.calls)}\n"


def _call(job: Job, rank: int, number: int) -> str:
    """A collective as the trace tells it; all ranks call the same one with the same number."""
    function, count = FUNCTIONS[number % len(FUNCTIONS)], 1 << 10 + number % 13
    return (
        f"{function}: opCount {number:x} sendbuff 0x7f40{number * 512:08x} recvbuff 0x7f50{number * 512:08x} "
        f"count {count} datatype {7 if number % 3 else 9} op 0 root 0 comm {_pointer(rank)} [nranks={job.nranks}] "
        "stream 0x55d0f0a0"
    )


def main(arguments: list[str]) -> None:
    """Command line: see the module's docstring."""
    what, *rest = arguments
    if what == "info":
        write_info_log(Path(rest[0]), float(rest[1]), float(rest[2]))
    else:
        sys.stdout.write(healthy_log(healthy_job(rest[0], next(f for f in FABRICS if f == rest[1]))))


if __name__ == "__main__":
    main(sys.argv[1:])
