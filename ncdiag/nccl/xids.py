"""What NVIDIA's driver reports of GPUs and NVSwitches, by where the fault lies and what ends it (``xids.toml``)."""

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
"""How much an SXid takes down: nothing, a link, all switches."""


class Xid(msgspec.Struct, frozen=True):
    """A number of the driver; ``worded``: its line says whether the GPU has to be reset."""

    number: int
    fault: Fault
    remedy: Remedy
    name: str
    meaning: str


class _Table(msgspec.Struct):
    xid: dict[Fault, dict[Remedy, dict[str, tuple[str, str]]]]
    sxid: dict[Reach, str]


class Reports(msgspec.Struct, frozen=True):
    """The tables by number."""

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
    """The numbers of ``39-41, 85``."""
    for part in key.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


@functools.cache
def reports() -> Reports:
    """Both tables."""
    return compiled.load("xids", (TABLE, __file__), build, Reports)


def xids() -> Mapping[int, Xid]:
    """All Xids by number."""
    return reports().xids


def xid(number: object) -> Xid | None:
    """The entry of a number; None when NVIDIA documents none."""
    return reports().xids.get(number) if isinstance(number, int) else None


def reach(sxid: object) -> Reach | None:
    """How much an SXid takes down by its number; None when NVIDIA does not say."""
    return reports().reaches.get(sxid) if isinstance(sxid, int) else None
