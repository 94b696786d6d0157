"""Launch lines, benchmarks, and the records that frameworks and people write."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from ncdiag.facts.model.base import Fact, HostName, LinkLayer
from ncdiag.facts.model.marks import FACE, WHOLE
from ncdiag.facts.scalars import VersionRange


class LaunchHost(msgspec.Struct, frozen=True, omit_defaults=True):
    """A host named on a launch line, with its number of slots."""

    name: str
    slots: int | None = None


class Launch(Fact, frozen=True, kw_only=True):
    """A command line, host file or container definition that starts the job.

    ``program`` is the launcher; ``hostfile`` stands for a list of hosts, ``kubernetes`` for a container of a manifest.
    ``env`` are the variables set for the ranks, ``prefix_env`` those set before the command (for the launcher itself),
    ``forwarded`` the names of those that the launcher passes on. ``hosts_unread`` are words in the list of hosts that
    name no host, or too many, ``hosts_apart`` hosts that a blank separates from the list. ``include`` and ``exclude``
    are the hosts that DeepSpeed selects from its file, or leaves out. ``gpus_per_node`` is the number requested from
    Slurm.

    ``cut_after`` is the last word of the first line whose backslash is followed by a blank: the shell ends the command
    there.

    ``executable`` is the program that the innermost launcher starts, or the program that runs ``script``: an
    interpreter, or the launcher itself. ``workdir`` is the folder in which it starts, where the line names one.
    ``agent`` is the means by which the launcher starts processes on other hosts (``ssh``, ``pdsh``, ``slurm``),
    ``ssh_port`` and ``ssh_key`` (a file) are its options for ssh.

    Containers: ``memlock``, ``shm_size_bytes``, ``ipc`` and ``devices`` are options of the container; ``shm_mounted``:
    does it mount a /dev/shm? ``networks`` are the additional networks of a pod, ``rdma_resources`` the RDMA devices
    that it requests, ``efa_devices`` the number of AWS EFA devices among them. ``instance_type`` and ``accelerator``
    are labels that its node must have. ``mesh`` is the proxy of a service mesh that captures its connections; empty
    means none. ``runtime_class`` is the container runtime that a pod selects; empty means the default of its node.
    ``cpu_limit`` is the number of processors that the container may use.
    """

    SHOWS_A_RUN = True

    program: str
    text: Annotated[str, FACE]
    cut_after: str = ""
    host: HostName | None = None
    np: Annotated[int | None, FACE] = None
    hosts: tuple[LaunchHost, ...] = ()
    hosts_unread: tuple[str, ...] = ()
    hosts_apart: tuple[str, ...] = ()
    env: Annotated[dict[str, str], WHOLE] = {}
    prefix_env: dict[str, str] = {}
    forwarded: tuple[str, ...] = ()
    mca: Annotated[dict[str, str], WHOLE] = {}
    nnodes: int | None = None
    nproc_per_node: int | None = None
    node_rank: Annotated[int | None, FACE] = None
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
    runtime_class: str | None = None
    cpu_limit: float | None = None
    executable: str | None = None
    script: Annotated[str | None, FACE] = None
    workdir: str | None = None
    agent: str | None = None
    ssh_port: int | None = None
    ssh_key: str | None = None
    include: tuple[str, ...] | None = None
    exclude: tuple[str, ...] | None = None
    gpus_per_node: int | None = None


class BenchmarkRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One size of an nccl-tests table: size in bytes, times in microseconds, bandwidths in GB/s (10^9 bytes).

    ``wrong`` is the number of wrong elements, None for N/A. ``error`` is the largest deviation, which releases before
    2.11 print in place of ``wrong``. Columns without ``in_place`` are out-of-place.
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
    """A run of nccl-tests; sizes in bytes, bandwidths in GB/s (10^9 bytes).

    ``out_of_bounds`` counts wrong results. ``*_ok`` is the result printed after a number (OK, FAILED). ``columns`` are
    the names in the header of the table, ``unreadable_rows`` counts rows whose numbers were blanked out.
    ``summaries`` is the number of summaries after the table where it is not one: several processes printed into it.
    ``nccl_version`` is the release of the NCCL library.
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
    summaries: int | None = None
    unreadable_rows: int = 0
    rows: tuple[BenchmarkRow, ...] = ()


class LinkTestRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One size of a perftest table: size in bytes, bandwidths in Gbit/s (10^9 bits), times in microseconds.

    A bandwidth test has no times, and a latency test has no bandwidths.
    """

    size: int
    iterations: int | None = None
    peak_gbps: float | None = None
    average_gbps: float | None = None
    typical_us: float | None = None
    average_us: float | None = None
    percentile99_us: float | None = None


class LinkTest(Fact, frozen=True, kw_only=True):
    """A run of a perftest program (``ib_write_bw``, ``ib_send_lat``) or of iperf3: what a link carries without NCCL.

    ``hca`` and ``port`` are the tested device. ``memory`` says where the buffers are (None: not shown), ``gpu`` is
    CUDA's number of that GPU. With ``bidirectional`` or ``dual_port`` the rates are the sum over both directions or
    ports. ``local_ip`` and ``remote_ip`` are the two addresses of iperf3; perftest has the server's alone, where the
    command names it. ``gbps`` is the rate of all ``streams`` of iperf3 together, in Gbit/s.
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
    """The speed of a training: ``per_second`` items of ``unit`` per second over all ``gpus`` GPUs together.

    ``case`` is the configuration (batch size, precision); only rows with equal cases are comparable. ``several`` is
    True for a run on several nodes whose number is unknown. Where the number of GPUs is unknown too, ``gpus`` is 1 for
    one node and 2 for several.
    """

    unit: str
    gpus: int
    per_second: float
    nodes: int | None = None
    several: bool = False
    case: str = ""


class StepPart(Fact, frozen=True, kw_only=True):
    """The time that one part of a training step took: ``forward-compute``, ``data``, the kernels of NCCL.

    ``tool`` measured it, ``part`` is the name that it printed and ``sort`` what that is. ``value`` is in ``unit``,
    which may be empty: the time on rank ``rank``, or on the slowest rank, with ``least`` on the fastest. ``whole`` is
    the time of the whole step or profile.
    """

    tool: str
    part: str
    sort: Literal["data", "communication", "other"] = "other"
    value: float
    unit: str = ""
    rank: int | None = None
    least: float | None = None
    whole: float | None = None


class Complaint(Fact, frozen=True, kw_only=True):
    """What a person says goes wrong: ``text`` is the sentence, ``what`` the kind of problem.

    ``phase`` is how far the job had come, ``against`` what it is slower than, ``subject`` what is not used (``ib``),
    ``form`` the symptom: idle GPUs, pauses, only with several GPUs. ``is_past``: it went wrong on an
    earlier day only.
    """

    what: Literal[
        "cannot-start", "fails", "fails-at-init", "hangs", "slow", "crashes", "wrong-results", "not-used",
        "memory-grows",
    ]  # fmt: skip
    phase: Literal["rendezvous", "bootstrap", "init", "connect", "first-collective", "later", "end"] | None = None
    scope: Literal["multi-host", "one-host", "multi-gpu", ""] = ""
    against: str | None = None
    subject: Literal["ib", "rdma", "roce", "nvlink", "p2p", "gdr", "efa", "shm", "all-nics", "gpu"] | None = None
    form: Literal[
        "gpus-idle", "pauses", "falls-off", "with-more-gpus", "elsewhere", "reading", "start", "gpu-lost",
        "needs-reboot", "gpu-unseen", "above-a-size", "unsteady", "wrong-with-several", "from-a-number", "epoch-end",
        "validating", "saving", "at-random", "one-slow-gpu", "less-than-elsewhere", "rdma-unseen", "second-step",
        "on-one-rank", "one-slow-host", "data-dependent", "each-alone", "gpus-unused",
    ] | None = None  # fmt: skip
    is_past: bool = False
    told: bool = True
    text: str = ""


class Timeout(Fact, frozen=True, kw_only=True):
    """A collective that a watchdog of PyTorch aborted; times in milliseconds.

    ``group_rank`` is the rank's number in the process group of the collective. ``given_up``: the rank itself reports
    that the time limit was exceeded. ``signal``: the line says only that a watchdog aborted, its own or that of another
    rank (``signalled_by``). ``only_stack``: nothing but the stack of the check was seen. ``at``: the stamp of
    the line, as `Duration` counts moments.
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
    at: float | None = None


class KernelWatch(Fact, frozen=True, kw_only=True):
    """What a monitor of GPU kernels says of one rank: is a kernel of it unfinished for longer than the monitor's limit?

    ``on_host`` is the pod or the address that the monitor names.
    """

    rank: int
    on_host: str | None = None
    overdue: bool


class FlightGroup(msgspec.Struct, frozen=True, omit_defaults=True):
    """A process group in a dump of the flight recorder; sequence numbers of its calls, -1 for none.

    Sends and receives are numbered separately: in a group that has both, the number is that of the latest call.
    """

    name: str
    purpose: str | None = None
    ranks: tuple[int, ...] | None = None
    last_enqueued: int | None = None
    last_started: int | None = None
    last_completed: int | None = None


class FlightEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A call that the flight recorder recorded; ``state`` is scheduled, started or completed.

    ``sequence`` counts the collectives of the process group, and separately the sends and receives of a rank. ``shape``
    is the sizes and types of the input. ``to_rank`` and ``from_rank`` are the peer of a send or receive, in the job's
    numbering; ``is_p2p`` is True for both, whether the peer is known or not. ``after_p2p``, for a collective: the rank
    sent or received in the group before it, whether the dump still contains that call or not.
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

    ``rank`` comes from the dump or from the name of its file. ``live``: it is a log of calls (clog) that does not say
    that the process ended: its last calls may just be under way.
    """

    rank: int | None = None
    live: bool = False
    version: str | None = None
    nccl_version: VersionRange | None = None
    groups: tuple[FlightGroup, ...] = ()
    entries: tuple[FlightEntry, ...] = ()


class CallTimes(Fact, frozen=True, kw_only=True):
    """When one rank called the collectives of the communicator in which it made most calls: every ``stride``-th one.

    Megatrace's log says it. ``stream`` is the communicator's place among those of the rank, ``group`` its number where
    the log has one.
    ``calls`` is a letter for each call: its kind, operation and size, is that letter's place in ``kinds``. ``numbers``
    are the numbers of the calls, ``times`` the microseconds from ``begin`` (seconds since the epoch) to the first call,
    and from each call to the next. ``pairs``: the rank sends and receives as well.
    """

    rank: int
    on_host: str | None = None
    stream: int = 0
    group: str | None = None
    pairs: bool = False
    stride: int = 1
    kinds: tuple[str, ...] = ()
    calls: str = ""
    numbers: tuple[int, ...] = ()
    begin: int = 0
    times: tuple[int, ...] = ()


class RankTableDevice(msgspec.Struct, frozen=True, omit_defaults=True):
    """A device in an HCCL rank table."""

    device_id: str | None = None
    device_ip: str | None = None
    rank_id: str | None = None
    server_id: str | None = None


class RankTable(Fact, frozen=True, kw_only=True):
    """An HCCL rank table; ``problems`` are sentences about violations of HCCL's rules for such tables.

    ``server_count`` is the number of servers that the table declares, ``servers`` the number that it lists. ``layout``
    is the name of the list that holds them, ``groups`` the number of groups in it, where the layout has groups.
    ``placeholders`` are unfilled placeholders of a template in place of addresses, such as ``{device_ip}``.
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
