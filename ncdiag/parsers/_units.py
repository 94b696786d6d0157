"""Sizes as tools print them."""

from __future__ import annotations

import re

_SIZE = re.compile(r"(\d{1,18})(?:[.,](\d{1,6}))?\s?([KMGTPE]?)(?:i?B)?$", re.IGNORECASE)
_STEP = 1024


def size_bytes(text: str, unit: int = 1) -> int | None:
    """Bytes of ``64M``, ``1.9T``, ``2gb``; a number without a suffix counts ``unit`` bytes. None when it is no size.

    Suffixes are powers of 1024 (GNU df -h, Docker --shm-size); df -H prints powers of 1000 and cannot be told apart.
    """
    found = _SIZE.match(text.strip())
    if not found:
        return None
    value = float(f"{found[1]}.{found[2]}") if found[2] else int(found[1])
    factor = _STEP ** "KMGTPE".index(found[3].upper()) * _STEP if found[3] else unit
    return int(value * factor)
