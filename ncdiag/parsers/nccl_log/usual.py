"""The usual line: the prefix of a process and one INFO message, with nothing around them.

Each process of a job prints the same messages behind a prefix of its own. Whether a prefix and a message are usual is
found out once for each, so that such a line costs two look-ups.
"""

from __future__ import annotations

import functools

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.nccl_log.lines import interesting
from ncdiag.parsers.nccl_log.plain import plain_messages
from ncdiag.parsers.nccl_log.prefix import Prefix, parse_prefix
from ncdiag.parsers.nccl_log.reading import Reading, read

INFO = b"NCCL INFO "
"""What is between the two."""
MESSAGES, PREFIXES = 4096, 1 << 13
"""Messages and prefixes that are remembered: a process of a job has some prefixes of its own."""
PREFIX_LIMIT = 2000
"""Bytes in which a prefix is looked for."""

_TWICE = b"NCCL version "
"""The message that names NCCL once more."""
_ODD = lazy_regex(rb"CCL |version|Line: |Function: |libfabric:|NET/OFI")
"""What comes before a prefix where a line holds more than one message, or may."""


class Messages:
    """Reads messages; those that several processes print alike are read once."""

    def __init__(self) -> None:
        """Remember nothing."""
        self._readings: dict[tuple[str, str, str | None], Reading] = {}
        self._usual: dict[bytes, Reading | None] = {}

    def read(self, message: str, level: str, file: str | None) -> Reading:
        """What any message tells."""
        place = message, level, file
        reading = self._readings.get(place)
        if reading is None:
            reading = read(message, level, file)
            if len(self._readings) >= MESSAGES:
                self._readings.clear()
            self._readings[place] = reading
        return reading

    def usual(self, message: bytes) -> Reading | None:
        """What an INFO message tells; None where it is not usual: the line has to be looked at as a whole."""
        try:
            return self._usual[message]
        except KeyError:
            reading = read(message.decode("ascii"), "INFO") if _is_usual(message) else None
        if reading is None or reading.init is None:  # the lines of communicators are of one process each
            if len(self._usual) >= MESSAGES:
                self._usual.clear()
            self._usual[message] = reading
        return reading


def _is_usual(message: bytes) -> bool:
    """Is it one message, in full, that tells something and is not counted in other ways?"""
    alone = b"CCL " not in message.removeprefix(_TWICE) and not any(plain_messages(message))
    return (
        alone and message.isascii() and not message.startswith(b"Coll")
        and interesting().match(INFO + message) is not None
    )  # fmt: skip


@functools.lru_cache(PREFIXES)
def prefix_of(before: bytes) -> Prefix:
    """What is on a line before ``NCCL``, of any form; the last `PREFIX_LIMIT` bytes of it are enough."""
    return parse_prefix(before.decode("utf-8", "replace"))


@functools.lru_cache(PREFIXES)
def usual_prefix(before: bytes) -> Prefix | None:
    """The same, where it names a process and nothing else is there but words of launchers."""
    if not before.isascii() or _ODD.search(before):
        return None
    prefix = prefix_of(before)
    return prefix if prefix.host is not None and prefix.file is None else None
