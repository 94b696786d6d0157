"""Lines of `ncdiag.bare.wrap`, in any order and among any others, put together again."""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections import defaultdict

from ncdiag.bare.wrap import MARK

LIMIT = 256 << 20
"""Bytes that the answer of one host may decompress to; a host tells some 50 KB."""

_LINE = re.compile(
    rf"{MARK} (?P<host>[\w.-]+) (?:(?P<number>\d{{1,7}}) (?P<data>[A-Za-z0-9+/=]+)|end (?P<count>\d{{1,7}}))(?!\S)"
)


def apart(line: str) -> list[str]:
    """The lines of envelopes in a line: srun cuts a long line of blanks, and what follows may be another host's."""
    return [found[0] for found in _LINE.finditer(line)]


class Envelopes:
    """Takes lines, and gives each host's data once all of it is there."""

    def __init__(self) -> None:
        """Begin with none."""
        self._pieces: dict[str, dict[int, str]] = defaultdict(dict)
        self._counts: dict[str, int] = {}

    def take(self, line: str, node: str = "") -> bool:
        """Take a line; False for one that is no part of an envelope. ``node`` is who sent it, where that is known."""
        found = list(_LINE.finditer(line))
        for each in found:
            host = node or each["host"]
            if each["count"] is not None:
                self._counts[host] = int(each["count"])
            else:
                self._pieces[host][int(each["number"])] = each["data"]
        return bool(found)

    def hosts(self) -> list[str]:
        """Who sent something, whole or not."""
        return list(dict.fromkeys([*self._pieces, *self._counts]))

    def is_whole(self, host: str) -> bool:
        """Is everything there that the host sent?"""
        return host in self._counts and self._pieces[host].keys() >= set(range(self._counts[host]))

    def data(self, host: str) -> bytes:
        """What a host sent; ValueError when a part is missing or damaged."""
        if not self.is_whole(host):
            msg = "a part of its answer is missing"
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
