"""An exchange with many hosts: each reports its properties, receives those of the others, and returns its results."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence

from ncdiag.apps.cluster.envelope import Envelopes, apart


class Talk:
    """Two envelopes from each host, and one message to all of them in between.

    ``compose`` makes the message from the first envelopes, by host. It is due when all hosts have reported or are gone,
    or after ``wait`` seconds; ``seconds`` later nothing more is expected.
    """

    def __init__(self, compose: Callable[[Mapping[str, bytes]], bytes], *, wait: float, seconds: float) -> None:
        """No host has reported yet."""
        self._compose, self._wait, self._seconds = compose, wait, seconds
        self._first, self._second = Envelopes(), Envelopes()
        self._heard: dict[str, bytes] = {}
        self._expected: set[str] = set()
        self._gone: set[str] = set()
        self._told: set[str] = set()
        self._began = time.monotonic()
        self._spoke: float | None = None

    def begin(self, hosts: Sequence[str]) -> None:
        """The hosts are contacted now; lines of other hosts are ignored."""
        self._expected = set(hosts)
        self._first, self._second = Envelopes(hosts), Envelopes(hosts)
        self._began = time.monotonic()

    def take(self, line: str, node: str = "") -> bool:
        """Add a line, as `Envelopes` does: to the first envelope of a host until it is complete."""
        found = apart(line, node)
        for name, one in found:
            host = self._first.asked(name)
            if host is None:
                continue
            if self._first.is_whole(host):
                self._second.take(one, node)
                continue
            self._first.take(one, node)
            if self._first.is_whole(host):
                with contextlib.suppress(ValueError):  # a damaged one takes no part
                    self._heard[host] = self._first.data(host)
        return bool(found)

    def gone(self, host: str) -> None:
        """Nothing more is expected from a host."""
        self._gone.add(host)

    def due(self) -> bytes | None:
        """The message, returned once, when it is due."""
        if self._spoke is not None:
            return None
        ready = self._heard.keys() - self._gone
        if len(ready) + len(self._gone) < len(self._expected) and time.monotonic() < self._began + self._wait:
            return None
        self._spoke, self._told = time.monotonic(), ready
        return self._compose({host: self._heard[host] for host in sorted(ready)})

    def is_over(self) -> bool:
        """True if nothing more is expected."""
        if self._spoke is None:
            return False
        open_ = [host for host in self._told - self._gone if not self._second.is_whole(host)]
        return not open_ or time.monotonic() > self._spoke + self._seconds

    def problem(self, host: str) -> str:
        """Why a host gave no answer, as part of a sentence."""
        if host in self._told:
            return f"it did not return its results within {self._seconds:g} s"
        return f"it did not answer within {self._wait:g} s"

    def hosts(self) -> list[str]:
        """The hosts that returned something, complete or not."""
        return self._second.hosts()

    def whole(self) -> int:
        """The number of hosts that returned all results."""
        return self._second.whole()

    def is_whole(self, host: str) -> bool:
        """True if the results of the host are complete."""
        return self._second.is_whole(host)

    def data(self, host: str) -> bytes:
        """The results of a host; raises ValueError if a part is missing or damaged."""
        return self._second.data(host)
