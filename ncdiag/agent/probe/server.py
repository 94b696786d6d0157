"""The answering side: listens on each address and on ports spread over the range, and says who it is.

A caller shows the secret of this probe first; who does not is hung up on. A connection lasts some seconds at most, and
so many are served at once.
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
"""Bytes that are sent in each direction: many packets of any size that Ethernet has."""
PATIENCE = 2.5
"""Seconds for an answer: the kernel sends a first packet that was lost again after 1 s (RFC 6298)."""
_PARTS, _TRIES = 4, 20
_MOST_CALLERS = 64
_LINE = 512
_LONGEST = 4 * PATIENCE


class Server:
    """Listens from the moment it is made; answers once it is told the secret, for which a caller waits a moment."""

    def __init__(self) -> None:
        """Listen nowhere yet."""
        self._secret = ""
        self._told = threading.Event()
        self.token = secrets.token_hex(8)
        self.refused: Dict[int, str] = {}
        self.receiver: Optional[Receiver] = None
        self._listening = selectors.DefaultSelector()
        self._room = threading.BoundedSemaphore(_MOST_CALLERS)

    def listen(self, address: str, ports: Tuple[int, int], *, within: bool) -> List[int]:
        """Listen on an address: the first port is one that the kernel chose, the others one in each part of the range.

        ``within``: the first one, too, has to be in the range.
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
        """Listen on these ports of all addresses, as far as that is possible: why it is not is in ``refused``."""
        return [port for port in ports if self._bound("", port)]

    def _bound(self, address: str, port: int) -> Optional[int]:
        bound = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        try:
            # as the programs of a job do: connections of one that has just ended are in nobody's way
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
        """The secret that callers have to show."""
        self._secret = secret
        self._told.set()

    def serve(self) -> None:
        """Answer callers for ever, in a thread of its own."""
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
    """The next line, of one that comes too slowly what came in time; empty when there is none. Raises OSError."""
    data, ends = bytearray(), time.monotonic() + patience + _LONGEST
    while len(data) < _LINE and time.monotonic() < ends:
        byte = connection.recv(1)
        if not byte or byte == b"\n":
            break
        data += byte
    return data.decode("ascii", "replace")


def taken(connection: socket.socket, ends: float) -> int:
    """How many of so many bytes came until then. Raises OSError."""
    count = 0
    while count < BULK and time.monotonic() < ends:
        data = connection.recv(min(1 << 16, BULK - count))
        if not data:
            break
        count += len(data)
    return count
