"""Lines as programs printed them, out of what containers and Ray made of them on their way.

Docker's json-file driver wraps each line in an object of JSON with ``log``, ``stream`` and ``time`` (moby
daemon/logger/jsonfilelog), and escapes ``<``, ``>`` and ``&`` in it. Ray shows lines that differ in their numbers
alone once, with ``[repeated 7x across cluster]`` behind them (ray python/ray/_private/ray_logging).
"""

from __future__ import annotations

import re

import msgspec

_BEGIN = b'{"log":"'
_REPEATED = re.compile(rb" \[repeated (\d{1,9})x across cluster\][^\n]{0,400}")
_REPEATED_SIGN = b"x across cluster]"


class _Record(msgspec.Struct):
    log: str
    stream: str
    time: str = ""


_decode = msgspec.json.Decoder(_Record).decode


def unpacked(buffer: bytes) -> bytes:
    """Each record as a line in the form of the Kubernetes runtimes: ``2025-01-01T00:00:00.5Z stdout F text``.

    As many lines as before; what is no such record stays as it is.
    """
    if b"{" not in buffer or (not buffer.startswith(_BEGIN) and b"\n" + _BEGIN not in buffer):
        return buffer
    return b"\n".join([_line(line) if line.startswith(_BEGIN) else line for line in buffer.split(b"\n")])


def _line(record: bytes) -> bytes:
    try:
        told = _decode(record)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return record
    text = f"{told.time} {told.stream} F {told.log.rstrip()}"
    return " ".join(text.splitlines()).encode("utf-8", "replace")


def without_repeats(buffer: bytes) -> tuple[bytes, int]:
    """The buffer without Ray's remarks, and how many lines Ray left out."""
    if _REPEATED_SIGN not in buffer:
        return buffer, 0
    left_out = sum(int(found[1]) for found in _REPEATED.finditer(buffer))
    return _REPEATED.sub(b"", buffer), left_out
