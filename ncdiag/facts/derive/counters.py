"""Counters of ports and interfaces that are not 0, as text; they count since the driver was loaded.

The text is empty where all counters that were shown are 0, and None where none of them was shown.
"""

from __future__ import annotations


def raised_counters(counters: dict[str, int] | None, names: tuple[str, ...]) -> str | None:
    """``link_downed 3``: those of these names that are not 0."""
    shown = {name: value for name in names if (value := (counters or {}).get(name)) is not None}
    return ", ".join(f"{name} {value}" for name, value in shown.items() if value > 0) if shown else None
