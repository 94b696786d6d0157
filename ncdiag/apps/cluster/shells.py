"""Run a command in one shell per host with ClusterShell: ssh (also through a tree of gateways) or ``kubectl exec``."""

from __future__ import annotations

import contextlib
import os
from collections import defaultdict, deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from ClusterShell.Event import EventHandler
from ClusterShell.Task import Task, task_self
from ClusterShell.Topology import TopologyError

from ncdiag.apps.cluster.envelope import Envelopes
from ncdiag.apps.cluster.model import Answer, Wish
from ncdiag.apps.cluster.remote import NONE
from ncdiag.apps.cluster.talk import Talk
from ncdiag.machine.open_files import make_room

_WORDS = 20
_LONGEST = 400
_TICK = 0.2
_CONNECT = 10
"""Seconds for a connection."""
_FILES, _OTHER_FILES = 3, 64
"""Open files for each process, its three pipes, and for everything else."""
_SSH_FAILED = 255
"""The exit status of ssh if the connection failed (ssh(1))."""


def ask(
    hosts: Sequence[str], command: str, wish: Wish, *, local: bool = False, talk: Talk | None = None
) -> list[Answer]:  # fmt: skip
    """Run a command on up to ``wish.fanout`` hosts in parallel; ``local``: run it here, ``%h`` is the host.

    A host in ``wish.here`` is reached without ssh.

    Standard input stays open until all have ended: if this process dies, they see it end. ``talk``: the exchange in the
    meantime; then all run in parallel and end with it.
    """
    task = task_self()
    ear = _Ear(wish, talk)
    if talk is not None:
        talk.begin(hosts)
        wish = msgspec.structs.replace(wish, fanout=len(hosts))
    at_once = min(wish.fanout, len(hosts))
    make_room(_FILES * at_once + _OTHER_FILES, f"querying {at_once} hosts in parallel")
    _set_up(task, wish, local=local)
    try:
        near = [] if local else [host for host in hosts if host in wish.here]
        far = [host for host in hosts if host not in near]
        for names, line, is_near in ((far, command, local), (near, command.replace("%", "%%"), True)):
            if names:
                worker = task.shell(
                    line, nodes=",".join(names), handler=ear, timeout=wish.seconds + _CONNECT, stderr=True, stdin=True,
                    remote=not is_near, tree=False if is_near else None,
                )  # fmt: skip
                ear.hold(worker)
        if talk is not None:
            task.timer(_TICK, ear, interval=_TICK, autoclose=True)
        task.run()
    finally:
        task.abort(kill=True)
    return [ear.answer(host, wish, local=local) for host in hosts]


def _set_up(task: Task, wish: Wish, *, local: bool) -> None:
    for name in ("stdout_msgtree", "stderr_msgtree"):
        task.set_default(name, False)  # noqa: FBT003  (lines are taken as they come)
    task.set_info("fanout", wish.fanout)
    task.set_info("connect_timeout", _CONNECT)
    if wish.options and not local:
        task.set_info("ssh_options", wish.options)
    topology = _topology()
    if topology is not None and not local:
        with contextlib.suppress(TopologyError):  # a tree without this host is not used
            task.load_topology(str(topology))
            task.set_default("auto_tree", True)  # noqa: FBT003


def _topology() -> Path | None:
    """The site's tree of gateways, in the place where clush searches it."""
    folders = (os.environ.get("CLUSTERSHELL_CFGDIR"), "~/.config/clustershell", "~/.local/etc/clustershell",
               "/etc/clustershell")  # fmt: skip
    places = (Path(folder).expanduser() / "topology.conf" for folder in folders if folder)
    return next((place for place in places if place.is_file()), None)


class _Ear(EventHandler):  # type: ignore[misc]  # ClusterShell publishes no types
    """Collects the answers of the hosts."""

    def __init__(self, wish: Wish, talk: Talk | None) -> None:
        self._wish, self._talk = wish, talk
        self._envelopes = talk or Envelopes()
        self._said: dict[str, deque[str]] = defaultdict(lambda: deque(maxlen=_WORDS))
        self._codes: dict[str, int] = {}
        self._late: set[str] = set()
        self._workers: list[Any] = []

    def hold(self, worker: Any) -> None:  # noqa: ANN401
        """Keep the worker, and with it the standard input of its command."""
        self._workers.append(worker)

    def ev_read(self, worker: Any, node: Any, sname: str, msg: bytes) -> None:  # noqa: ANN401, ARG002
        text = msg.decode("utf-8", "replace")
        if not self._envelopes.take(text, str(node)) and text.strip():
            self._said[str(node)].append(text.strip()[:_LONGEST])

    def ev_hup(self, worker: Any, node: Any, rc: int | None) -> None:  # noqa: ANN401, ARG002
        if rc is not None and (self._talk is None or not self._talk.is_over()):  # at its end they are ended from here
            self._codes[str(node)] = rc
            if self._talk is not None:
                self._talk.gone(str(node))
        self._wish.tell(len(self._codes) + len(self._late))

    def ev_timer(self, timer: Any) -> None:  # noqa: ANN401
        """Send what is due, and end the exchange."""
        if self._talk is None:
            return
        word = self._talk.due()
        if word is not None:
            for worker in self._workers:
                worker.write(word)
        if self._talk.is_over():
            timer.invalidate()
            for worker in self._workers:
                worker.abort()

    def ev_close(self, worker: Any, timedout: bool) -> None:  # noqa: ANN401, FBT001
        if timedout:
            self._late.update(map(str, worker.iter_keys_timeout()))

    def answer(self, host: str, wish: Wish, *, local: bool) -> Answer:
        """The answer of a host."""
        if self._envelopes.is_whole(host):
            try:
                return Answer(host, data=self._envelopes.data(host))
            except ValueError as error:
                return Answer(host, problem=str(error))
        said = tuple(text for text in self._said[host] if not text.startswith(NONE))
        return Answer(host, problem=self._problem(host, wish, local=local), said=said)

    def _problem(self, host: str, wish: Wish, *, local: bool) -> str:
        said, code = list(self._said[host]), self._codes.get(host)
        missing = next((text for text in said if text.startswith(NONE)), None)
        if missing is not None:
            return f"it has no{missing.removeprefix(NONE)}"
        if host in self._late:
            return f"it did not answer within {wish.seconds:g} s"
        if self._talk is not None and code is None:
            return self._talk.problem(host)
        last = said[-1] if said else ""
        if code == _SSH_FAILED and not local:
            return f"ssh failed: {last}" if last else "ssh failed"
        if host in self._envelopes.hosts():
            return "its answer stopped in the middle"
        return f"exit status {code}{f': {last}' if last else ''}" if code is not None else "it returned nothing"
