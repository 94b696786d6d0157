"""Lines of `ncdiag.agent.wrap`, in any order and among any others, put together again."""

from __future__ import annotations

import base64
import binascii
import re
import sys
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable

from ncdiag.agent.wrap import MARK

LIMIT = 256 << 20
"""Bytes that the answer of one host may decompress to; a host tells some 50 KB."""
_MOST = 64 << 20
"""Characters of one host that are kept."""

_LINE = re.compile(
    rf"{MARK} (?P<host>[\w.-]+) (?:(?P<number>\d{{1,7}}) (?P<data>[A-Za-z0-9+/=]+)|end (?P<count>\d{{1,7}}))(?!\S)"
)


def apart(line: str, node: str = "") -> list[tuple[str, str]]:
    """The lines of envelopes in a line, each after its sender: ``node``, or who it says that it is.

    srun cuts a long line of blanks, and what follows may be another host's.
    """
    return [(node or found["host"], found[0]) for found in _LINE.finditer(line)]


class Envelopes:
    """Takes lines, and gives each host's data once all of it is there.

    srun and mpirun do not say who sent a line, so that a process may send one in the name of another host. Only hosts
    that were asked are heard, and where two different answers come in one name, neither counts. More than 64 MiB of one
    host are passed over.
    """

    def __init__(self, hosts: Iterable[str] | None = None) -> None:
        """Begin with none; ``hosts`` are those that were asked, None for any."""
        self._asked = _names(hosts) if hosts is not None else None
        self._doubtful: set[str] = set()
        self._pieces: dict[str, dict[int, str]] = defaultdict(dict)
        self._counts: dict[str, int] = {}
        self._sizes: Counter[str] = Counter()
        self._whole: set[str] = set()

    def take(self, line: str, node: str = "") -> bool:
        """Take a line; False for one that is no part of an envelope. ``node`` is who sent it, where that is known."""
        found = list(_LINE.finditer(line))
        for each in found:
            host = self.asked(node or each["host"])
            if host is not None:
                self._put(host, each)
        return bool(found)

    def asked(self, name: str) -> str | None:
        """The host that was asked and calls itself so, be it by its full name; None for who was not."""
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
        """Who sent something, whole or not."""
        return list(self._pieces)

    def whole(self) -> int:
        """How many hosts sent all that they have."""
        return len(self._whole)

    def is_whole(self, host: str) -> bool:
        """Is everything there that the host sent?"""
        return host in self._whole

    def data(self, host: str) -> bytes:
        """What a host sent; ValueError when a part is missing or damaged, or somebody else answered in its name."""
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
    """The names under which hosts may answer: their own, and the first part of it where it means one of them alone."""
    found = {host: host for host in hosts}
    short = Counter(host.partition(".")[0] for host in found)
    return {host.partition(".")[0]: host for host in found if short[host.partition(".")[0]] == 1} | found
