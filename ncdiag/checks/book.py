"""The checks as ``checks.toml`` and ``launch.toml`` declare them; the head of the first explains the keys."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Literal

import msgspec

from ncdiag.base import compiled
from ncdiag.base.severity import Actor, Scope

TABLE, LAUNCH = (Path(__file__).with_name(f"{name}.toml") for name in ("checks", "launch"))
"""The looks of `ncdiag check`, and the steps of `ncdiag probe --launch`."""

Choice = Literal[
    "bootstrap_interface", "socket_interfaces", "net", "ib_devices", "gid", "gdr", "nics", "local",
]  # fmt: skip
"""A field of `ncdiag.nccl.on_host.predicting.Chosen`."""


class Area(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Looks on one subject; ``rules`` are the areas of rules whose other findings are listed with them.

    ``scope`` is what a look is about, and ``actor`` who can change what is wrong; a look may say otherwise of itself.
    """

    name: str
    title: str
    scope: Scope = "node"
    actor: Actor = "operator"
    rules: tuple[str, ...] = ()


class Look(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One look at each host, or at all hosts together (``job``)."""

    area: str
    what: str
    seen: str = ""
    choice: Choice | None = None
    job: bool = False
    expected: str = ""
    none: str = ""
    collector: str = ""
    whole: bool = False
    rules: tuple[str, ...]
    needs: tuple[str, ...] = ()
    scope: Scope | None = None
    actor: Actor | None = None


class Book(msgspec.Struct, frozen=True):
    """All areas, in the order in which they are shown, and all looks."""

    area: tuple[Area, ...]
    look: tuple[Look, ...]


def build(table: Path = TABLE) -> Book:
    """Read a table from TOML."""
    from ncdiag.base import toml

    return toml.table(table, Book)


@functools.cache
def book() -> Book:
    """The whole table of `ncdiag check`."""
    return compiled.load("checks", (TABLE, __file__), build, Book)


@functools.cache
def launch_book() -> Book:
    """The steps of `ncdiag probe --launch`."""
    return compiled.load("launch", (LAUNCH, __file__), lambda: build(LAUNCH), Book)
