"""A glossary of terms, path types and topology levels, and of files in /sys and /proc (``terms.toml``)."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from ncdiag.base import toml
from ncdiag.base.patterns import lazy_regex

TABLE = Path(__file__).with_name("terms.toml")
_LEVEL = lazy_regex(r"(?i)NV\d{1,2}")

Kind = Literal["path type", "topology level", "term"]
_KINDS: Mapping[str, Kind] = {"path_type": "path type", "level": "topology level", "term": "term"}


class Term(msgspec.Struct, frozen=True):
    """A term with its other names and its meaning."""

    kind: Kind
    name: str
    meaning: str
    also: tuple[str, ...] = ()


class Place(msgspec.Struct, frozen=True):
    """A file or folder; ``path`` has ``<...>`` for variable parts. ``holds`` describes its content, ``why`` its use."""

    path: str
    holds: str
    why: str


class _Table(msgspec.Struct, frozen=True):
    terms: tuple[Term, ...]
    places: tuple[Place, ...]


@functools.cache
def _table() -> _Table:
    raw = toml.loads(TABLE.read_text(encoding="utf-8"))
    terms = tuple(
        Term(kind, name, entry[0], tuple(entry[1:]))
        for section, kind in _KINDS.items()
        for name, entry in raw[section].items()
    )
    return _Table(terms, msgspec.convert(raw["place"], tuple[Place, ...]))


def terms() -> tuple[Term, ...]:
    """Return all terms."""
    return _table().terms


def places() -> tuple[Place, ...]:
    """Return all files and folders."""
    return _table().places


def named(word: str) -> tuple[Term, ...]:
    """Return the terms with this name, in any case; ``NV12`` is the level NV."""
    lower = "nv" if _LEVEL.fullmatch(word) else word.lower()
    return tuple(term for term in terms() if lower in {term.name.lower(), *(other.lower() for other in term.also)})


def place(path: str) -> Place | None:
    """Return the entry for a path, ``/sys/class/infiniband/mlx5_0/ports/1/state``; None where there is none."""
    given = path.rstrip("/")
    return next((place for place in places() if given == place.path or _pattern(place.path).fullmatch(given)), None)


@functools.cache
def _pattern(path: str) -> re.Pattern[str]:
    """The pattern for a path, in which each ``<...>`` matches one component."""
    parts = re.split(r"<\w+>", path)
    return re.compile("[^/]{1,64}".join(map(re.escape, parts)))
