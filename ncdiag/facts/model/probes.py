"""What hosts found when they tried the connections between them (`ncdiag probe`)."""

from __future__ import annotations

from typing import Literal

from ncdiag.facts.model.base import Fact, HostName

ProbeOutcome = Literal[
    "connected", "refused", "no answer", "unreachable", "not permitted", "silent", "other", "not found", "failed",
    "rejected",
]  # fmt: skip
"""``rejected``: refused, although an agent listens there; ``silent``: connected, and no word came; ``other``: connected
to somebody else; ``unreachable``: no route, or a router's or a filter's word that there is none; ``not permitted``: a
filter of the asking host itself."""


class ProbeLink(Fact, frozen=True, kw_only=True):
    """A try of TCP from an interface of a host to one of another: from ``address`` to ``peer_address``.

    ``network`` is the one that both are in, ``gateway`` the router between them where they are in none. ``ms`` is what
    the connection took, ``answered_by`` who else was there instead of the peer, ``seen_as`` the address that the peer
    saw where it is another one, ``leaves_by`` the interface by which the kernel sends there where it is not the one
    that has ``address``, ``through`` another host of the probe that answers ARP for the peer's address and passes it
    on. ``arrives`` and ``returns``: do 256 KiB get there, and back? Of ``ports_tried`` ports that
    the peer listened on, ``ports_closed`` did not answer. ``clock_ahead_seconds``: the peer's clock is so far ahead.
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
    """A try of one port of a place that the job uses, such as MASTER_ADDR, or of a host; ``address`` is what it is."""

    host: HostName
    place: str
    port: int
    address: str | None = None
    outcome: ProbeOutcome | None = None
    error: str | None = None


class ProbeName(Fact, frozen=True, kw_only=True):
    """What a host gets for a name; ``addresses`` is empty where there is no such name."""

    host: HostName
    name: str
    addresses: tuple[str, ...] | None = None


class ProbeRail(Fact, frozen=True, kw_only=True):
    """A run of ``program`` (``ib_write_bw``) from port ``hca``:``port`` of a host to one of another.

    ``address`` is where the two sides met, ``error`` why it failed or was not tried. What it measured is the `LinkTest`
    of that host, device and ``remote_ip``.
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
    """A run of ``program`` of nccl-tests over two hosts: ``busbw`` of its largest size in GB/s, or the ``error``."""

    host: HostName
    peer: HostName
    program: str
    busbw: float | None = None
    error: str | None = None


ProbeUntried = Literal["hosts", "interfaces", "bandwidth", "nccl-tests", "needs"]


class ProbeGap(Fact, frozen=True, kw_only=True):
    """What a host did not try, and ``why``.

    ``hosts``: all others in time, ``interfaces``: all its own, ``needs``: all that a launch needs.
    """

    host: HostName
    what: ProbeUntried
    why: str


class ProbeMeeting(Fact, frozen=True, kw_only=True):
    """The place where the ranks meet, told by the ``host`` that it names: can a program listen there? ``error``: no."""

    host: HostName
    place: str
    port: int
    error: str | None = None


ProbeLoginOutcome = Literal["logged in", "password", "host key", "unreachable", "closed", "no answer", "failed"]
"""``password``: ssh would ask for one; ``host key``: it does not know the host, or knows another one by that name;
``closed``: something took the connection and closed it."""


class ProbeLogin(Fact, frozen=True, kw_only=True):
    """A try of ssh, without a prompt, from the launching host to another, as the launcher connects.

    ``port`` is the one that the launcher names; None where ssh decides.
    """

    host: HostName
    peer: HostName
    port: int | None = None
    outcome: ProbeLoginOutcome | None = None
    error: str | None = None


class ProbeOwn(Fact, frozen=True, kw_only=True):
    """Who the launch is on a host, and how many GPUs that host has: ``gpus`` is 0 without a driver."""

    KEY = ()

    host: HostName
    user: str | None = None
    uid: int | None = None
    gpus: int | None = None


class ProbePath(Fact, frozen=True, kw_only=True):
    """A file or folder that the launch needs on a host; ``error`` is why it is of no use there."""

    host: HostName
    path: str
    error: str | None = None


class ProbeProgram(Fact, frozen=True, kw_only=True):
    """A program that the launch names, as a shell of the host finds it.

    ``path`` is None where there is none; ``python`` the release of Python that it is, or that its first line names.
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
    """What many tries have in common that failed alike (derived, `ncdiag.knowledge.socket.probes`).

    ``what`` is the trouble: ``cut off`` on every network that was tried, ``unreachable`` on one of several, ``inside``
    on interfaces that lead to containers and virtual machines of the same host alone, ``ssh port`` where only the port
    of ssh gives no answer, ``slow`` where a link carries much less than others, ``no run`` where a measurement fails,
    ``detour`` where another host passes packets on that are not for it, ``place`` where the ranks cannot meet at the
    address and port of ``network``. ``where`` are the hosts, or pairs of hosts, that it is narrowed down to, as a
    phrase (``to n3``), ``hosts`` those to look at, folded; ``network`` is the network with its interface, or the rail,
    ``detail`` what was seen.
    """

    what: ProbeTrouble
    where: str
    hosts: str
    network: str = ""
    detail: str = ""


LaunchNeed = Literal["login", "user", "path", "program", "slots"]


class LaunchFault(Fact, frozen=True, kw_only=True):
    """What a launch needs and some of its hosts do not have (derived, `ncdiag.knowledge.launcher.reach`).

    ``hosts`` are those, folded, ``example`` is the first of them; ``detail`` is what was seen. ``outcome`` is how ssh
    ended, and ``port`` the one that the launcher names, as an option of ssh.
    """

    what: LaunchNeed
    hosts: str
    example: str = ""
    detail: str = ""
    outcome: ProbeLoginOutcome | None = None
    port: str = ""
