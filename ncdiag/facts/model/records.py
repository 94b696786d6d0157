"""Launch lines, benchmarks, and what frameworks wrote down."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from ncdiag.facts.model.base import Fact, HostName, LinkLayer
from ncdiag.facts.model.marks import WHOLE
from ncdiag.facts.scalars import VersionRange


class LaunchHost(msgspec.Struct, frozen=True, omit_defaults=True):
    """A host named on a launch line with its slots."""

    name: str
    slots: int | None = None


class Launch(Fact, frozen=True, kw_only=True):
    """A command line that starts the job.

    ``env`` are the variables it sets for the ranks, ``prefix_env`` those set
    in front of the command (for the launcher itself), ``forwarded`` those it passes on by name.

    ``memlock``, ``shm_size_bytes``, ``ipc`` and ``devices`` are a container's; program ``hostfile`` stands for a list
    of hosts, program ``kubernetes`` for a container of a manifest: ``networks`` are the further networks of its pod,
    ``rdma_resources`` the RDMA devices that it asks for, ``shm_mounted`` whether it has a /dev/shm of its own.
    ``efa_devices`` counts AWS's EFA devices among them; ``instance_type`` and ``accelerator`` are what its node has to
    be labelled with; ``mesh`` is the proxy of a service mesh that takes its connections, empty for none.

    ``executable`` is the program that the innermost launcher starts, or what runs ``script``: an interpreter, or the
    launcher itself; ``workdir`` the folder in which it is started where the line names one. ``agent`` is what carries
    it to other hosts (``ssh``, ``pdsh``, ``slurm``), ``ssh_port`` and ``ssh_key`` (a file) are what ssh is told.
    ``include`` and ``exclude`` are the hosts that DeepSpeed takes of its file, or leaves out; ``gpus_per_node`` is what
    Slurm is asked for. ``hosts_unread`` are words among the hosts that name none, or too many.
    """

    SHOWS_A_RUN = True

    program: str
    text: str
    host: HostName | None = None
    np: int | None = None
    hosts: tuple[LaunchHost, ...] = ()
    hosts_unread: tuple[str, ...] = ()
    env: Annotated[dict[str, str], WHOLE] = {}
    prefix_env: dict[str, str] = {}
    forwarded: tuple[str, ...] = ()
    mca: Annotated[dict[str, str], WHOLE] = {}
    nnodes: int | None = None
    nproc_per_node: int | None = None
    node_rank: int | None = None
    master_addr: str | None = None
    master_port: int | None = None
    hostfile: str | None = None
    shm_size_bytes: int | None = None
    ipc: str | None = None
    network: str | None = None
    memlock: str | None = None
    devices: tuple[str, ...] = ()
    cap_add: tuple[str, ...] = ()
    gpus: str | None = None
    privileged: bool | None = None
    image: str | None = None
    networks: tuple[str, ...] | None = None
    rdma_resources: tuple[str, ...] | None = None
    shm_mounted: bool | None = None
    efa_devices: int | None = None
    instance_type: str | None = None
    accelerator: str | None = None
    mesh: str | None = None
    executable: str | None = None
    script: str | None = None
    workdir: str | None = None
    agent: str | None = None
    ssh_port: int | None = None
    ssh_key: str | None = None
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    gpus_per_node: int | None = None


class BenchmarkRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One size of an nccl-tests table: bytes, microseconds, GB/s (10^9), wrong elements (None for N/A).

    ``error`` is the largest deviation that releases before 2.11 printed in place of ``wrong``.
    """

    size: int
    count: int | None = None
    datatype: str | None = None
    redop: str | None = None
    root: int | None = None
    time_us: float | None = None
    algbw: float | None = None
    busbw: float | None = None
    wrong: int | None = None
    error: float | None = None
    in_place_time_us: float | None = None
    in_place_algbw: float | None = None
    in_place_busbw: float | None = None
    in_place_wrong: int | None = None
    in_place_error: float | None = None
    iterations: int | None = None


class Benchmark(Fact, frozen=True, kw_only=True):
    """An nccl-tests run; unmarked columns of its rows are out-of-place.

    Bandwidths in GB/s (10^9 bytes), sizes in
    bytes.

    ``out_of_bounds`` counts wrong results; ``*_ok`` is the verdict printed behind a number (OK, FAILED). ``columns``
    are the names in the head of the table; ``unreadable_rows`` counts rows whose numbers were blanked out.
    ``nccl_version`` is the library's.
    """

    SHOWS_A_RUN = True

    program: str | None = None
    nccl_version: VersionRange | None = None
    nranks: int | None = None
    nhosts: int | None = None
    nthreads: int | None = None
    gpus_per_process: int | None = None
    min_bytes: int | None = None
    max_bytes: int | None = None
    iterations: int | None = None
    validation: int | None = None
    columns: tuple[str, ...] | None = None
    average_busbw: float | None = None
    average_ok: bool | None = None
    out_of_bounds: int | None = None
    out_of_bounds_ok: bool | None = None
    unreadable_rows: int = 0
    rows: tuple[BenchmarkRow, ...] = ()


class LinkTestRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One size of a perftest table: bytes, Gbit/s (10^9 bits), microseconds. Which of them depends on the program."""

    size: int
    iterations: int | None = None
    peak_gbps: float | None = None
    average_gbps: float | None = None
    typical_us: float | None = None
    average_us: float | None = None
    percentile99_us: float | None = None


class LinkTest(Fact, frozen=True, kw_only=True):
    """A run of a perftest program (``ib_write_bw``, ``ib_send_lat``) or of iperf3: what a link carries without NCCL.

    ``hca`` and ``port`` are the tested device's, ``memory`` is where its buffers lie (None: the output does not tell),
    ``gpu`` CUDA's number of that GPU. ``bidirectional`` and ``dual_port`` add up both directions or ports. Of iperf3
    there are the two addresses (of perftest the server's, where the command names it), and ``gbps`` is what all
    ``streams`` together carried, in Gbit/s.
    """

    program: str
    host: HostName | None = None
    hca: str | None = None
    port: int | None = None
    link_layer: LinkLayer | None = None
    memory: Literal["host", "gpu"] | None = None
    gpu: int | None = None
    connection: str | None = None
    qps: int | None = None
    mtu: int | None = None
    gid_index: int | None = None
    bidirectional: bool | None = None
    dual_port: bool | None = None
    rows: tuple[LinkTestRow, ...] = ()
    local_ip: str | None = None
    remote_ip: str | None = None
    streams: int | None = None
    gbps: float | None = None
    retransmits: int | None = None


class Throughput(Fact, frozen=True, kw_only=True):
    """What a training reached on so many GPUs: ``per_second`` items of ``unit``, all GPUs together.

    ``case`` tells rows apart that are not to be compared (batch size, precision). ``several``: on several nodes, of
    which nobody says how many; where no GPUs are counted either, ``gpus`` is 1 on one node and 2 on several.
    """

    unit: str
    gpus: int
    per_second: float
    nodes: int | None = None
    several: bool = False
    case: str = ""


class Complaint(Fact, frozen=True, kw_only=True):
    """What a person says goes wrong, in their own words: ``text`` is the sentence, ``what`` the kind of trouble.

    ``phase`` is how far the job had come, ``against`` what it is slower than, ``subject`` what is not used (``ib``).
    """

    what: Literal[
        "cannot-start", "fails", "fails-at-init", "hangs", "slow", "crashes", "wrong-results", "not-used",
        "memory-grows",
    ]  # fmt: skip
    phase: Literal["rendezvous", "bootstrap", "init", "connect", "first-collective", "later", "end"] | None = None
    scope: Literal["multi-host", "one-host", "multi-gpu", ""] = ""
    against: str | None = None
    subject: Literal["ib", "rdma", "roce", "nvlink", "p2p", "gdr", "efa", "shm", "all-nics", "gpu"] | None = None
    told: bool = True
    text: str = ""


class Timeout(Fact, frozen=True, kw_only=True):
    """A collective that a watchdog gave up (PyTorch). Times in milliseconds.

    ``group_rank`` is the rank's number in the process group of the collective.
    ``given_up``: the rank says that the time limit was over. ``signal``: it says no more than that a watchdog gave up,
    its own or that of another rank (``signalled_by``). ``only_stack``: nothing but the stack of the check was seen.
    """

    SHOWS_A_RUN = True

    rank: int | None = None
    group_rank: int | None = None
    sequence: int | None = None
    operation: str | None = None
    numel_in: int | None = None
    numel_out: int | None = None
    timeout_ms: int | None = None
    ran_ms: int | None = None
    last_enqueued: int | None = None
    last_completed: int | None = None
    process_group: str | None = None
    given_up: bool | None = None
    signal: Literal["own", "other"] | None = None
    signalled_by: int | None = None
    only_stack: bool | None = None


class FlightGroup(msgspec.Struct, frozen=True, omit_defaults=True):
    """A process group in a flight recorder dump; sequence numbers of its calls, -1 for none.

    Sends and receives are numbered for themselves: in a group that has both, the number is that of the latest call.
    """

    name: str
    purpose: str | None = None
    ranks: tuple[int, ...] | None = None
    last_enqueued: int | None = None
    last_started: int | None = None
    last_completed: int | None = None


class FlightEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call that the flight recorder saw; ``state`` is scheduled, started or completed.

    ``sequence`` counts the collectives of the process group, and the sends and receives of a rank for themselves.
    ``shape`` is the sizes and types of the input. ``to_rank`` and ``from_rank`` are the peer of a send and a receive,
    as the job numbers its ranks; ``is_p2p`` is true of both, known peer or not. ``after_p2p``, of a collective: the
    rank sent or received in the group before it, whether the dump still holds that or not.
    """

    group: str | None = None
    sequence: int | None = None
    operation: str | None = None
    state: str | None = None
    shape: str | None = None
    is_p2p: bool = False
    after_p2p: bool = False
    to_rank: int | None = None
    from_rank: int | None = None


class FlightRecord(Fact, frozen=True, kw_only=True):
    """A dump of PyTorch's NCCL flight recorder; entries in the order in which they were enqueued.

    ``rank`` is told by the dump or by the name of its file.
    """

    rank: int | None = None
    version: str | None = None
    nccl_version: VersionRange | None = None
    groups: tuple[FlightGroup, ...] = ()
    entries: tuple[FlightEntry, ...] = ()


class RankTableDevice(msgspec.Struct, frozen=True, omit_defaults=True):
    """A device of an HCCL rank table."""

    device_id: str | None = None
    device_ip: str | None = None
    rank_id: str | None = None
    server_id: str | None = None


class RankTable(Fact, frozen=True, kw_only=True):
    """An HCCL rank table; ``problems`` are sentences about what breaks HCCL's own rules for it.

    ``server_count`` is what the table declares, ``servers`` how many it lists. ``layout`` is the name of the list that
    holds them, ``groups`` how many groups they are in, where the layout has groups. ``placeholders`` are the words that
    a template has where addresses belong, such as ``{device_ip}``.
    """

    version: str | None = None
    status: str | None = None
    valid_json: bool | None = None
    server_count: int | None = None
    servers: int | None = None
    layout: str | None = None
    groups: int | None = None
    devices: tuple[RankTableDevice, ...] = ()
    problems: tuple[str, ...] = ()
    placeholders: tuple[str, ...] = ()
