"""What ran: settings, messages, ranks and communicators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec

from ncdiag.facts.model.base import Fact, HostName, Level, Origin
from ncdiag.facts.model.marks import COUNTS, IF_UNSET, LEAST, OF_HOST, SUM, UNION, WHOLE, Merge, furthest
from ncdiag.facts.model.network import Interface
from ncdiag.facts.scalars import VersionRange


class Setting(Fact, frozen=True, kw_only=True):
    """One variable (NCCL_*, and those of frameworks and launchers) as one source gave it.

    ``text`` is the value as written; ``number`` what NCCL's strtoll makes of it for integer parameters; ``effective``
    the value in force (the default when known to be unset); ``is_set`` None when the sources at hand cannot tell.
    ``file`` is the conf file that sets it, where its path is known. ``launched`` is the value that a launch line gives
    to the processes of all hosts: two such lines with two values are two launches.
    """

    KEY = ("name", "pid", "origin", "file", "launched")
    SHOWS_A_RUN = True

    name: str
    host: HostName | None = None
    rank: int | None = None
    pid: int | None = None
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
"""Kinds of events that tell of a failure."""


class Event(Fact, frozen=True, kw_only=True):
    """A message of a program, recognised by `ncdiag.messages`; the typed holes of its template are in ``fields``.

    ``time`` is seconds since the epoch where the line has a date; ``order`` the position in the input (source, then
    line); ``count`` how often the same text came from the same rank.
    """

    HOST = "only"
    SHOWS_A_RUN = True

    event: str
    origin: str
    level: Level | None = None
    kind: Literal["cause", "echo", "harmless", "fact", "symptom"] | None = None
    text: str = ""
    time: float | None = None
    order: int = 0
    rank: int | None = None
    host: HostName | None = None
    pid: int | None = None
    peer: str | None = None
    file: str | None = None
    line: int | None = None
    count: int = 1
    fields: dict[str, int | float | str | None] = {}


class NetDevice(Fact, frozen=True, kw_only=True):
    """An RDMA device as NCCL announced it.

    ``index`` is NCCL's NIC number, ``name`` may join merged ports with ``+``.
    """

    index: int
    name: str
    port: int | None = None
    link_layer: Literal["IB", "RoCE"] | None = None
    sharp: bool | None = None


class GidUse(Fact, frozen=True, kw_only=True):
    """A GID that a log says was used. ``index`` None when only the address was printed."""

    hca: str | None = None
    port: int | None = None
    index: int | None = None
    local_gid: str | None = None
    remote_gid: str | None = None


class GdrVerdict(Fact, frozen=True, kw_only=True):
    """What NCCL said about GPUDirect RDMA: of a NIC (``gpu`` None) or of a GPU and NIC pair, with its distance test.

    ``distance`` and ``limit`` are numbers of path types, which differ between releases. ``limit`` is the largest
    distance that is near enough: up to 2.5 one less than the printed level (``distance 1 < 2``).
    """

    hca: str
    enabled: bool
    gpu: str | None = None
    distance: int | None = None
    limit: int | None = None
    reason: str | None = None


class LastOp(Fact, frozen=True, kw_only=True):
    """The last collective that a rank called on one communicator, by the trace of NCCL_DEBUG_SUBSYS=COLL.

    ``op_count`` counts the calls of a communicator (up to about 2.21: of the process); ``count`` are elements.
    """

    function: str
    op_count: int
    communicator: str | None = None
    nranks: int | None = None
    count: int | None = None
    datatype: str | None = None


class Connection(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What a rank said of its connection to another rank of a communicator, or from it: the data go to ``target``.

    ``source`` and ``target`` are numbers in that communicator, which is None where no line tells it; ``nranks`` is its
    size. ``transport`` as in `Rank.transports`; ``nic`` NCCL's number of the NIC on the rank's own side, and ``way``
    (of a network) which side that is. ``lines`` counts the Channel lines: one for each channel that has it.
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

    ``channel`` is the first channel of which it was printed, ``lines`` how often that was, ``channels`` how many
    channels there are.
    """

    communicator: str | None = None
    nranks: int | None = None
    channel: int
    channels: int | None = None
    lines: int = 1
    order: tuple[int, ...]


class RingPlace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The neighbours of a rank in a ring, as it printed them (``Ring 00 : 7 -> 0 -> 1``).

    ``lines`` counts the channels in which they are these.
    """

    communicator: str | None = None
    nranks: int | None = None
    before: int
    rank: int
    after: int
    lines: int = 1


def _connected(held: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Those of both; the lines of equal ones add up."""
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
"""Of what two sources say a rank called last, the one with the greater numbers of calls."""


class CollectiveSum(Fact, frozen=True, kw_only=True):
    """The calls of one function on one datatype in one communicator, added up over all ranks seen.

    ``communicator`` is None when no Init line told its id; then those of equal ``nranks`` are added together.
    ``bytes`` is the sum of count times the bytes of the datatype, as each call named them. ``sizes`` maps powers of two
    to the number of calls with at least so many bytes and less than twice as many.
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
    """One rank of the job: a process, or a thread with its own GPU.

    ``rank`` is None for a process whose number no line told. ``transports`` counts connections by transport
    (``P2P/IPC``, ``NET/IB``, ``NET/IB/GDRDMA``, ``SHM``), ``net_ways`` those of the network by direction (``send``,
    ``receive``, each also with ``/GDRDMA``). ``state``: started, ready, failed or silent. ``nics_used``
    are NCCL's numbers of the NICs that its channels named; ``relaxed_ordering`` is the ``[RO]`` of its list.
    ``last_ops`` has the last collective on each communicator, the widest first; empty without the collective trace.
    ``connections``, ``rings`` and ``ring_places`` are what it printed of its neighbours; the first ones, of very many.
    ``net_devices_partial`` are the RDMA devices of a list that was cut off; ``nic_distances`` the path types from its
    GPU to the NICs, in NCCL's order of them (2.4 alone prints them). ``line_tag`` is what a launcher or a collector of
    logs put before its lines (``[1,3]<stdout>:``), without times.
    """

    KEY = ("pid", "cuda_dev")

    host: HostName
    rank: int | None = None
    pid: int | None = None
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
    connections: Annotated[tuple[Connection, ...], CONNECTED] = ()
    rings: Annotated[tuple[RingOrder, ...], UNION] = ()
    ring_places: Annotated[tuple[RingPlace, ...], UNION] = ()
    line_tag: Annotated[str | None, LEAST] = None


class Communicator(Fact, frozen=True, kw_only=True):
    """A communicator; ``ranks_started`` and ``ranks_ready`` are the rank numbers whose Init lines were seen."""

    KEY = ("id",)

    id: str
    nranks: int | None = None
    nhosts: int | None = None
    parent: str | None = None
    ranks_started: Annotated[tuple[int, ...], UNION] = ()
    ranks_ready: Annotated[tuple[int, ...], UNION] = ()
