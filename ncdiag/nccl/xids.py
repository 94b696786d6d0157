"""The Xids and SXids of NVIDIA's driver: where the fault is, and what it ends (``xids.toml``)."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from ncdiag.base import compiled

TABLE = Path(__file__).with_name("xids.toml")

Fault = Literal[
    "program", "engine", "echo", "memory", "nvlink", "bus", "stalled", "firmware", "power", "store", "advice", "other",
]  # fmt: skip
Remedy = Literal["none", "restart", "reset", "reboot", "update", "wiring", "worded"]
Reach = Literal["harmless", "fatal", "fabric"]
"""What an SXid takes down: nothing, a link, or all switches."""


class Xid(msgspec.Struct, frozen=True):
    """An Xid; ``worded``: its line says whether the GPU must be reset."""

    number: int
    fault: Fault
    remedy: Remedy
    name: str
    meaning: str


class _Table(msgspec.Struct):
    xid: dict[Fault, dict[Remedy, dict[str, tuple[str, str]]]]
    sxid: dict[Reach, str]


class Reports(msgspec.Struct, frozen=True):
    """The tables of Xids and SXids, by number."""

    xids: dict[int, Xid]
    reaches: dict[int, Reach]


def build() -> Reports:
    """Read both tables from TOML."""
    from ncdiag.base import toml

    table = toml.table(TABLE, _Table)
    found = (
        Xid(number, fault, remedy, *entry)
        for fault, remedies in table.xid.items()
        for remedy, entries in remedies.items()
        for key, entry in entries.items()
        for number in numbers(key)
    )
    reaches = {number: reach for reach, key in table.sxid.items() for number in numbers(key)}
    return Reports({xid.number: xid for xid in found}, reaches)


def numbers(key: str) -> Iterator[int]:
    """Yield the numbers of a text such as ``39-41, 85``."""
    for part in key.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


@functools.cache
def reports() -> Reports:
    """Return both tables, read once."""
    return compiled.load("xids", (TABLE, __file__), build, Reports)


def xids() -> Mapping[int, Xid]:
    """Return all Xids by number."""
    return reports().xids


def xid(number: object) -> Xid | None:
    """Return the entry of a number; None when NVIDIA does not document it."""
    return reports().xids.get(number) if isinstance(number, int) else None


def reach(sxid: object) -> Reach | None:
    """Return what an SXid takes down, by its number; None when NVIDIA does not say."""
    return reports().reaches.get(sxid) if isinstance(sxid, int) else None
