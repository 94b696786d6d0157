"""The variables of NCCL and its neighbours: which exist, since when, their defaults, and how NCCL reads a value.

The table is `env.toml` beside this module; its header says what it was generated from.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from ncdiag import compiled
from ncdiag.facts.scalars import OLDEST, Version, VersionRange
from ncdiag.nccl import paths, versions
from ncdiag.nccl.numbers import is_plain, parse_number
from ncdiag.nccl.spelling import distance

TABLE = Path(__file__).with_name("env.toml")
_SOURCES = (TABLE, __file__, compiled.PACKAGE / "facts" / "scalars.py")
_VALUE_LIMIT = 1024
NEAR = 2
"""Edits that a misspelt name may be away from the right one."""

Kind = Literal["int", "bool", "size", "enum", "level", "list", "string", "float"]
NUMBERS = frozenset({"int", "bool", "size"})
OURS = "nccl"


class Variable(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One variable. ``owner`` is the program that reads it, ``nccl`` for NCCL itself.

    ``since`` is the first release that reads it (None: from 2.3 or before), ``until`` the first that does not.
    ``defaults`` are pairs of first release and value, oldest first; the value "" stands for unset or worked out at
    run time. ``choices`` and ``bounds`` say which numbers make sense, ``words`` which words; ``accepts`` says it in
    prose. ``renamed`` is what to use instead; ``agree`` tells whether all ranks must use the same value. ``truth``:
    first release that reads TRUE and FALSE as numbers; ``experimental``: the guide files it under debugging.
    ``effect`` says what goes wrong with it, ``agree_why`` why ranks must agree or need not. ``empty`` says what an
    empty value does; the empty text: the same as unset. None: the same for NCCL's numbers and levels, else not known.
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
    accepts: str = ""
    renamed: str | None = None
    agree: bool | None = None
    truth: Version | None = None
    documented: bool = True
    experimental: bool = False
    effect: str = ""
    agree_why: str = ""
    related: tuple[str, ...] = ()
    empty: str | None = None

    @property
    def empty_is_unset(self) -> bool:
        """True if NCCL is known to read an empty value as unset."""
        if self.empty is not None:
            return not self.empty
        return self.owner == OURS and self.type in NUMBERS | {"level"}

    def exists_at(self, version: Version | VersionRange | None) -> bool | None:
        """Does that version read the variable? None when only a part of the possible versions does.

        For variables of other programs the answer is True: their releases are not NCCL's.
        """
        if self.owner != OURS:
            return True
        since, until = self.since, self.until
        changes = [change for change in (since, until) if change is not None]
        return versions.agreed(
            version, changes, lambda v: (since is None or v >= since) and (until is None or v < until)
        )

    def default_at(self, version: Version | VersionRange | None) -> int | str | None:
        """The default of that version; None when it is unset or derived, or the possible versions do not agree."""
        if not self.defaults:
            return None
        value = versions.agreed(version, [since for since, _ in self.defaults], self._default)
        return None if value == "" else value

    def _default(self, version: Version) -> int | str:
        first = self.defaults[0]
        return next((value for since, value in reversed(self.defaults) if version >= since), first[1])

    def admits(self, number: int) -> bool:
        """Does the number make sense? True where nothing is known against it; a default always does."""
        if any(value == number for _, value in self.defaults):
            return True
        if self.bounds is not None:
            return self.bounds[0] <= number <= self.bounds[1]
        return not self.choices or number in self.choices


class Misspelling(msgspec.Struct, frozen=True):
    """A wrong name that was seen, the names that do what it promises (often none), and what is wrong with it."""

    right: tuple[str, ...]
    why: str


class WrongValue(msgspec.Struct, frozen=True, kw_only=True):
    """A value that was seen and does not say what its writer meant.

    ``value`` is a regular expression for the whole value; ``right`` the value that was meant, with its groups; where
    a part is wrong, ``find`` and ``put`` change it. ``since`` is the first release for which this holds.
    """

    name: str
    value: str
    why: str
    right: str | None = None
    find: str | None = None
    put: str = ""
    since: Version | None = None

    def mended(self, text: str) -> str | None:
        """The value that was meant; None when it cannot be told."""
        if self.find is not None:
            return re.sub(self.find, self.put, text)
        found = re.fullmatch(self.value, text)
        return found.expand(self.right) if found and self.right is not None else None


class Table(msgspec.Struct, frozen=True):
    """All that is known: variables and wrong names by name, the prefixes and names of others, wrong values."""

    variables: dict[str, Variable]
    misspelt: dict[str, Misspelling]
    foreign_prefixes: dict[str, str]
    foreign_names: dict[str, str]
    wrong_values: tuple[WrongValue, ...] = ()


class Resolved(msgspec.Struct, frozen=True):
    """What NCCL makes of a variable, under the field names of a Setting.

    ``number`` is what its strtoll reads, ``effective`` the value in force. ``valid`` is False when NCCL does not read
    the text as its writer must have meant it: a word or tail where a number belongs, a number out of range, an
    unknown word, a variable that this version does not read. None when that cannot be told.
    """

    number: int | None = None
    effective: int | str | None = None
    default: int | str | None = None
    valid: bool | None = None


def build(file: Path = TABLE) -> Table:
    """Read the table from TOML (about 25 ms); `table` keeps the result."""
    from ncdiag import toml

    raw = toml.loads(file.read_text(encoding="utf-8"))
    found = {}
    for owner, members in raw["variables"].items():
        for name, fields in members.items():
            found[name] = _variable(name, owner, fields)
    wrong = {name: Misspelling(tuple(fields["right"]), fields["why"]) for name, fields in raw["misspelt"].items()}
    values = [{**fields, "since": Version.parse(fields.get("since", ""))} for fields in raw["wrong_values"]["seen"]]
    seen = msgspec.convert(values, tuple[WrongValue, ...])
    return Table(found, wrong, raw["foreign"]["prefixes"], raw["foreign"]["names"], seen)


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
    """The table, read once."""
    return compiled.load("variables", _SOURCES, build, Table)


def variables() -> Mapping[str, Variable]:
    """All variables by name, those of other programs included (``owner`` tells)."""
    return table().variables


def resolve(name: str, text: str | None, version: Version | VersionRange | None = None) -> Resolved:
    """Read the value ``text`` of a variable as that version of NCCL would; None or the empty text is unset.

    An unknown name gives a Resolved with nothing known. Source: src/misc/param.cc (strtoll), src/graph/paths.cc
    (levels); words are compared whole, upper and lower case matter unless the variable says otherwise.
    """
    variable = variables().get(name)
    if variable is None:
        return Resolved()
    read = variable.exists_at(version)
    default = variable.default_at(version) if read is not False else None
    if not text:
        return Resolved(effective=default, default=default, valid=True if read else None)
    number, effective, valid = _read(variable, text, version)
    if effective is None and valid is False:
        effective = default
    if read is False:
        return Resolved(number, None, None, valid=False)
    return Resolved(number, effective, default, valid=valid)


def _read(
    variable: Variable, text: str, version: Version | VersionRange | None
) -> tuple[int | None, int | str | None, bool | None]:
    """Number, value in force (None: the default) and validity of a text that is not empty."""
    if variable.owner == OURS and variable.type in NUMBERS:
        number = parse_number(text)
        return number, number, number is not None and is_plain(text) and variable.admits(number)
    if variable.type == "level":
        level = paths.parse_level(text, version)
        every = [paths.parse_level(text, exact) for exact in versions.samples(version, paths.CHANGES)]
        return None, level, True if level else False if not any(every) else None
    if variable.words:
        given = text.upper() if variable.any_case else text
        known = given in {word.upper() if variable.any_case else word for word in variable.words}
        return None, given if known else None, known
    return parse_number(text) if is_plain(text) else None, text, None


def suggest(name: str) -> list[str]:
    """The names that a misspelt variable was probably meant to be, best first; empty when nothing is near.

    Wrong names that were seen come from the table, others from at most ``NEAR`` edits (a swap of neighbours is one).
    A name that exists gets no suggestion.
    """
    known = table()
    if name in known.variables:
        return []
    if name in known.misspelt:
        return list(known.misspelt[name].right)
    upper = name.upper()
    near = [
        (edits, other)
        for other, variable in known.variables.items()
        if variable.owner == OURS and (edits := distance(upper, other, NEAR)) is not None
    ]
    return [other for _, other in sorted(near)]


def wrong_value(name: str, text: str, version: Version | VersionRange | None = None) -> WrongValue | None:
    """The known mistake that this value of a variable is, for one of the possible releases; None when it is none."""
    for known in table().wrong_values:
        same = known.name == name or (known.name == "NCCL_P2P_LEVEL" and name == "NCCL_NET_GDR_LEVEL")
        listed = known.name == "NCCL_ALGO" and name == "NCCL_PROTO" and known.find is not None
        late = known.since is not None and version is not None and versions.as_range(version).high < known.since
        if (same or listed) and not late and len(text) < _VALUE_LIMIT and re.fullmatch(known.value, text):
            return known
    return None


def is_foreign(name: str) -> bool:
    """Tell whether a name belongs to another program although it may look like NCCL's.

    That is so for old names of PyTorch, for plugins and for build systems; not for NCCL's own variables, nor for names
    that nobody is known to read.
    """
    known = table()
    if name in known.variables:
        return known.variables[name].owner != OURS
    return name in known.foreign_names or name.startswith(tuple(known.foreign_prefixes)) or not name.startswith("NCCL")


def resolve_fields(name: str, text: str | None, version: VersionRange | None) -> dict[str, int | str | bool | None]:
    """`resolve` as the fields of a Setting, the form that `ncdiag.facts.view.Resolve` asks for."""
    return msgspec.structs.asdict(resolve(name, text, version))
