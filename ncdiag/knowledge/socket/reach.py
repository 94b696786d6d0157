"""To which of the addresses of its peers a host can send, computed for all addresses together.

A job of a thousand hosts has a million pairs, so pairs are not checked individually.
"""

from __future__ import annotations

import functools
import ipaddress
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ncdiag.facts.model import Interface, Rank

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
DEFAULT = "default"


class Waiting(NamedTuple):
    """A host that listens at an address, with the fact and field that show it."""

    host: str
    fact: Rank | Interface
    field: str


class Meeting:
    """All addresses at which hosts of a job listen for others."""

    def __init__(self, waiting: Mapping[str, Sequence[Waiting]]) -> None:
        """Index the addresses; ``waiting`` has the hosts that listen at each, in order of precedence."""
        self.waiting = waiting
        self.hosts = {each.host for found in waiting.values() for each in found}
        order: dict[int, list[tuple[int, str]]] = defaultdict(list)
        for text in waiting:
            try:
                address = ipaddress.ip_address(text)
            except ValueError:
                continue
            order[address.version].append((int(address), text))
        self._sorted = {version: sorted(found) for version, found in order.items()}
        self._place = {text: number for number, text in enumerate(waiting)}

    def lost(self, networks: Iterable[tuple[str, bool]]) -> list[str]:
        """Return the addresses to which nothing can be sent, in their order.

        ``networks`` are those that a host knows, each with whether packets to it are refused. The smallest network that
        contains an address decides, and an address in none of them is lost.
        """
        known = list(networks)
        lost: list[str] = []
        for version, addresses in self._sorted.items():
            every = "0.0.0.0/0" if version == 4 else "::/0"  # noqa: PLR2004
            spans = sorted(
                (network.prefixlen, not refuses, int(network.network_address), int(network.broadcast_address))
                for text, refuses in known
                if (network := parsed(every if text == DEFAULT else text)) is not None and network.version == version
            )
            sends = bytearray(len(addresses))
            for _, passes, lowest, highest in spans:  # the largest first, so that smaller ones overwrite it
                first = bisect_left(addresses, (lowest, ""))
                end = bisect_right(addresses, (highest, "\U0010ffff"))
                sends[first:end] = bytes([passes]) * max(0, end - first)
            if not all(sends):
                lost += [text for (_, text), sent in zip(addresses, sends, strict=True) if not sent]
        return sorted(lost, key=self._place.__getitem__)

    def other(self, address: str, host: str) -> Waiting | None:
        """Return who listens at an address, other than the host itself."""
        return next((each for each in self.waiting[address] if each.host != host), None)


@functools.lru_cache(maxsize=1 << 14)
def parsed(text: str) -> Network | None:
    """Return the network of a text, ignoring bits after the prefix; None for a text that is not one."""
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        return None
