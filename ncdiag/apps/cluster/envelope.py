"""Reassemble the lines of `ncdiag.agent.wrap`, which arrive in any order and among other lines."""

from __future__ import annotations

import base64
import binascii
import re
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable

from ncdiag.agent.wrap import MARK
from ncdiag.base.patterns import lazy_regex

LIMIT = 256 << 20
"""Maximum size in bytes of a host's decompressed answer; usual are 50 KB."""
_MOST = 64 << 20
"""Maximum number of characters kept of one host."""

_LINE = lazy_regex(
    rf"{MARK} (?P<host>[\w.-]+) (?:(?P<number>\d{{1,7}}) (?P<data>[A-Za-z0-9+/=]+)|end (?P<count>\d{{1,7}}))(?!\S)"
)


def apart(line: str, node: str = "") -> list[tuple[str, str]]:
    """(sender, line) of each envelope line in a line; the sender is ``node``, or as the line says.

    srun cuts a long line of blanks, and what follows may be from another host.
    """
    return [(node or found["host"], found[0]) for found in _LINE.finditer(line)]


class Envelopes:
    """Collects lines, and returns each host's data once it is complete.

    srun and mpirun do not say who sent a line, so that a process may use another host's name. Only requested hosts are
    accepted, and if two different answers have the same name, neither is used. More than 64 MiB of one host are
    ignored.
    """

    def __init__(self, hosts: Iterable[str] | None = None) -> None:
        """``hosts`` are those that were requested, None for any."""
        self._asked = _names(hosts) if hosts is not None else None
        self._doubtful: set[str] = set()
        self._pieces: dict[str, dict[int, str]] = defaultdict(dict)
        self._counts: dict[str, int] = {}
        self._sizes: Counter[str] = Counter()
        self._whole: set[str] = set()

    def take(self, line: str, node: str = "") -> bool:
        """Add a line; False if it is not part of an envelope. ``node`` is the sender, if known."""
        found = list(_LINE.finditer(line))
        for each in found:
            host = self.asked(node or each["host"])
            if host is not None:
                self._put(host, each)
        return bool(found)

    def asked(self, name: str) -> str | None:
        """The requested host with this name, which may be its full name; None if it was not requested."""
        if self._asked is None:
            return name
        return self._asked.get(name) or self._asked.get(name.partition(".")[0])

    def _put(self, host: str, line: re.Match[str]) -> None:
        pieces = self._pieces[host]
        if line["count"] is not None:
            count = int(line["count"])
            fits = self._counts.setdefault(host, count) == count and max(pieces, default=-1) < count
        else:
            number, data = int(line["number"]), line["data"]
            fits = number < self._counts.get(host, sys.maxsize) and pieces.get(number, data) == data
            if fits and number not in pieces:
                self._sizes[host] += len(data)
                if self._sizes[host] <= _MOST:
                    pieces[number] = data
        if not fits:
            self._doubtful.add(host)
        if len(pieces) == self._counts.get(host):
            self._whole.add(host)

    def hosts(self) -> list[str]:
        """The hosts that sent something, complete or not."""
        return list(self._pieces)

    def whole(self) -> int:
        """The number of hosts whose data is complete."""
        return len(self._whole)

    def is_whole(self, host: str) -> bool:
        """True if the data of the host is complete."""
        return host in self._whole

    def data(self, host: str) -> bytes:
        """The data of a host; raises ValueError if a part is missing or damaged, or if another one used its name."""
        if host in self._doubtful:
            msg = "two different answers arrived under its name, so neither is used"
            raise ValueError(msg)
        if not self.is_whole(host):
            msg = "its answer is too long" if self._sizes[host] > _MOST else "part of its answer is missing"
            raise ValueError(msg)
        pieces = self._pieces[host]
        text = "".join(pieces[number] for number in range(self._counts[host]))
        try:
            opened = zlib.decompressobj(zlib.MAX_WBITS | 32)  # zlib's own form, or gzip's
            data = opened.decompress(base64.b64decode(text, validate=True), LIMIT)
        except (binascii.Error, zlib.error) as error:
            msg = f"its answer is damaged: {error}"
            raise ValueError(msg) from None
        if not opened.eof:
            msg = "its answer is damaged or too long"
            raise ValueError(msg)
        return data


def _names(hosts: Iterable[str]) -> dict[str, str]:
    """The names under which hosts may answer: their own, and the first part of it if it is unique."""
    found = {host: host for host in hosts}
    short = Counter(host.partition(".")[0] for host in found)
    return {host.partition(".")[0]: host for host in found if short[host.partition(".")[0]] == 1} | found
