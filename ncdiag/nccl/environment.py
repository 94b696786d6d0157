"""How NCCL reads its environment variables: the value of a text, the value in force, and agreement between ranks.

The table of variables is `ncdiag.nccl.book`; `ncdiag.nccl.judgement` checks names and values.
"""

from __future__ import annotations

import functools

import msgspec

from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl import paths
from ncdiag.nccl.book import NUMBERS, OURS, TABLE, Table, Variable, build, table, variables
from ncdiag.nccl.judgement.names import is_foreign, reader, suggest
from ncdiag.nccl.judgement.values import of_value
from ncdiag.nccl.numbers import is_plain, parse_number

__all__ = [
    "NUMBERS", "OURS", "TABLE", "Resolved", "Table", "Variable", "build", "is_foreign", "must_agree", "reader",
    "resolve", "resolve_fields", "suggest", "table", "variables",
]  # fmt: skip


_TORCH = {**dict.fromkeys(("1", "t", "true", "y", "yes"), 1), **dict.fromkeys(("0", "f", "false", "n", "no"), 0)}
"""How PyTorch reads booleans (torch/csrc/distributed/c10d/Utils.hpp, getCvarBool, 2.2 and later); it rejects others."""


class Resolved(msgspec.Struct, frozen=True):
    """The result of reading a variable, under the field names of a Setting.

    ``number`` is the result of strtoll, ``effective`` the value in force. ``valid`` is False when NCCL does not read
    the text as its writer must have intended: a word or tail where a number belongs, a number out of range, an unknown
    word, a variable that this version does not read. None when that is unknown.
    """

    number: int | None = None
    effective: int | str | None = None
    default: int | str | None = None
    valid: bool | None = None


@functools.lru_cache(4096)
def resolve(name: str, text: str | None, version: Version | VersionRange | None = None) -> Resolved:
    """Read the value ``text`` of a variable as that version of NCCL does; None and the empty text mean unset.

    For an unknown name all fields of the result are None. Source: src/misc/param.cc (strtoll), src/graph/paths.cc
    (levels). Words are compared as a whole, and case matters unless the table of variables says otherwise.
    """
    variable = variables().get(name)
    if variable is None:
        return Resolved()
    read = variable.exists_at(version)
    default = variable.default_at(version) if read is not False else None
    if not text:
        return Resolved(effective=default, default=default, valid=True if read else None)
    number, effective = _read(variable, text, version)
    valid = _is_valid(variable, text, version)
    if effective is None and valid is False:
        effective = default
    if read is False:
        return Resolved(number, None, None, valid=False)
    return Resolved(number, effective, default, valid=valid)


def _read(variable: Variable, text: str, version: Version | VersionRange | None) -> tuple[int | None, int | str | None]:
    """Return the number and the value in force (None: the default, or unknown) of a text that is not empty."""
    if variable.owner == OURS and variable.type in NUMBERS:
        number = parse_number(text)
        return number, number
    if variable.type == "level":
        return None, paths.parse_level(text, version)
    if variable.owner == "pytorch" and variable.type == "bool":
        number = _TORCH.get(text.lower())
        return number, number
    if variable.words and not variable.separators:
        return None, variable.word(text) or (text if variable.others else None)
    return parse_number(text) if is_plain(text) else None, text


def _is_valid(variable: Variable, text: str, version: Version | VersionRange | None) -> bool | None:
    """Does NCCL read the text as its writer must have intended? None where the table does not say."""
    found = of_value(variable.name, text, version)
    if found is not None and not found.mild:
        return None if found.holds(version) is None else False
    if variable.owner == OURS and variable.type in NUMBERS:
        return True
    if variable.type == "level":
        return True if paths.parse_level(text, version) else None
    return True if variable.words and not variable.others else None


def must_agree(name: str, *, between_hosts: bool = False) -> bool | None:
    """Must all ranks of a job use the same value of the variable? None where that is not known.

    ``between_hosts``: the compared ranks are on different hosts, so that requirements within one host do not count.
    """
    known = variables().get(name)
    if known is None:
        return None
    return False if between_hosts and known.agree_on_host else known.agree


def resolve_fields(name: str, text: str | None, version: VersionRange | None) -> dict[str, int | str | bool | None]:
    """`resolve` with its result as the fields of a Setting, the form of `ncdiag.facts.view.Resolve`."""
    return msgspec.structs.asdict(resolve(name, text, version))
