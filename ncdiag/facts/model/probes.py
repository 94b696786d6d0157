"""Results of `ncdiag probe`: what hosts found when they tested the connections between them."""

from __future__ import annotations

from typing import Literal

from ncdiag.facts.model.base import Fact, HostName

ProbeOutcome = Literal[
    "connected", "refused", "no answer", "unreachable", "not permitted", "silent", "other", "not found", "failed",
    "rejected",
]  # fmt: skip
"""The result of a connection attempt.

``rejected``: refused, although an agent listens there. ``silent``: connected, but no data arrived. ``other``: connected
to another program. ``unreachable``: no route, or a router or filter answered that there is none. ``not permitted``: a
filter of the connecting host itself forbids it.
"""


class ProbeLink(Fact, frozen=True, kw_only=True):
    """A TCP connection attempt from an interface of one host to an interface of another.

    It goes from ``address`` to ``peer_address``. ``network`` is the network that holds both, ``gateway`` the router
    between them where no network does. ``ms`` is the time to connect in milliseconds. ``answered_by`` is the host or
    program that answered in place of the peer, ``seen_as`` the source address that the peer saw where it differs from
    ``address``. ``leaves_by`` is the interface that the kernel uses where it is not the one with ``address``.
    ``through`` is another host of the probe that answers ARP for the peer's address and forwards the packets.

    ``arrives`` and ``returns``: do 256 KiB arrive at the peer, and back? Of ``ports_tried`` ports on which the peer
    listened, ``ports_closed`` did not answer. ``clock_ahead_seconds`` is how far the peer's clock is ahead.
    """

    host: HostName
    interface: str
    address: str
    peer: HostName
    peer_interface: str
    peer_address: str
    network: str | None = None
    gateway: str | None = None
    outcome: ProbeOutcome | None = None
    error: str | None = None
    ms: float | None = None
    answered_by: str | None = None
    seen_as: str | None = None
    leaves_by: str | None = None
    through: str | None = None
    arrives: bool | None = None
    returns: bool | None = None
    ports_tried: int | None = None
    ports_closed: tuple[int, ...] | None = None
    clock_ahead_seconds: float | None = None


class ProbePort(Fact, frozen=True, kw_only=True):
    """A connection attempt to one port of a host, or of a place that the job uses such as MASTER_ADDR.

    ``address`` is the IP address that ``place`` resolves to.
    """

    host: HostName
    place: str
    port: int
    address: str | None = None
    outcome: ProbeOutcome | None = None
    error: str | None = None


class ProbeName(Fact, frozen=True, kw_only=True):
    """The addresses to which a host resolves a name; ``addresses`` is empty where the name does not exist."""

    host: HostName
    name: str
    addresses: tuple[str, ...] | None = None


class ProbeRail(Fact, frozen=True, kw_only=True):
    """A run of ``program`` (``ib_write_bw``) from port ``hca``:``port`` of one host to a port of another.

    ``address`` is the IP address over which the two sides exchanged parameters, ``error`` the reason why the run failed
    or was not tried. The measurement is the `LinkTest` of that host, device and ``remote_ip``.
    """

    host: HostName
    hca: str
    port: int
    peer: HostName
    peer_hca: str
    peer_port: int
    program: str
    address: str | None = None
    outcome: Literal["ran", "failed", "not tried"] | None = None
    error: str | None = None


class ProbePair(Fact, frozen=True, kw_only=True):
    """A run of an nccl-tests ``program`` over two hosts: ``busbw`` at its largest size in GB/s, or the ``error``."""

    host: HostName
    peer: HostName
    program: str
    busbw: float | None = None
    error: str | None = None


ProbeUntried = Literal["hosts", "interfaces", "bandwidth", "nccl-tests", "needs"]


class ProbeGap(Fact, frozen=True, kw_only=True):
    """A test that a host did not run, and ``why``.

    ``what`` is ``hosts`` (not all other hosts were tested in time), ``interfaces`` (not all interfaces of the host),
    ``needs`` (not all that a launch needs), ``bandwidth`` or ``nccl-tests``.
    """

    host: HostName
    what: ProbeUntried
    why: str


class ProbeMeeting(Fact, frozen=True, kw_only=True):
    """Can a program listen at the address and port where the ranks meet? Tested on the ``host`` that the address names.

    ``error`` is the reason why not, None if it can.
    """

    host: HostName
    place: str
    port: int
    error: str | None = None


ProbeLoginOutcome = Literal["logged in", "password", "host key", "unreachable", "closed", "no answer", "failed"]
"""The result of an attempt to log in by ssh.

``password``: ssh would ask for a password. ``host key``: ssh does not know the host's key, or knows another one by that
name. ``closed``: the connection was accepted and then closed.
"""


class ProbeLogin(Fact, frozen=True, kw_only=True):
    """An ssh login attempt without a prompt, from the launching host to another, with the options of the launcher.

    ``port`` is the port that the launcher names; None where ssh decides.
    """

    host: HostName
    peer: HostName
    port: int | None = None
    outcome: ProbeLoginOutcome | None = None
    error: str | None = None


class ProbeOwn(Fact, frozen=True, kw_only=True):
    """The user that a launch runs as on a host, and the number of GPUs of that host: ``gpus`` is 0 without a driver."""

    KEY = ()

    host: HostName
    user: str | None = None
    uid: int | None = None
    gpus: int | None = None


class ProbePath(Fact, frozen=True, kw_only=True):
    """A file or folder that the launch needs on a host; ``error`` is the reason why it cannot be used there."""

    host: HostName
    path: str
    error: str | None = None


class ProbeProgram(Fact, frozen=True, kw_only=True):
    """A program that the launch names, as a shell of the host finds it.

    ``path`` is None where the shell does not find it. ``python`` is the Python release of the program if it is Python,
    or else of the interpreter in its first line.
    """

    host: HostName
    name: str
    path: str | None = None
    python: str | None = None


ProbeTrouble = Literal[
    "cut off", "unreachable", "ports", "other answers", "large packets", "way", "translated", "loopback name", "name",
    "clock", "inside", "ssh port", "slow", "no run", "place", "detour",
]  # fmt: skip


class ProbeFault(Fact, frozen=True, kw_only=True):
    """A fault that explains several failed attempts of a probe (derived, `ncdiag.knowledge.socket.probes`).

    ``what`` is the kind of fault, for example ``cut off`` (fails on every network that was tried), ``unreachable``
    (fails on one of several networks), ``inside`` (interfaces that lead only to containers and virtual machines of the
    same host), ``ssh port`` (only the ssh port gives no answer), ``slow`` (a link carries much less than others), ``no
    run`` (a measurement fails), ``detour`` (another host forwards packets that are not addressed to it), ``place`` (the
    ranks cannot meet at the address and port in ``network``).

    ``where`` is a phrase with the hosts or pairs of hosts that it is narrowed down to (``to n3``), ``hosts`` are the
    hosts to check, folded. ``network`` is the network with its interface, or the rail, ``detail`` is the evidence in
    words.
    """

    what: ProbeTrouble
    where: str
    hosts: str
    network: str = ""
    detail: str = ""


LaunchNeed = Literal["login", "user", "path", "program", "slots"]


class LaunchFault(Fact, frozen=True, kw_only=True):
    """Something that a launch needs and some of its hosts lack (derived, `ncdiag.knowledge.launcher.reach`).

    ``hosts`` are those hosts, folded, ``example`` is the first of them; ``detail`` is the evidence in words.
    ``outcome`` is the result of ssh, and ``port`` the port that the launcher names, written as an option of ssh.
    """

    what: LaunchNeed
    hosts: str
    example: str = ""
    detail: str = ""
    outcome: ProbeLoginOutcome | None = None
    port: str = ""
