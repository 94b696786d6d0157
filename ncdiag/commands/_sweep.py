"""The options of commands for many hosts, and their progress."""

from __future__ import annotations

import enum
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from ncdiag.base.errors import UsageError
from ncdiag.commands._output import say

if TYPE_CHECKING:
    from ncdiag.machine.host import Seen

_MANY = 200
"""Number of hosts that are contacted without a question."""
_BETWEEN = 1.0
"""Seconds between two lines of progress."""


class Via(str, enum.Enum):
    """The means to reach the other hosts."""

    auto = "auto"
    ssh = "ssh"
    srun = "srun"
    mpirun = "mpirun"
    kubectl = "kubectl"


Nodes = Annotated[
    str | None,
    typer.Option(
        metavar="SET",
        help="Check these hosts: node[001-512], @group, a host file, a:8,b:8, or pod labels (app=train).",
    ),
]
Carrier = Annotated[Via, typer.Option("--via", help="How to reach the hosts (auto: whichever is available).")]
Push = Annotated[bool, typer.Option("--push", help="Copy ncdiag to hosts that do not have it.")]
Timeout = Annotated[
    float, typer.Option("--host-timeout", metavar="SECONDS", min=1, help="Seconds to wait for each host.")
]
Fanout = Annotated[int, typer.Option(metavar="N", min=1, help="Number of hosts to query in parallel.")]
Yes = Annotated[bool, typer.Option("--yes", help="Contact more than 200 hosts without asking.")]
CarrierOptions = Annotated[
    str, typer.Option("--ssh-options", metavar="TEXT", help="Extra options for ssh (or srun, mpirun, kubectl).")
]


def swept(
    nodes: str, via: Via, *, push: bool, seconds: float, fanout: int, options: str, quiet: bool, yes: bool,
    job: str = "", stacks: str = "auto",
) -> list[Seen]:  # fmt: skip
    """The inspected machines; the number of answers is reported on stderr.

    ``job`` is the name of a running job whose processes each host examines, ``stacks`` which stacks it takes. Raises
    UsageError.
    """
    if job and push:
        msg = "--push cannot examine a job: the hosts need an installed ncdiag for --job and --pid"
        raise UsageError(msg)
    from ncdiag.apps.cluster import Wish, sweep_hosts

    begin, tell = _counter(beginning(yes=yes), quiet=quiet)
    wish = Wish(seconds=seconds, fanout=fanout, options=options, tell=tell, begin=begin, job=job, stacks=stacks)
    found = sweep_hosts(nodes, None if via is Via.auto else via.value, wish, push=push)
    if not quiet:
        asked = [machine for machine in found if machine.host]
        say(f"{sum(not machine.is_silent for machine in asked)} of {len(asked)} hosts answered")
    return found


def beginning(*, yes: bool) -> Callable[[int], None]:
    """A function that reports the number of hosts before the first of many is contacted, and asks on a terminal.

    It raises UsageError unless the answer is yes. ``yes``: it does nothing.
    """

    def begin(count: int) -> None:
        if yes or count <= _MANY:
            return
        say(f"{count} hosts will be contacted (--yes does not ask)")
        if all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr)):
            say("Continue? [y/N]")
            if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
                msg = "no host was contacted"
                raise UsageError(msg)

    return begin


def _counter(begin: Callable[[int], None], *, quiet: bool) -> tuple[Callable[[int], None], Callable[[int], None]]:
    """(``begin`` that keeps the number of hosts, a function that shows on a terminal how many of them have ended)."""
    total = 0

    def begun(count: int) -> None:
        nonlocal total
        total = count
        begin(count)

    if quiet or sys.stderr is None or not sys.stderr.isatty():
        return begin, lambda _: None
    last = time.monotonic()

    def tell(count: int) -> None:
        nonlocal last
        if time.monotonic() - last > _BETWEEN or count == total:
            last = time.monotonic()
            say(f"{count}/{total} hosts have answered")

    return begun, tell
