"""Test the connections between many hosts: an agent, sent to each, and the combined results as one text."""

from __future__ import annotations

import base64
import ipaddress
import json
import re
import secrets
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import msgspec

from ncdiag.apps.cluster import remote
from ncdiag.apps.cluster.collective import PROGRAM, Able, collectives
from ncdiag.apps.cluster.model import Answer, Wish
from ncdiag.apps.cluster.sweep import Via, asked, chosen, machines
from ncdiag.apps.cluster.talk import Talk
from ncdiag.base.errors import UsageError
from ncdiag.base.patterns import lazy_regex
from ncdiag.machine.host import Seen

_LATE = 20.0
"""Seconds in addition to those of the tests: for the last of them to end, and to return the results."""
_UNFINISHED = lazy_regex(r"^probe (\S+): \d+ of \d+ hosts tried in time$", re.MULTILINE)


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """What is tested. Each host tests ``rounds`` others, for at most ``seconds``.

    ``wait``: seconds for the agents to start. ``ports`` are tested on every host in addition to those of the agents,
    which are in the range ``within`` if given. ``places`` are (host, port) that every host tests, such as MASTER_ADDR
    and MASTER_PORT; the agents listen on such ports if nobody does. ``bandwidth``: seconds in which RDMA ports are
    measured, before everything else, and again for ``nccl_tests``, a program, after it; 0 for none. ``needs`` are the
    ``programs`` and ``paths`` that a launch needs on every host; None without one. ``ssh``: also test port 22 of every
    host.
    """

    seconds: float = 60.0
    wait: float = 30.0
    rounds: int = 64
    ports: tuple[int, ...] = ()
    within: tuple[int, int] | None = None
    places: tuple[tuple[str, int], ...] = ()
    bandwidth: float = 0.0
    nccl_tests: str = PROGRAM
    needs: Mapping[str, Sequence[str]] | None = None
    ssh: bool = True


class Tried(msgspec.Struct, frozen=True):
    """``text`` has the results of the hosts, as `ncdiag.parsers.probe` parses them.

    ``silent`` are hosts without an answer, and ``said`` the lines on them.
    """

    text: str
    silent: tuple[Seen, ...] = ()
    said: str = ""

    @property
    def whole(self) -> str:
        """The text, and a line for each host without an answer."""
        return self.text + self.said

    @property
    def unfinished(self) -> list[str]:
        """The hosts that did not test all others in time."""
        return _UNFINISHED.findall(self.text)


def probe(nodes: str, via: Via | None, trial: Trial, wish: Wish) -> Tried:
    """The results of the hosts in ``nodes``; raises UsageError if no launcher can reach them."""
    means = via or chosen(nodes)
    if means == "mpirun":
        msg = "probe must talk to all hosts, but mpirun forwards input only to rank 0; use --via ssh or srun"
        raise UsageError(msg)
    listening = {*trial.ports, *(port for _, port in trial.places)}
    plan = {
        "wait": trial.wait, "seconds": trial.seconds + trial.bandwidth, "ports": sorted(listening - {_SSH}),
        "within": trial.within, "bandwidth": _RUN if trial.bandwidth else 0, "nccl_tests": trial.nccl_tests,
        "needs": trial.needs,
    }  # fmt: skip
    seconds = trial.seconds + trial.bandwidth
    known: dict[str, Introduction] = {}
    talk = Talk(lambda told: table(told, trial, known), wait=trial.wait, seconds=seconds + _LATE)
    whole = msgspec.structs.replace(wish, seconds=trial.wait + seconds + 2 * _LATE)
    answers = asked(nodes, means, remote.agent(plan), whole, talk)
    heard = [answer for answer in answers if not answer.problem]
    mute = [answer for answer in answers if answer.problem]
    found = list(_found(heard, sum(1 for answer in answers if answer.host)))
    if trial.bandwidth:
        able = {one.host: Able(known[one.host].nccl_tests, known[one.host].gpus) for one in heard if one.host in known}
        able = {host: one for host, one in able.items() if one.path and one.gpus}
        found += collectives(able, means, wish, trial.bandwidth)
    return Tried(
        "".join(f"{line}\n" for line in found),
        tuple(machine for answer in mute for machine in machines(answer)),
        "".join(f"{line}\n" for answer in mute for line in _silence(answer)),
    )


_SSH = 22
_RUN, _EACH = 2, 5.0
"""Seconds of one run of ib_write_bw, and of everything around it."""
_PAUSE, _PAUSE_EACH = 0.2, 0.01
"""Seconds until all hosts have received the table: it is sent to them one after the other."""


class Port(msgspec.Struct, frozen=True):
    """An interface on which an agent listens."""

    name: Annotated[str, msgspec.Meta(pattern=r"^\S{1,64}\Z")]
    address: str
    prefix: int
    mtu: int | None
    index: int | None
    mac: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f:]{17}\Z")] | None
    ports: Annotated[tuple[Annotated[int, msgspec.Meta(ge=1, le=65535)], ...], msgspec.Meta(min_length=1, max_length=8)]


class RdmaPort(msgspec.Struct, frozen=True):
    """An active port of an RDMA device; ``rate`` in Gbit/s, ``gid`` the index to use."""

    hca: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z][\w.-]{0,63}\Z")]
    port: Annotated[int, msgspec.Meta(ge=1, le=255)]
    layer: Annotated[str, msgspec.Meta(pattern=r"^\w{0,32}\Z")]
    rate: float | None = None
    gid: Annotated[int, msgspec.Meta(ge=0, le=65535)] | None = None


class Introduction(msgspec.Struct, frozen=True):
    """The properties that an agent reports, as far as the others need them.

    ``listening`` are the requested ports on which it listens. ``more`` counts the interfaces that are left out;
    ``carries``: it can measure its RDMA ports; ``nccl_tests`` is the path of the program, and ``gpus`` the number of
    GPUs.
    """

    token: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{1,64}\Z")]
    interfaces: Annotated[tuple[Port, ...], msgspec.Meta(max_length=64)]
    range: tuple[int, int]
    listening: Annotated[tuple[int, ...], msgspec.Meta(max_length=1024)] = ()
    more: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] = 0
    rdma: Annotated[tuple[RdmaPort, ...], msgspec.Meta(max_length=64)] = ()
    carries: bool = False
    gpus: Annotated[int, msgspec.Meta(ge=0, le=1024)] = 0
    nccl_tests: Annotated[str, msgspec.Meta(pattern=r"^(/[\w./+-]{1,500})?\Z")] = ""


def introduced(data: bytes) -> Introduction | None:
    """The properties that a host reported; None if they would make the agents of other hosts fail."""
    try:
        found = msgspec.json.decode(data, type=Introduction)
        for one in found.interfaces:
            ipaddress.ip_interface(f"{one.address}/{one.prefix}")
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors
        return None
    return found


def table(told: Mapping[str, bytes], trial: Trial, known: dict[str, Introduction]) -> bytes:
    """The line for all agents with the participants, under the names given by the user.

    ``known`` is filled with them.
    """
    hosts = []
    for name, data in told.items():
        host = introduced(data)
        if host is not None:
            hosts.append({**msgspec.to_builtins(host), "host": name})
            known[name] = host
    content = {
        "secret": secrets.token_hex(16), "pause": _PAUSE + _PAUSE_EACH * len(hosts), "seconds": trial.seconds,
        "rounds": trial.rounds, "hosts": hosts, "places": trial.places,
        "ports": sorted({*trial.ports, *([_SSH] if trial.ssh else [])}), "names": [place for place, _ in trial.places],
        "nccl_tests": trial.nccl_tests, "bandwidth": _slots(list(known.values()), trial.bandwidth),
    }  # fmt: skip
    return base64.b64encode(zlib.compress(json.dumps(content).encode(), 6)) + b"\n"


def _slots(hosts: Sequence[Introduction], seconds: float) -> dict[str, float] | None:
    """The time slots of `ncdiag.agent.probe.rails`; None if no time is to be spent.

    If even one round with all ports would take too long, only the first ports are measured.
    """
    if not seconds:
        return None
    ports = max((len(host.rdma) for host in hosts if host.carries), default=0)
    half = max(_EACH, min(ports * _EACH, seconds / 2))
    return {"seconds": _RUN, "half": half, "whole": seconds}


def _found(heard: Sequence[Answer], asked: int) -> Iterator[str]:
    yield f"probe of {asked} hosts: {len(heard)} took part"
    for answer in heard:
        yield from answer.data.decode("utf-8", "replace").splitlines()


def _silence(answer: Answer) -> Iterator[str]:
    yield from answer.said
    if answer.host:
        yield answer.silence
