"""The table of variables that NCCL and related programs read: since when, their defaults, words and ranges.

The table is `env.toml` beside this module; its header explains the keys. `ncdiag.nccl.environment` uses it to read
values, and `ncdiag.nccl.judgement` to check names and values.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from ncdiag.base import compiled
from ncdiag.facts.scalars import OLDEST, Version, VersionRange
from ncdiag.nccl import versions

TABLE = Path(__file__).with_name("env.toml")
_SOURCES = (TABLE, __file__, compiled.PACKAGE / "facts" / "scalars.py")
VALUE_LIMIT = 1024
"""Values with more characters than this are not matched against patterns."""

Kind = Literal["int", "bool", "size", "enum", "level", "list", "string", "float"]
NUMBERS = frozenset({"int", "bool", "size"})
OURS = "nccl"


class Variable(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One variable; ``owner`` is the program that reads it, ``nccl`` for NCCL itself.

    ``since`` is the first release that reads it (None: 2.3 or earlier), ``until`` the first that does not. ``renamed``
    is its replacement. ``experimental``: NCCL's guide lists it under debugging.

    ``defaults`` are pairs of first release and value, oldest first; the value ``""`` means unset or computed at run
    time. ``unset`` describes what NCCL does without it, where the default is not a real value, such as -2. ``choices``
    and ``bounds`` say which numbers are valid, ``words`` which words (``any_case``: in upper or lower case; ``others``:
    plugins accept further ones); ``accepts`` says it in prose. ``separators`` are the characters between the words of a
    list, ``heads`` the words that may come before a colon in it. ``truth`` is the first release that reads TRUE and
    FALSE as numbers.

    ``agree``: must all ranks use the same value (None: unknown)? ``agree_on_host``: must only those of one host?
    ``agree_why`` is the reason. ``effect`` describes what goes wrong with the variable. ``empty`` describes the effect
    of an empty value; ``""`` means the same as unset. None means the same as unset for NCCL's numbers and levels, and
    unknown for others. ``empty_at`` is a constraint on the releases for which that holds, empty for all.
    """

    name: str
    owner: str
    type: Kind
    means: str
    since: Version | None = None
    until: Version | None = None
    defaults: tuple[tuple[Version, int | str], ...] = ()
    choices: tuple[int, ...] = ()
    bounds: tuple[int, int] | None = None
    words: tuple[str, ...] = ()
    any_case: bool = False
    others: bool = False
    separators: str = ""
    heads: tuple[str, ...] = ()
    accepts: str = ""
    renamed: str | None = None
    agree: bool | None = None
    agree_on_host: bool = False
    truth: Version | None = None
    documented: bool = True
    experimental: bool = False
    unset: str = ""
    effect: str = ""
    agree_why: str = ""
    related: tuple[str, ...] = ()
    empty: str | None = None
    empty_at: str = ""

    @property
    def empty_is_unset(self) -> bool:
        """Does NCCL read an empty value as unset? False where that is unknown."""
        if self.empty is not None:
            return not self.empty
        return self.owner == OURS and self.type in NUMBERS | {"level"}

    def exists_at(self, version: Version | VersionRange | None) -> bool | None:
        """Does that version read the variable? None when some of the possible versions do and others do not.

        Always True for variables of other programs, whose releases are not NCCL's.
        """
        if self.owner != OURS:
            return True
        since, until = self.since, self.until
        changes = [change for change in (since, until) if change is not None]
        return versions.agreed(
            version, changes, lambda v: (since is None or v >= since) and (until is None or v < until)
        )

    def default_at(self, version: Version | VersionRange | None) -> int | str | None:
        """The default of that version; None when it is unset or computed, or when the possible versions differ."""
        if not self.defaults:
            return None
        value = versions.agreed(version, [since for since, _ in self.defaults], self._default)
        return None if value == "" else value

    def _default(self, version: Version) -> int | str:
        first = self.defaults[0]
        return next((value for since, value in reversed(self.defaults) if version >= since), first[1])

    def admits(self, number: int) -> bool:
        """Is the number valid? True where no restriction is known; a default is always valid."""
        if any(value == number for _, value in self.defaults):
            return True
        if self.bounds is not None:
            return self.bounds[0] <= number <= self.bounds[1]
        return not self.choices or number in self.choices

    def word(self, text: str) -> str | None:
        """Return the known word that the text spells, in the table's spelling; None for an unknown word."""
        if text in self.words or not self.any_case:
            return text if text in self.words else None
        return next((word for word in self.words if word.upper() == text.upper()), None)


class Misspelling(msgspec.Struct, frozen=True):
    """A wrong name that occurs in practice, the right names for its purpose (often none), and an explanation."""

    right: tuple[str, ...]
    why: str


class WrongValue(msgspec.Struct, frozen=True, kw_only=True):
    """A value that occurs in practice and does not mean what its writer intended.

    ``value`` is a regular expression for the whole value, ``sample`` a value that it matches. ``right`` is the intended
    value, which may refer to its groups; where only a part is wrong, ``find`` is replaced with ``put``. ``since`` is
    the first release for which this holds.
    """

    name: str
    sample: str
    value: str
    why: str
    right: str | None = None
    find: str | None = None
    put: str = ""
    since: Version | None = None

    def mended(self, text: str) -> str | None:
        """Return the intended value; None when it cannot be determined."""
        if self.find is not None:
            return re.sub(self.find, self.put, text)
        found = re.fullmatch(self.value, text)
        return found.expand(self.right) if found and self.right is not None else None


class Table(msgspec.Struct, frozen=True):
    """The whole table: variables, wrong names and values by name, and the prefixes and names of other programs."""

    variables: dict[str, Variable]
    misspelt: dict[str, Misspelling]
    foreign_prefixes: dict[str, str]
    foreign_names: dict[str, str]
    wrong_values: dict[str, tuple[WrongValue, ...]]


def build(file: Path = TABLE) -> Table:
    """Read the table from TOML (about 25 ms); `table` caches the result."""
    from ncdiag.base import toml

    raw = toml.loads(file.read_text(encoding="utf-8"))
    found = {}
    for owner, members in raw["variables"].items():
        for name, fields in members.items():
            found[name] = _variable(name, owner, fields)
    wrong = {name: Misspelling(tuple(fields["right"]), fields["why"]) for name, fields in raw["misspelt"].items()}
    values: dict[str, tuple[WrongValue, ...]] = {}
    for fields in raw["wrong_values"]["seen"]:
        seen = msgspec.convert({**fields, "since": Version.parse(fields.get("since", ""))}, WrongValue)
        values[seen.name] = (*values.get(seen.name, ()), seen)
    return Table(found, wrong, raw["foreign"]["prefixes"], raw["foreign"]["names"], values)


def _variable(name: str, owner: str, fields: dict[str, object]) -> Variable:
    default = fields.pop("default", None)
    pairs = default if isinstance(default, list) else [["", default]] if default is not None else []
    ready = {
        **fields,
        "name": name,
        "owner": owner,
        "defaults": [(Version.parse(str(since)) or OLDEST, value) for since, value in pairs],
        "since": Version.parse(str(fields.get("since", ""))),
        "until": Version.parse(str(fields.get("until", ""))),
        "truth": Version.parse(str(fields.get("truth", ""))),
    }
    return msgspec.convert(ready, Variable)


@functools.cache
def table() -> Table:
    """Return the table, read once."""
    return compiled.load("variables", _SOURCES, build, Table)


def variables() -> Mapping[str, Variable]:
    """Return all variables by name, including those of other programs (see ``owner``)."""
    return table().variables
