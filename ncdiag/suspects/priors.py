"""Published counts of what stopped large training runs (``priors.toml``, whose head explains the keys)."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ncdiag.base import compiled

TABLE = Path(__file__).with_name("priors.toml")


class Count(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One published count."""

    name: str
    source: str
    address: str
    checked: str
    what: str
    total: int
    days: int
    gpus: int | None = None
    hosts: int | None = None
    causes: Mapping[str, Mapping[str, int]] = msgspec.field(name="in")

    def days_between(self, gpus: int | None, hosts: int | None) -> float | None:
        """Days from one fault to the next at this rate, for a job of this size; None if the sizes cannot be compared.

        Faults of the same parts are as frequent on each GPU, or each host, of a smaller job.
        """
        sizes = ((self.gpus, gpus), (self.hosts, hosts))
        ratio = next((observed / size for observed, size in sizes if observed and size), None)
        return None if ratio is None else self.days / self.total * ratio


class Priors(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The names of the parts, and all counts."""

    part: Mapping[str, str]
    count: tuple[Count, ...]


def build() -> Priors:
    """Read the table from TOML."""
    from ncdiag.base import toml

    return toml.table(TABLE, Priors)


@functools.cache
def priors() -> Priors:
    """The whole table."""
    return compiled.load("priors", (TABLE, __file__), build, Priors)
