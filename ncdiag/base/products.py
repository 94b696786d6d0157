"""Capabilities of GPUs, and of the cloud machines that contain them (``products.toml``, which explains each entry)."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from ncdiag.base import compiled

TABLE = Path(__file__).with_name("products.toml")


class Accepted(msgspec.Struct, frozen=True, array_like=True):
    """The bus bandwidth in GB/s that a cloud accepts for an all-reduce over a number of GPUs of one host."""

    name: str
    cloud: str
    gpus: int
    gbs: float
    source: str


class Product(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A GPU model, or several similar ones; bandwidths in GB/s, ``watts`` its usual power limit."""

    model: str
    form: Literal["module", "rack", "mesh", "card"]
    source: str
    board: int | None = None
    switched: bool = False
    nvlink: bool | None = None
    peer: bool | None = None
    links: int = 0
    link_gbs: float = 0.0
    nccl_gbs: float | None = None
    watts: int | None = None
    bar1: int | None = None
    pcie: int | None = None
    least: float | None = None
    nvls_gbs: float | None = None
    accepts: tuple[Accepted, ...] = ()


class Machine(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A machine type of a cloud: its GPU, its ports for the job, and the GB/s that ``test`` must reach over several."""

    name: str
    cloud: str
    gpu: str
    ports: int | None = None
    gbps: float | None = None
    layer: Literal["IB", "RoCE", "EFA"] | None = None
    network: str | None = None
    test: str | None = None
    hosts: int | None = None
    accepts: float = 0.0
    source: str

    @property
    def total_gbps(self) -> float | None:
        """Gbit/s of all its ports together; None for a machine without RDMA ports."""
        return self.ports * self.gbps if self.ports and self.gbps else None


class Products(msgspec.Struct, frozen=True):
    """The whole table; GPUs by name, in the order in which they are matched."""

    sources: dict[str, str]
    gpu: dict[str, Product]
    machine: tuple[Machine, ...]


def build() -> Products:
    """Read the table from TOML."""
    from ncdiag.base import toml

    return toml.table(TABLE, Products)


@functools.cache
def products() -> Products:
    """The whole table."""
    return compiled.load("products", (TABLE, __file__), build, Products)


@functools.cache
def _models() -> Mapping[str, re.Pattern[str]]:
    return {name: re.compile(product.model) for name, product in products().gpu.items()}


@functools.lru_cache(maxsize=256)
def name_of(model: str | None) -> str | None:
    """The name of the entry that matches a GPU name as printed by a tool; None if the table has none."""
    return next((name for name, pattern in _models().items() if pattern.search(model or "")), None)


def product_of(model: str | None) -> Product | None:
    """The entry that matches a GPU name as printed by a tool; None if the table has none."""
    name = name_of(model)
    return None if name is None else products().gpu[name]


def type_name(text: str) -> str:
    """A machine type as clouds write it, ``a3-highgpu-8g``, without the words that tools put before it."""
    return text.lower().removeprefix("standard_").rpartition(" ")[2]


@functools.cache
def machines() -> Mapping[str, Machine]:
    """The machine types of all clouds by `type_name`, in the order of the table."""
    return {type_name(row.name): row for row in products().machine}


@functools.cache
def efa_machines() -> Mapping[str, Machine]:
    """The AWS instance types with EFA, by name."""
    return {row.name: row for row in products().machine if row.layer == "EFA"}


def address(source: str) -> str:
    """The URL of a source that is given as a short name or begins with one; any other text unchanged."""
    head = re.split(r"[:;, ]", source, maxsplit=1)[0]
    return products().sources[head] + source[len(head) :] if head in products().sources else source
