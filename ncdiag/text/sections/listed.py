"""Put a list of NCCL back on the line that begins it, where a person, or a page, put each of its entries on one."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.text.sections.line import Line

_ENTRY = lazy_regex(
    r"\s*\[\d{1,2}\]\s?(?:[\w.@-]{1,32}:[0-9A-Fa-f.:]{2,45}(?:%[\w.@-]{1,32})?<\d{1,5}>|[\w.+-]{1,64}:\d{1,2}/(?:IB|RoCE))"
)
"""``[1]br-0:172.19.0.1<0>`` of NET/Socket, ``[0]mlx5_0:1/RoCE`` of NET/IB."""
_HEAD = lazy_regex(r"NET/\w{1,16}\s?:\s?Using\s*$|NET/\w{1,16}\s?:\s?Using\s.{0,4000}(?:<\d{1,5}>|/(?:IB|RoCE))\s*$")
_MOST = 64


def rejoined(lines: Sequence[Line]) -> list[Line]:
    """The lines with such lists joined; a joined line has the number of its first part."""
    found: list[Line] = []
    entries = 0
    for line in lines:
        if found and entries < _MOST and _ENTRY.match(line.text) and _HEAD.search(found[-1].text):
            found[-1] = msgspec.structs.replace(found[-1], text=f"{found[-1].text.rstrip()} {line.text.strip()}")
            entries += 1
        else:
            found.append(line)
            entries = 0
    return found
