"""Logs of ranks that connect, written from the formats of three releases: who is joined with whom is known.

Four ranks on two hosts make the job's communicator; the two of each host make one of their own. The ring of the first
is 0 1 3 2, so that the hosts are joined by 1 to 3 and by 2 to 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

Form = Literal["2.10", "2.18", "2.27"]
FORMS: tuple[Form, ...] = ("2.10", "2.18", "2.27")
RING = (0, 1, 3, 2)
CHANNELS = 2
BUSES = ("1b000", "3e000")
HOSTS = ("wr01", "wr02")
NET = "NET/IB/GDRDMA"


def name(form: Form, rank: int, gpu: int) -> str:
    """``0[1b000]``: the bus id up to 2.18.1, then NVML's number."""
    return f"{rank}[{BUSES[gpu] if form == '2.10' else gpu}]"


def connections(form: Form, order: tuple[int, ...], place: int, gpus: dict[int, int], net: set[int]) -> Iterator[str]:
    """What the rank at this place of the ring prints; ``net``: the ranks that send over the network."""
    rank, before, after = order[place], order[place - 1], order[(place + 1) % len(order)]
    gdr = "/GDRDMA(PCI)/Shared" if form == "2.27" else "/GDRDMA"
    for channel in range(CHANNELS):
        index = f"{channel:02d}" if form == "2.10" else f"{channel:02d}/0"
        if before in net:
            pair = f"{name(form, before, gpus[before])} -> {name(form, rank, gpus[rank])}"
            yield f"Channel {index} : {pair} [receive] via NET/IB/{gpus[rank]}{gdr}"
        pair = f"Channel {index} : {name(form, rank, gpus[rank])} -> {name(form, after, gpus[after])}"
        if rank in net:
            yield f"{pair} [send] via NET/IB/{gpus[rank]}{gdr}"
        else:
            yield f"{pair} via P2P/{'CUMEM' if form == '2.27' else 'IPC'}"


def set_up(
    form: Form, order: tuple[int, ...], place: int, gpus: dict[int, int], net: set[int], group: int = 0
) -> Iterator[str]:
    """All that a rank prints of one communicator: the number of the thread, a tab, the line.

    ``group`` tells the communicators of one size apart.
    """
    number = 1 if len(order) == len(RING) else 2
    rank, nranks = order[place], len(order)
    bus, comm = BUSES[gpus[rank]], f"0xc0de{nranks}{group}"
    pointer = f"0x55d0{number}0"
    word = {"2.10": "", "2.18": "", "2.27": "ncclCommInitRankConfig "}[form]
    id_ = "" if form == "2.10" else f" commId {comm}"
    device = f"cudaDev {gpus[rank]} " + ("" if form == "2.10" else f"nvmlDev {gpus[rank]} ")
    init = f"{word}comm {pointer} rank {rank} nranks {nranks} {device}busId {bus}{id_} - Init"
    orders = [f"Channel {c:02d}/{CHANNELS:02d} : " + " ".join(f"{r:3d}" for r in order) for c in range(CHANNELS)]
    lines = [f"{init} START"] if form != "2.10" else []
    lines += orders if rank == order[0] else []
    linked = list(connections(form, order, place, gpus, net))
    if form != "2.27":
        yield from (f"{number}\t{line}" for line in (*lines, *linked, f"{init} COMPLETE"))
    else:  # ranks connect at the first collective, in another thread
        timings = f"Init timings - ncclCommInitRankConfig: rank {rank} nranks {nranks} total 0.41"
        yield from (f"{number}\t{line}" for line in (*lines, f"{init} COMPLETE", timings))
        yield from (f"{number + 5}\t{line}" for line in linked)


def of_rank(form: Form, rank: int) -> list[str]:
    """The lines of one rank of the job: its two communicators, one after the other."""
    host, gpu = divmod(rank, 2)
    pid = 7000 + rank
    told = [*set_up(form, RING, RING.index(rank), {0: 0, 1: 1, 2: 0, 3: 1}, {1, 2})]
    told += set_up(form, (0, 1), gpu, {0: 0, 1: 1}, set(), host)
    release = {"2.10": "2.10.3+cuda11.4", "2.18": "2.18.3+cuda12.2", "2.27": "2.27.7+cuda12.9"}[form]
    begin = [f"NCCL version {release}"] if rank == 0 else []
    return begin + [
        f"{HOSTS[host]}:{pid}:{pid if form == '2.10' else pid + 100 * int(thread)} [{gpu}] NCCL INFO {line}"
        for thread, _, line in (each.partition("\t") for each in told)
    ]


def log(form: Form) -> list[str]:
    """All ranks, their lines in turn, as they come over a pipe."""
    ranks = [of_rank(form, rank) for rank in range(4)]
    return [line for each in range(max(map(len, ranks))) for lines in ranks for line in lines[each : each + 1]]
