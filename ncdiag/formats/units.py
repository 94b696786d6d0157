"""Parse sizes as tools print them, and units of time as programs and people write them."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex

_SIZE = lazy_regex(r"(\d{1,18})(?:[.,](\d{1,6}))?\s?([KMGTPE]?)(?:i?B)?$", re.IGNORECASE)


def size_bytes(text: str, unit: int = 1, step: int = 1024) -> int | None:
    """Bytes of ``64M``, ``1.9T``, ``2gb``; a number without a suffix counts ``unit`` bytes. None if it is not a size.

    Suffixes are powers of ``step``: 1024 for GNU df -h and Docker's --shm-size, 1000 for df -H.
    """
    found = _SIZE.match(text.strip())
    if not found:
        return None
    value = float(f"{found[1]}.{found[2]}") if found[2] else int(found[1])
    factor = step ** ("KMGTPE".index(found[3].upper()) + 1) if found[3] else unit
    return int(value * factor)


_CPUS = lazy_regex(r"(\d{1,6}(?:\.\d{1,6})?)(m?)$")


def cpu_quantity(text: str | None) -> float | None:
    """Processors in ``2``, ``1.5`` or Kubernetes' ``500m``; None for 0 (no limit) and if it is not a number."""
    found = _CPUS.match((text or "").strip("\"' "))
    return round(float(found[1]) / (1000 if found[2] else 1), 2) or None if found else None


def unit_seconds(unit: str) -> float:
    """Seconds of one ``ms``, ``s``, ``min`` or ``hours``, in English and Chinese; ``m`` is a minute."""
    unit = unit.lower()
    if unit.startswith(("ms", "milli")):
        return 0.001
    return 3600 if unit.startswith(("h", "\u4e2a", "\u5c0f")) else 60 if unit.startswith(("m", "\u5206")) else 1
