"""Names of numeric codes: results, completions, vendor errors, SXids, errno (``codes.toml``), and Xids (`xids`)."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ncdiag.base import compiled
from ncdiag.nccl import xids

TABLE = Path(__file__).with_name("codes.toml")


class Code(msgspec.Struct, frozen=True):
    """A code of one table; ``kind`` is result, completion, vendor, xid, sxid or errno.

    ``said`` is the text that programs print for it, where that is not the name: ``Connection refused`` for
    ECONNREFUSED.
    """

    kind: str
    number: int
    name: str
    meaning: str
    said: str = ""


Codes = dict[str, dict[int, Code]]


def build() -> Codes:
    """Read the tables from TOML."""
    from ncdiag.base import toml

    raw = toml.loads(TABLE.read_text(encoding="utf-8"))
    tables = {
        kind: {int(number): Code(kind, int(number), *entry) for number, entry in table.items()}
        for kind, table in raw.items()
    }
    tables["xid"] = {xid.number: Code("xid", xid.number, xid.name, xid.meaning) for xid in xids.xids().values()}
    return tables


@functools.cache
def codes() -> Mapping[str, Mapping[int, Code]]:
    """Return the tables by kind, each by number."""
    return compiled.load("codes", (TABLE, xids.TABLE, __file__), build, Codes)


def code(kind: str, number: object) -> Code | None:
    """Return the entry of a number; for an SXid without an entry that of its thousand. None without one."""
    if not isinstance(number, int):
        return None
    found = codes()[kind].get(number)
    if found is None and kind == "sxid" and (block := codes()["sxid_thousand"].get(number // 1000)) is not None:
        return Code(kind, number, block.name, block.meaning)
    return found


def of_number(number: int) -> tuple[Code, ...]:
    """Return all entries of a bare number, in any table."""
    found = (code(kind, number) for kind in codes() if kind != "sxid_thousand")
    return tuple(entry for entry in found if entry is not None)


def is_listed(entry: Code) -> bool:
    """Has the number an entry of its own, rather than that of the thousand of an SXid?"""
    return entry.number in codes()[entry.kind]


def named(word: str) -> tuple[Code, ...]:
    """Return the entries with this name or text, in any case: ``ncclSystemError``, ``Connection refused``."""
    lower = word.lower()
    return tuple(
        entry for kind, table in codes().items() if kind != "sxid_thousand"
        for entry in table.values() if lower in {entry.name.lower(), entry.said.lower()} - {""}
    )  # fmt: skip
