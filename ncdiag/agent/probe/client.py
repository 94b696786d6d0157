"""The client side: tests connections from an address of this host to one of another host."""

import contextlib
import errno
import os
import selectors
import socket
import time
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

from ncdiag.agent.probe.server import BULK, PATIENCE, line_of, taken

_SCAN = 1.3
"""Seconds for ports of a host after one was tried: a lost first packet is sent again after 1 s."""
_SHORT, _ENOUGH = 0.6, 3
"""A shorter limit in seconds, used after an interface was silent this many times in a row."""
_ROUNDS = 3
_ARRIVED, _LOST = "256 KiB arrived", "256 KiB did not arrive"
_WORDS = {
    errno.ECONNREFUSED: "refused", errno.EHOSTUNREACH: "no route to host", errno.ENETUNREACH: "network unreachable",
    errno.EPERM: "not permitted", errno.EACCES: "not permitted", errno.ECONNRESET: "reset",
}  # fmt: skip


class Asker:
    """Connects to the agents of other hosts, one connection at a time."""

    def __init__(self, secret: str, names: Mapping[str, str]) -> None:
        """``names`` maps tokens to hosts."""
        self._secret, self._names = secret, names
        self._silences: Dict[str, int] = {}

    def link(self, address: str, target: Mapping[str, Any], host: str) -> List[str]:
        """Phrases on the path from an own address to an interface of a host: what works, and what does not."""
        at, port, rest = target["address"], target["ports"][0], target["ports"][1:]
        connection, took, words = self._connected(address, at, port)
        answers = scan(address, at, rest, _SCAN if connection or not self._is_silent(address) else _SHORT)
        closed = [one for one in rest if answers.get(one) != "connected"]
        if connection is None and len(closed) < len(rest):
            closed.append(port)
            port = next(one for one in rest if one not in closed)
            connection, took, words = self._connected(address, at, port)
        if connection is None:
            return [words]
        with connection:
            found = ["connected {:.2f} ms".format(took * 1000), *self._talk(connection, address, host)]
        if found[-1] in {_ARRIVED, _LOST}:
            found[-1] = self._both(found[-1], address, at, port)
            shut = ", closed {}".format(" ".join(map(str, sorted(closed)))) if closed else ""
            found.append("{} of {} ports{}".format(1 + len(rest) - len(closed), 1 + len(rest), shut))
        return found

    def call(
        self, address: str, target: Mapping[str, Any], host: str, word: str, patience: float
    ) -> Tuple[Optional[socket.socket], str]:
        """(connection from an own address to an agent, its answer to ``word``), or (None, reason)."""
        connection, _, words = self._connected(address, target["address"], target["ports"][0])
        if connection is None:
            return None, words
        try:
            connection.sendall("{}\n".format(self._secret).encode())
            if self._names.get(line_of(connection).partition(" ")[0]) == host:
                connection.settimeout(patience)
                connection.sendall("{}\n".format(word).encode())
                return connection, line_of(connection, patience)
            words = "another host answers"
        except OSError:
            words = "connected, and no word came back"
        connection.close()
        return None, words

    def reach(self, address: str, port: int) -> str:
        """A phrase on what a port of another program answers."""
        connection, took, words = self._connected("", address, port)
        if connection is None:
            return words
        connection.close()
        return "connected {:.2f} ms".format(took * 1000)

    def is_agent(self, address: str, port: int) -> bool:
        """True if an agent of this probe listens on the port."""
        connection, _, _ = self._connected("", address, port)
        if connection is None:
            return False
        with connection, contextlib.suppress(OSError):
            connection.sendall("{}\n".format(self._secret).encode())
            return line_of(connection).partition(" ")[0] in self._names
        return False

    def _connected(self, source: str, at: str, port: int) -> Tuple[Optional[socket.socket], float, str]:
        """(connection, seconds that it took, "") or (None, seconds, reason)."""
        limit = _SHORT if self._is_silent(source) else PATIENCE
        made = socket.socket(socket.AF_INET6 if ":" in at else socket.AF_INET, socket.SOCK_STREAM)
        began = time.monotonic()
        try:
            made.settimeout(limit)
            if source:
                made.bind((source, 0))
            made.connect((at, port))
        except OSError as error:
            made.close()
            words = worded(error, limit)
            self._heard(source, heard=not words.startswith("no answer"))
            return None, 0.0, words
        self._heard(source, heard=True)
        made.settimeout(PATIENCE)
        return made, time.monotonic() - began, ""

    def _talk(self, connection: socket.socket, address: str, host: str) -> List[str]:
        """Phrases on who answers, which address it sees, the difference of its clock, and if bulk data arrives."""
        try:
            connection.sendall("{}\n".format(self._secret).encode())
            token, _, seen = line_of(connection).partition(" ")
        except OSError:
            return ["but silent"]
        if token not in self._names:
            return ["another program answered" if token else "but hung up"]
        if self._names[token] != host:
            return ["{} answered".format(self._names[token])]
        found = ["seen as {}".format(seen)] if seen and seen != address else []
        try:
            found.append("clock {:+.4f} s".format(clock(connection)))
            connection.settimeout(self._time_for_bulk(address))
            connection.sendall(b"take\n")
            connection.sendall(bytes(BULK))
            arrived = line_of(connection) == str(BULK)
        except (OSError, ValueError):
            arrived = False
        self._heard(address + "bulk", heard=arrived)
        return [*found, _ARRIVED if arrived else _LOST]

    def _both(self, there: str, address: str, at: str, port: int) -> str:
        """A phrase on large data in both directions, with the answer of a second connection."""
        back = False
        connection, _, _ = self._connected(address, at, port)
        if connection is None:  # perhaps a filter of the source ports: it says nothing about large messages
            return there
        with connection, contextlib.suppress(OSError):
            connection.sendall("{}\n".format(self._secret).encode())
            line_of(connection)
            limit = self._time_for_bulk(address)
            connection.settimeout(limit)
            connection.sendall(b"give\n")
            back = taken(connection, time.monotonic() + limit) == BULK
        self._heard(address + "bulk", heard=back)
        if there == _ARRIVED:
            return "256 KiB both ways" if back else "256 KiB did not come back"
        return _LOST if back else "256 KiB in neither direction"

    def _time_for_bulk(self, address: str) -> float:
        return 2 * _SHORT if self._is_silent(address + "bulk") else PATIENCE

    def _is_silent(self, source: str) -> bool:
        return self._silences.get(source, 0) >= _ENOUGH

    def _heard(self, source: str, *, heard: bool) -> None:
        self._silences[source] = 0 if heard else self._silences.get(source, 0) + 1


def clock(connection: socket.socket) -> float:
    """Seconds by which the clock there is ahead: from the question that was answered fastest."""
    found = []
    for _ in range(_ROUNDS):
        before = time.time()
        began = time.monotonic()
        connection.sendall(b"time\n")
        there = float(line_of(connection))
        took = time.monotonic() - began
        found.append((took, there - before - took / 2))
    return min(found)[1]


def scan(source: str, at: str, ports: Iterable[int], limit: float) -> Dict[int, str]:
    """The answer of each port, all tried in parallel."""
    found, ends = {}, time.monotonic() + limit
    with selectors.DefaultSelector() as waiting:
        for port in ports:
            made = socket.socket(socket.AF_INET6 if ":" in at else socket.AF_INET, socket.SOCK_STREAM)
            made.settimeout(0)
            try:
                made.bind((source, 0))
                code = made.connect_ex((at, port))
            except OSError as error:
                code = error.errno or errno.EINVAL
            if code in {0, errno.EINPROGRESS}:
                waiting.register(made, selectors.EVENT_WRITE, port)
            else:
                found[port] = _worded(code)
                made.close()
        while waiting.get_map() and time.monotonic() < ends:
            for key, _ in waiting.select(max(0.0, ends - time.monotonic())):
                code = key.fileobj.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)  # type: ignore[union-attr]
                found[key.data] = _worded(code) if code else "connected"
                waiting.unregister(key.fileobj)
                key.fileobj.close()  # type: ignore[union-attr]
        for key in list(waiting.get_map().values()):
            found[key.data] = "no answer"
            key.fileobj.close()  # type: ignore[union-attr]
    return found


def worded(error: OSError, limit: float) -> str:
    """An error of connect(2) as a phrase."""
    if isinstance(error, socket.timeout) or error.errno == errno.ETIMEDOUT:
        return "no answer in {:g} s".format(limit)
    return _worded(error.errno or errno.EINVAL)


def _worded(code: int) -> str:
    return _WORDS.get(code) or "failed: {}".format(os.strerror(code).replace(",", ""))
