"""The server side: listens on each address and on ports spread over the range, and identifies itself.

A caller must first send the secret of this probe, else the connection is closed. Connections last at most some
seconds, and their number is limited.
"""

import contextlib
import random
import secrets
import selectors
import socket
import threading
import time
from typing import Dict, Iterable, List, Optional, Tuple

from ncdiag.agent.probe.bandwidth import Receiver

BULK = 256 << 10
"""Bytes sent in each direction: many packets of the largest Ethernet size."""
PATIENCE = 2.5
"""Seconds for an answer: the kernel sends a lost first packet again after 1 s (RFC 6298)."""
_PARTS, _TRIES = 4, 20
_MOST_CALLERS = 64
_LINE = 512
_LONGEST = 4 * PATIENCE


class Server:
    """Listens on ports as requested, and answers once it knows the secret, for which a caller waits a moment."""

    def __init__(self) -> None:
        """Not listening yet."""
        self._secret = ""
        self._told = threading.Event()
        self.token = secrets.token_hex(8)
        self.refused: Dict[int, str] = {}
        self.receiver: Optional[Receiver] = None
        self._listening = selectors.DefaultSelector()
        self._room = threading.BoundedSemaphore(_MOST_CALLERS)

    def listen(self, address: str, ports: Tuple[int, int], *, within: bool) -> List[int]:
        """Listen on an address: on a port chosen by the kernel, and on one in each part of the range.

        ``within``: the first port must be in the range, too.
        """
        step = max(1, (ports[1] - ports[0] + 1) // _PARTS)
        begins = [ports[0] + part * step for part in range(_PARTS)]
        found = [self._in_range(address, ports[0], ports[1] + 1) if within else self._bound(address, 0)]
        found += [self._in_range(address, begin, min(begin + step, ports[1] + 1)) for begin in begins]
        return [port for port in found if port]

    def _in_range(self, address: str, begin: int, end: int) -> Optional[int]:
        for _ in range(_TRIES):
            port = self._bound(address, random.randrange(begin, end)) if begin < end else None  # noqa: S311
            if port:
                return port
        return None

    def declared(self, ports: Iterable[int]) -> List[int]:
        """Listen on these ports of all addresses, if possible; reasons of failures are stored in ``refused``."""
        return [port for port in ports if self._bound("", port)]

    def _bound(self, address: str, port: int) -> Optional[int]:
        bound = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        try:
            # as the programs of a job do: connections of a program that has just ended do not prevent it
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1 if port else 0)
            bound.bind((address, port))
            bound.listen(_MOST_CALLERS)
        except (OSError, OverflowError) as error:
            bound.close()
            if not address:
                self.refused[port] = (getattr(error, "strerror", None) or str(error)).lower()
            return None
        self._listening.register(bound, selectors.EVENT_READ)
        return int(bound.getsockname()[1])

    def tell(self, secret: str) -> None:
        """Set the secret that callers must send."""
        self._secret = secret
        self._told.set()

    def serve(self) -> None:
        """Answer callers forever, in a separate thread."""
        while True:
            for key, _ in self._listening.select():
                caller = None
                with contextlib.suppress(OSError):
                    caller, place = key.fileobj.accept()  # type: ignore[union-attr]
                    if self._room.acquire(blocking=False):
                        threading.Thread(target=self._one, args=(caller, place[0]), daemon=True).start()
                        caller = None
                if caller is not None:
                    caller.close()

    def _one(self, caller: socket.socket, address: str) -> None:
        try:
            with caller, contextlib.suppress(OSError, ValueError):
                caller.settimeout(PATIENCE)
                self._talk(caller, address)
        finally:
            self._room.release()

    def _talk(self, caller: socket.socket, address: str) -> None:
        ends = time.monotonic() + _LONGEST
        shown = line_of(caller)
        if not self._told.wait(PATIENCE) or shown != self._secret:
            return
        caller.sendall("{} {}\n".format(self.token, address).encode())
        while time.monotonic() < ends:
            word = line_of(caller)
            if word == "time":
                caller.sendall("{:.6f}\n".format(time.time()).encode())
            elif word == "take":
                caller.sendall("{}\n".format(taken(caller, ends)).encode())
            elif word == "give":
                caller.sendall(bytes(BULK))
            elif word.startswith("carry ") and self.receiver is not None:
                self.receiver.serve(caller, word.split()[1:])
                return
            else:
                return


def line_of(connection: socket.socket, patience: float = 0.0) -> str:
    """The next line; of a slow one, what arrived in time; empty if there is none. Raises OSError."""
    data, ends = bytearray(), time.monotonic() + patience + _LONGEST
    while len(data) < _LINE and time.monotonic() < ends:
        byte = connection.recv(1)
        if not byte or byte == b"\n":
            break
        data += byte
    return data.decode("ascii", "replace")


def taken(connection: socket.socket, ends: float) -> int:
    """The number of bytes, out of ``connection``'s bulk data, that arrived before ``ends``. Raises OSError."""
    count = 0
    while count < BULK and time.monotonic() < ends:
        data = connection.recv(min(1 << 16, BULK - count))
        if not data:
            break
        count += len(data)
    return count
