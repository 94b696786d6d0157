"""Definitions that rules share: the lists of an area, the layers of the areas, the words and phrases of all signs."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ncdiag.base import toml
from ncdiag.base.errors import DefinitionError
from ncdiag.engine.phrases import Added, Shared, shared
from ncdiag.engine.refusals import refuse, refuse_value
from ncdiag.engine.schema import AREAS, WORDING

T = TypeVar("T")

WORDS = "words.toml"
"""The file of an area with its named lists of words."""


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Definitions for the signs of all areas, and additions in one language.

    ``benign``: phrases whose lines are ignored; ``classes`` of words; ``sign``: phrases added to those of a sign, by
    the names of the rule and of the sign.
    """

    benign: tuple[str, ...] = ()
    classes: dict[str, tuple[str, ...]] = {}
    sign: dict[str, dict[str, Added]] = {}


def words_of(area: Path) -> dict[str, tuple[str | int, ...]]:
    """The named lists of ``words.toml`` in the folder of an area; empty without that file."""
    return _values(area / WORDS, tuple[str | int, ...], 'name = ["one", "other"]')


def layers_of(folder: Path) -> dict[str, int]:
    """The layers that ``areas.toml`` assigns to the areas of a folder of rules; empty without that file."""
    return _values(folder / AREAS, int, "gpu = 5")


def wording_of(folder: Path, *more: Path) -> Wording:
    """The phrases and classes of words in ``wording.toml`` of a folder of rules, and in the files ``more``."""
    files = [_file(path, Wording, 'benign = ["no plugin found"]') for path in (folder / WORDING, *more)]
    return _joined(held for held in files if held)


def shared_of(wording: Wording) -> Shared:
    """The benign phrases and classes, parsed."""
    return shared(wording.benign, wording.classes)


def _joined(found: Iterable[Wording]) -> Wording:
    """All of them merged: classes and signs have the words of each."""
    benign: list[str] = []
    classes: dict[str, tuple[str, ...]] = {}
    sign: dict[str, dict[str, Added]] = {}
    for held in found:
        benign += held.benign
        for name, words in held.classes.items():
            classes[name] = (*classes.get(name, ()), *words)
        for rule, signs in held.sign.items():
            known = sign.setdefault(rule, {})
            for name, more in signs.items():
                had = known.get(name, Added())
                known[name] = Added((*had.says, *more.says), (*had.also, *more.also))
    return Wording(tuple(benign), classes, sign)


def _values(path: Path, kind: type[T], sample: str) -> dict[str, T]:
    """A file of names and values; empty if it does not exist. Raises DefinitionError with the line of a wrong value."""
    text, data = _data(path, sample)
    found: dict[str, T] = {}
    for name, value in data.items():
        try:
            found[name] = msgspec.convert(value, kind)
        except msgspec.ValidationError as error:  # noqa: PERF203  (the error does not name the key)
            reason = f"{name}: {str(error).partition(' - at ')[0].lower()}"
            refuse(text, str(path), name, reason, f"write lines like: {sample}", is_key=True)
    return found


def _file(path: Path, kind: type[T], sample: str) -> T | None:
    """The content of a file; None if it does not exist. Raises DefinitionError with the line of an error."""
    text, data = _data(path, sample)
    try:
        return msgspec.convert(data, kind) if text else None
    except msgspec.ValidationError as error:
        refuse_value(error, text, str(path), kind, f"write lines like: {sample}")


def _data(path: Path, sample: str) -> tuple[str, dict[str, Any]]:
    """The text of a file, and its data; both empty if it does not exist."""
    try:
        text = toml.text_of(path)
    except FileNotFoundError:
        return "", {}
    except (OSError, ValueError) as error:
        reason = f"the file cannot be read: {error}"
        raise DefinitionError(reason, file=str(path), hint=f"write lines like: {sample}") from None
    return text, toml.definition(text, str(path))
