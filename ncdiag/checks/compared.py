"""The items that are compared, from ``compared.toml``; its head explains the keys."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Literal

import msgspec

from ncdiag.base import compiled
from ncdiag.base.severity import Weight

TABLE = Path(__file__).with_name("compared.toml")

How = Literal["each", "counted", "distinct", "names"]


class Item(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One property by which hosts, or runs (``run``), are compared."""

    what: str
    weight: Weight
    of: Literal["", "gpus", "hcas", "ports", "interfaces", "limits", "services", "modules"] = ""
    value: str = ""
    read: str = ""
    how: How = "each"
    run: bool = False
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    where: str = ""
    words: dict[str, str] = {}
    unit: str = ""
    absent: str = ""
    seen_with: str = ""
    tolerance: float = 0.0
    why: str = ""
    rules: tuple[str, ...] = ()


class Book(msgspec.Struct, frozen=True):
    """All items; those of equal weight are shown in this order."""

    item: tuple[Item, ...]


def build() -> Book:
    """Read the table from TOML."""
    from ncdiag.base import toml

    return toml.table(TABLE, Book)


@functools.cache
def book() -> Book:
    """The whole table."""
    return compiled.load("compared", (TABLE, __file__), build, Book)
