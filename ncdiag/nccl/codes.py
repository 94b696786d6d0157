"""Numbers and their names: NCCL result codes, verbs completion statuses, mlx5 vendor errors, Xids (``codes.toml``)."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = Path(__file__).with_name("codes.toml")


class Code(msgspec.Struct, frozen=True):
    """A number of one table: ``kind`` is result, completion, vendor or xid."""

    kind: str
    number: int
    name: str
    meaning: str


@functools.cache
def codes() -> Mapping[str, Mapping[int, Code]]:
    """The tables by kind."""
    raw = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return {
        kind: {int(number): Code(kind, int(number), *entry) for number, entry in table.items()}
        for kind, table in raw.items()
    }


def code(kind: str, number: object) -> Code | None:
    """The entry of a number; None when the table has none."""
    return codes()[kind].get(number) if isinstance(number, int) else None


def named(word: str) -> Code | None:
    """The entry that is called so, in whatever case: ``ncclSystemError``, ``IBV_WC_RETRY_EXC_ERR``."""
    lower = word.lower()
    return next((c for table in codes().values() for c in table.values() if c.name.lower() == lower), None)
