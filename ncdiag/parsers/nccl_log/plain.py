"""Lines of RCCL and of network plugins without NCCL's prefix."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from ncdiag.base.patterns import lazy_regex

_LINES = lazy_regex(
    rb"(?:(?P<rccl>(?:HIP|ROCm) version +: [^\n]{1,200}|RCCL version ?:? +\d[^\n]{1,200})"
    rb"|(?P<ofi>(?:WARN|INFO|TRACE): Function: [^\n]{1,100}? Line: \d{1,6}: NET/OFI [^\n]{1,1000})"
    rb"|libfabric:\d{1,10}:[^\n]{0,300}?<(?P<level>warn|info)> (?P<fabric>[^\n|]{1,600}))"
)
_SIGNS = (b"version", b" Line: ", b"libfabric:")
_OFI = lazy_regex(r"(WARN|INFO|TRACE): Function: .{1,100}? Line: \d{1,6}: (.*)", re.DOTALL)


class Plain(msgspec.Struct, frozen=True):
    """A message without prefix: where it begins in its buffer, its level and text, and the line it is on."""

    start: int
    level: str
    text: str
    line: str


def plain_messages(buffer: bytes) -> Iterator[Plain]:
    """The messages of ``buffer`` that RCCL or a plugin printed without NCCL's prefix."""
    if not any(map(buffer.__contains__, _SIGNS)):
        return
    for found in _LINES.finditer(buffer):
        start = buffer.rfind(b"\n", 0, found.start()) + 1
        end = buffer.find(b"\n", found.end())
        line = buffer[start : end if end >= 0 else len(buffer)][:4096].decode("utf-8", "replace")
        before = buffer[start : found.start()]
        if found["ofi"]:
            parts = _OFI.match(found["ofi"].decode("utf-8", "replace"))
            if parts is not None:
                yield Plain(start, "INFO" if parts[1] == "TRACE" else parts[1], parts[2], line)
        elif found["fabric"]:
            yield Plain(start, found["level"].decode().upper(), found["fabric"].decode("utf-8", "replace"), line)
        elif b"NCCL " not in before:
            yield Plain(start, "INFO", found["rccl"].decode("utf-8", "replace"), line)
