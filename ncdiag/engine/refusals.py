"""Errors in rule files: each with its line, the wrong word and the words that are allowed."""

from __future__ import annotations

import re
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NoReturn

import msgspec

from ncdiag.base.errors import DefinitionError, suggestion
from ncdiag.base.patterns import lazy_regex

_STEP = lazy_regex(r"\.(\w+)|\[")


def refuse(  # noqa: PLR0913  (what is wrong, where, and what helps)
    text: str, file: str, word: str, reason: str, hint: str = "", *, is_key: bool = False
) -> NoReturn:
    """Raise DefinitionError for ``file``, at the first line of its ``text`` that contains ``word``."""
    raise DefinitionError(reason, file=file, line=line_of(text, word, is_key=is_key), hint=hint)


def refuse_key(text: str, file: str, key: str, known: Iterable[str], where: str = "") -> NoReturn:
    """Raise DefinitionError for an unknown key, with the key that was probably meant or all known keys."""
    allowed = list(known)
    refuse(text, file, key, f"unknown key {key!r}{where}", suggestion(key, allowed) or listed(allowed), is_key=True)


def refuse_value(
    error: msgspec.ValidationError,
    text: str,
    file: str,
    kind: Any,  # noqa: ANN401
    hint: str = "",
) -> NoReturn:
    """Raise DefinitionError for a value that ``kind`` does not allow, or for a missing key.

    The help lists the allowed words; if these are not listed, it is ``hint``.
    """
    reason, _, place = str(error).partition(" - at ")
    place = place.strip("`$.") if place else ""
    key = re.split(r"[.\[]", place)[-1] if place else ""
    where = f"{place}: " if place else ""
    allowed = allowed_at(kind, place)
    help_ = listed(allowed) if allowed else hint
    refuse(text, file, key, where + reason[:1].lower() + reason[1:], help_, is_key=True)


def listed(words: Iterable[str]) -> str:
    """The allowed words, as a help sentence."""
    return f"allowed: {', '.join(words)}"


def allowed_at(kind: Any, place: str) -> tuple[str, ...]:  # noqa: ANN401
    """The words allowed at a place such as ``fix[0].kind`` of a type; empty if they are not listed."""
    for step in _STEP.finditer(f".{place}" if place and place[0] != "[" else place):
        kind = _below(kind, step[1])
    return next((typing.get_args(one) for one in _members(kind) if typing.get_origin(one) is Literal), ())


def _below(kind: Any, name: str | None) -> Any:  # noqa: ANN401
    """The type of a field, or of the elements (if ``name`` is None)."""
    for one in _members(kind):
        if name is not None and isinstance(one, type) and issubclass(one, msgspec.Struct):
            fields = {field.encode_name: field.type for field in msgspec.structs.fields(one)}
            return fields.get(name)
        if name is None and typing.get_args(one):
            arguments = [each for each in typing.get_args(one) if each is not Ellipsis]
            return arguments[-1]
    return None


def _members(kind: Any) -> tuple[Any, ...]:  # noqa: ANN401
    """The members of a union, or only the type itself."""
    return typing.get_args(kind) if typing.get_origin(kind) in (typing.Union, types.UnionType) else (kind,)


def check_keys(
    data: Mapping[str, Any], place: str, tables: Mapping[str, type[msgspec.Struct]], text: str, file: str
) -> None:
    """Reject keys that the table at ``place`` and those below it do not have; ``tables``: their types by place."""
    known = {field.encode_name for field in msgspec.structs.fields(tables[place])} - {"program", "place"}
    for key, value in data.items():
        if key not in known:
            refuse_key(text, file, key, sorted(known), f" under [{place}]" if place else "")
        below = f"{place}.{key}" if place else key
        if below in tables:
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, dict):
                    check_keys(item, below, tables, text, file)


def line_of(text: str, word: str, *, is_key: bool = False) -> int:
    """The number of the first line that contains ``word`` (``is_key``: as a key).

    0 if none does, as with escaped texts.
    """
    if not word:
        return 0
    key = re.compile(rf"[\s\"'\[{{,]*{re.escape(word)}\s*[=\]\"']") if is_key else None
    for number, line in enumerate(text.splitlines(), 1):
        if key.search(line) if key else word in line:
            return number
    return 0
