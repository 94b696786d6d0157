"""Settings as the selection functions take them, and their numeric values."""

from __future__ import annotations

from collections.abc import Mapping

from ncdiag.facts.scalars import Version
from ncdiag.nccl.environment import variables
from ncdiag.nccl.numbers import parse_number

Settings = Mapping[str, str | None]
"""Variables that are set, by name; None means unknown whether the variable is set. All others are unset."""


def number(settings: Settings, name: str, version: Version) -> int | None:
    """Return a numeric variable as NCCL reads it, or the default of the version; None when it is not known."""
    text = settings.get(name, "")
    if text is None:
        return None
    default = variables()[name].default_at(version)
    read = parse_number(text)
    return read if read is not None else default if isinstance(default, int) else 0
