"""Lists of device names, as in NCCL_SOCKET_IFNAME, NCCL_IB_HCA and NCCL_OOB_NET_IFNAME."""

from __future__ import annotations

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.scalars import Version
from ncdiag.nccl import versions

MAX_NAMES = 16
"""The number of items that NCCL reads (MAX_IFS in src/include/socket.h; MAX_IB_DEVS was 16 up to 2.18.3, then 32)."""

_DIGITS = lazy_regex(r"\s*([-+]?\d{1,9})")


class Item(msgspec.Struct, frozen=True):
    """One name in a list; ``port`` None matches every port."""

    name: str
    port: int | None = None

    def __str__(self) -> str:
        return self.name if self.port is None else f"{self.name}:{self.port}"


class NameList(msgspec.Struct, frozen=True):
    """A parsed list: one ``^`` (exclude) and one ``=`` (exact names) for all, then names or prefixes.

    Source: parseStringList and matchIfList, src/misc/utils.cc:189-245 (v2.30.7-1); the ``=`` since 2.5.6.
    """

    text: str
    exclude: bool
    exact: bool
    items: tuple[Item, ...]

    @classmethod
    def parse(cls, text: str, version: Version, limit: int = MAX_NAMES) -> NameList:
        """Parse a list. Blanks, quotes and further ``^`` or ``=`` belong to the names; empty items are skipped."""
        rest = text
        exclude = rest.startswith("^")
        rest = rest[exclude:]
        exact = version >= versions.EXACT_NAMES and rest.startswith("=")
        rest = rest[exact:]
        items: list[Item] = []
        for part in rest.split(","):
            name, _, port = part.partition(":")
            if name and len(items) < limit:
                items.append(Item(name, _port(port)))
        return cls(text, exclude, exact, tuple(items))

    def matching(self, name: str, port: int | None = None) -> Item | None:
        """Return the first item that the name matches, regardless of ``^``; None without one."""
        for item in self.items:
            fits = name == item.name if self.exact else name.startswith(item.name)
            if fits and (port is None or item.port is None or port == item.port):
                return item
        return None

    def admits(self, name: str, port: int | None = None) -> bool:
        """Does the list allow the name? An empty list matches every name, so that ``^`` alone allows none."""
        fits = not self.items or self.matching(name, port) is not None
        return fits != self.exclude


def _port(text: str) -> int | None:
    """The port number after the colon, by C's atoi; -1 and an empty text mean every port."""
    number = text.split(":", 1)[0]
    if not number:
        return None
    found = _DIGITS.match(number)
    port = int(found[1]) if found else 0
    return None if port == -1 else port
