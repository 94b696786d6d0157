"""What ran: settings, events, ranks and communicators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from ncdiag.facts.model.base import Fact, HostName, Level, Origin
from ncdiag.facts.model.marks import (
    BY_NAME,
    COUNTS,
    FACE,
    GREATEST,
    IF_UNSET,
    LEAST,
    OF_HOST,
    SUM,
    UNION,
    WHOLE,
    Merge,
    furthest,
)
from ncdiag.facts.model.network import Interface
from ncdiag.facts.scalars import VersionRange


class Setting(Fact, frozen=True, kw_only=True):
    """One variable (NCCL_*, and those of frameworks and launchers) as one source gave it.

    ``text`` is the value as written, ``number`` the result of NCCL's strtoll for integer parameters, ``effective`` the
    value in force (the default when known to be unset). ``is_set`` is None when the sources do not show it. ``file`` is
    the configuration file that sets it, where its path is known. ``launched`` is the value that a launch line gives to
    the processes of all hosts; two launch lines with different values count as two launches.
    """

    KEY = ("name", "pid", "origin", "file", "launched")
    SHOWS_A_RUN = True

    name: str
    host: HostName | None = None
    rank: Annotated[int | None, FACE] = None
    pid: Annotated[int | None, FACE] = None
    is_set: bool | None = None
    text: Annotated[str | None, IF_UNSET] = None
    number: Annotated[int | None, IF_UNSET] = None
    effective: int | str | None = None
    default: int | str | None = None
    valid: bool | None = None
    origin: Origin | None = None
    file: str | None = None
    launched: str | None = None


class Parameter(msgspec.Struct, frozen=True, omit_defaults=True):
    """A parameter in the registry of an NCCL library (2.31 and later), with the ``value`` in force; None: unset.

    ``set_by``: ``Default``, or the source that gave it (``EnvPlugin`` reads environment and configuration files).
    """

    name: str
    value: str | None = None
    set_by: str | None = None
    default: str | None = None


FAILURES = frozenset({"cause", "symptom", "echo"})
"""The kinds of events that report a failure."""


class Event(Fact, frozen=True, kw_only=True):
    """A message of a program, recognised by `ncdiag.messages`; ``fields`` holds the typed placeholders of its template.

    ``time`` is in seconds since the epoch, where the line has a date. ``order`` is the position in the input (source,
    then line). ``count`` is how often the same text came from the same rank.
    """

    HOST = "only"
    SHOWS_A_RUN = True

    event: str
    origin: str
    level: Level | None = None
    kind: Literal["cause", "echo", "harmless", "fact", "symptom"] | None = None
    text: str = ""
    time: Annotated[float | None, FACE] = None
    order: Annotated[int, FACE] = 0
    rank: Annotated[int | None, FACE] = None
    host: HostName | None = None
    pid: Annotated[int | None, FACE] = None
    peer: Annotated[str | None, FACE] = None
    file: str | None = None
    line: int | None = None
    count: int = 1
    fields: dict[str, int | float | str | None] = {}


class NetDevice(Fact, frozen=True, kw_only=True):
    """An RDMA device as NCCL lists it.

    ``index`` is NCCL's NIC number. ``name`` joins merged ports with ``+``.
    """

    index: int
    name: str
    port: int | None = None
    link_layer: Literal["IB", "RoCE"] | None = None
    sharp: bool | None = None


class GidUse(Fact, frozen=True, kw_only=True):
    """A GID that a rank used according to a log; ``index`` is None when only the address was printed."""

    hca: str | None = None
    port: int | None = None
    index: int | None = None
    local_gid: Annotated[str | None, FACE] = None
    remote_gid: Annotated[str | None, FACE] = None


class GdrVerdict(Fact, frozen=True, kw_only=True):
    """What NCCL printed about GPUDirect RDMA for a NIC (``gpu`` None), or for a GPU and NIC with the distance test.

    ``distance`` and ``limit`` are numbers of path types, which differ between releases. ``limit`` is the largest
    distance that is accepted: up to 2.5 one less than the printed level (``distance 1 < 2``).
    """

    hca: str
    enabled: bool
    gpu: str | None = None
    distance: int | None = None
    limit: int | None = None
    reason: str | None = None


class LastOp(Fact, frozen=True, kw_only=True):
    """The last collective that a rank called on one communicator, from the trace of NCCL_DEBUG_SUBSYS=COLL.

    ``op_count`` counts the calls of the communicator (up to about 2.21: of the process); ``count`` is in elements.
    """

    function: str
    op_count: int
    communicator: str | None = None
    nranks: int | None = None
    count: int | None = None
    datatype: str | None = None


class Connection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A connection between two ranks, as one of them printed it; data flow from ``source`` to ``target``.

    ``source`` and ``target`` are rank numbers in the communicator, whose id is None where no line shows it; ``nranks``
    is its size. ``transport`` has the values of `Rank.transports`. ``nic`` is NCCL's number of the NIC on the side of
    the printing rank; ``way`` says, for a network connection, whether that side sends or receives. ``lines`` is the
    number of Channel lines: one for each channel that uses the connection.
    """

    communicator: str | None = None
    nranks: int | None = None
    source: int
    target: int
    transport: str
    way: Literal["send", "receive"] | None = None
    nic: int | None = None
    lines: int = 1


class RingOrder(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The order in which a ring visits the ranks of a communicator, as its rank 0 printed it.

    ``channel`` is the first channel with this order, ``lines`` the number of lines that print it, ``channels`` the
    total number of channels.
    """

    communicator: str | None = None
    nranks: int | None = None
    channel: int
    channels: int | None = None
    lines: int = 1
    order: tuple[int, ...]


class RingPlace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The neighbours of a rank in a ring, as the rank printed them (``Ring 00 : 7 -> 0 -> 1``).

    ``lines`` is the number of channels with the same neighbours.
    """

    communicator: str | None = None
    nranks: int | None = None
    before: int
    rank: int
    after: int
    lines: int = 1


def _connected(held: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The connections of both lists; equal ones become one, and their ``lines`` are added."""
    found: dict[frozenset[tuple[str, Any]], dict[str, Any]] = {}
    for one in (*held, *new):
        place = frozenset(item for item in one.items() if item[0] != "lines")
        lines = found[place].get("lines", 1) if place in found else 0
        found[place] = {**one, "lines": lines + one.get("lines", 1)}
    return list(found.values())


CONNECTED = Merge(_connected)


def _further(held: Calls, new: Calls) -> Calls:
    return max(
        held, new, key=lambda calls: (sorted((call.get("op_count", 0) for call in calls), reverse=True), str(calls))
    )


Calls = Sequence[Mapping[str, Any]]
FURTHER_CALLS = Merge(_further, picks=True)
"""The last calls of a rank from two sources: the reading with the greater call numbers wins."""


class CollectiveSum(Fact, frozen=True, kw_only=True):
    """The calls of one function on one datatype in one communicator, added up over all ranks seen.

    ``communicator`` is None where no Init line shows its id; then all communicators with equal ``nranks`` are added
    together. ``bytes`` is the sum of count times the size of the datatype. ``sizes`` maps a power of two to the number
    of calls with at least that number of bytes and less than twice as many.
    """

    KEY = ("communicator", "nranks", "function", "datatype")

    communicator: str | None = None
    nranks: int | None = None
    function: str
    datatype: str
    calls: Annotated[int | None, SUM] = None
    bytes: Annotated[int | None, SUM] = None
    sizes: Annotated[dict[str, int], COUNTS] = {}


class Rank(Fact, frozen=True, kw_only=True):
    """One rank of the job: a process, or a thread that drives one GPU.

    ``rank`` is None for a process whose rank number no line shows. ``state`` is started, ready, failed or silent.
    ``line_tag`` is the prefix that a launcher or log collector put before its lines (``[1,3]<stdout>:``), without
    times.

    ``transports`` counts connections by transport (``P2P/IPC``, ``NET/IB``, ``NET/IB/GDRDMA``, ``SHM``); ``net_ways``
    counts those over the network by direction (``send``, ``receive``, each also with ``/GDRDMA``). ``nics_used`` are
    NCCL's numbers of the NICs in its Channel lines. ``relaxed_ordering`` is the ``[RO]`` in its device list.
    ``net_devices_partial`` are the devices of a list that was cut off. ``nic_distances`` are the path types from its
    GPU to the NICs, in NCCL's order (printed by 2.4 only).

    ``last_ops`` has the last collective on each communicator, the largest first; empty without the collective trace.
    ``connections``, ``rings`` and ``ring_places`` are what it printed about its neighbours; of a very large number only
    the first ones.
    """

    KEY = ("pid", "cuda_dev")

    host: HostName
    rank: Annotated[int | None, FACE] = None
    pid: Annotated[int | None, FACE] = None
    nranks: int | None = None
    communicator: str | None = None
    cuda_dev: int | None = None
    bus_id: str | None = None
    nccl_version: VersionRange | None = None
    library: Literal["NCCL", "RCCL"] | None = None
    state: Annotated[
        Literal["started", "ready", "failed", "silent"] | None, furthest("silent", "started", "ready", "failed")
    ] = None
    bootstrap_interface: Annotated[Interface | None, OF_HOST] = None
    oob_interface: Annotated[Interface | None, OF_HOST] = None
    socket_interfaces: Annotated[tuple[Interface, ...] | None, OF_HOST] = None
    net: str | None = None
    net_plugin: str | None = None
    net_devices: Annotated[tuple[NetDevice, ...] | None, UNION] = None
    net_devices_partial: tuple[NetDevice, ...] | None = None
    nic_distances: tuple[str, ...] | None = None
    gids_used: Annotated[tuple[GidUse, ...], UNION] = ()
    gdr: Annotated[tuple[GdrVerdict, ...], UNION] = ()
    transports: Annotated[dict[str, int] | None, COUNTS, WHOLE] = None
    net_ways: Annotated[dict[str, int], COUNTS] = {}
    nics_used: tuple[int, ...] | None = None
    relaxed_ordering: bool | None = None
    settings: dict[str, Setting] = {}
    link_layers: tuple[str, ...] | None = None
    last_ops: Annotated[tuple[LastOp, ...], FURTHER_CALLS] = ()
    connections: Annotated[tuple[Connection, ...], CONNECTED, FACE] = ()
    rings: Annotated[tuple[RingOrder, ...], UNION, FACE] = ()
    ring_places: Annotated[tuple[RingPlace, ...], UNION, FACE] = ()
    line_tag: Annotated[str | None, LEAST, FACE] = None


class Communicator(Fact, frozen=True, kw_only=True):
    """A communicator.

    ``ranks_started`` and ``ranks_ready`` are the ranks that printed Init START and COMPLETE lines, ``ranks_aborted``
    those that aborted it before they were ready. ``parent`` is the id of the communicator that it was split from; where
    its lines show no id, its ``id`` is the parent's with the number and the color of the split (``0x5ae7/1.0``).
    ``open_on``: the hosts of the ranks that are not ready, by rank. ``begun_at`` and ``ready_at`` are when the first
    rank began and the last one was ready, in seconds since the epoch. ``sizes``: the ranks by the number of ranks that
    they gave, where these differ; of one that was shrunk, the ranks in the parent. ``ranks_above``: the ranks in the
    parent (without one in the widest communicator) of those that began, by rank, and ``split`` the number of the split
    of the parent, where ranks are missing from it.
    """

    KEY = ("id",)

    id: str
    nranks: int | None = None
    nhosts: int | None = None
    parent: str | None = None
    ranks_started: Annotated[tuple[int, ...], UNION] = ()
    ranks_ready: Annotated[tuple[int, ...], UNION] = ()
    ranks_aborted: Annotated[tuple[int, ...], UNION] = ()
    open_on: Annotated[dict[str, str], BY_NAME] = {}
    sizes: Annotated[dict[str, str], BY_NAME] = {}
    split: int | None = None
    ranks_above: Annotated[dict[str, int], BY_NAME] = {}
    begun_at: Annotated[float | None, LEAST] = None
    ready_at: Annotated[float | None, GREATEST] = None
