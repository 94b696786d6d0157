"""The examples of a rule, in a separate file ``NAME.examples.toml``; a private rule may keep them in its own file.

``[[example]]`` is as in the file of a rule. The examples of a sign are under its name, or its text if it has none::

    [sign."a process ended by signal 9"]
    example = "exitcode  : -9 (pid: 1234)"
    unlike = "exitcode  : 1 (pid: 1234)"
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ncdiag.base import toml
from ncdiag.base.errors import DefinitionError, suggestion
from ncdiag.engine.refusals import check_keys, listed, refuse, refuse_key, refuse_value
from ncdiag.engine.schema import EXAMPLES, Example, Rule


class OfSign(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The texts on which a sign is tested."""

    example: str = ""
    unlike: str = ""


class Beside(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The content of a file of examples."""

    example: tuple[Example, ...] = ()
    sign: dict[str, OfSign] = {}


def file_of(path: Path) -> Path:
    """The examples file of the rule in the file ``path``; it need not exist."""
    return path.with_name(path.stem + EXAMPLES)


def orphans(folder: Path) -> list[Path]:
    """The examples files in a folder of rules for which there is no rule."""
    found = sorted(folder.glob(f"*/*{EXAMPLES}"))
    return [path for path in found if not path.with_name(f"{path.name.removesuffix(EXAMPLES)}.toml").exists()]


def found(path: Path) -> Beside:
    """The content of the examples file of the rule in ``path``; empty if it is missing or invalid."""
    try:
        return _read(path, ())[0]
    except DefinitionError:
        return Beside()


def with_examples(rule: Rule, path: Path, kinds: Collection[str]) -> Rule:
    """The rule of the file ``path`` with the examples of its examples file.

    ``kinds``: the known section kinds. Raises DefinitionError for an unknown key, kind, outcome or sign.
    """
    held, text = _read(path, kinds)
    if not text:
        return rule
    file, keys = str(file_of(path)), [sign.key for sign in rule.signs]
    for key, of_sign in held.sign.items():
        if key not in keys:
            refuse(text, file, key, f"the rule has no sign {key!r}", suggestion(key, keys))
        if keys.count(key) > 1:
            refuse(text, file, key, f"two signs of the rule are called {key!r}", "give each a name")
        sign = rule.signs[keys.index(key)]
        if (sign.example and of_sign.example) or (sign.unlike and of_sign.unlike):
            refuse(text, file, key, f"the sign {key!r} has this example in the file of the rule, too")
    signs = tuple(
        msgspec.structs.replace(sign, example=sign.example or of.example, unlike=sign.unlike or of.unlike)
        for sign in rule.signs for of in [held.sign.get(sign.key, OfSign())]
    )  # fmt: skip
    return msgspec.structs.replace(rule, examples=(*rule.examples, *held.example), signs=signs)


def _read(path: Path, kinds: Collection[str]) -> tuple[Beside, str]:
    """The content of the examples file of the rule in ``path``, and its text; both empty if it is missing."""
    file = file_of(path)
    try:
        text = toml.text_of(file)
    except FileNotFoundError:
        return Beside(), ""
    except (OSError, ValueError) as error:
        reason = f"the examples cannot be read: {error}"
        raise DefinitionError(reason, file=str(file)) from None
    return _checked(toml.definition(text, str(file)), kinds, text, str(file)), text


def _checked(data: Mapping[str, Any], kinds: Collection[str], text: str, file: str) -> Beside:
    known = Beside.__struct_fields__
    for key in data:
        if key not in known:
            refuse_key(text, file, key, known)
    signs = data.get("sign", {})
    for of_sign in signs.values() if isinstance(signs, dict) else ():
        if isinstance(of_sign, dict):
            check_keys(of_sign, "sign", {"sign": OfSign}, text, file)
    try:
        return msgspec.convert({**data, "example": in_place(data.get("example", []), kinds, text, file)}, Beside)
    except msgspec.ValidationError as error:
        refuse_value(error, text, file, Beside)


def in_place(items: Any, kinds: Collection[str], text: str, file: str) -> Any:  # noqa: ANN401
    """The ``[[example]]`` tables with their texts, given under section kinds, moved to ``sections``.

    Raises DefinitionError for a kind that is not among ``kinds``; if ``kinds`` is empty, nothing is checked.
    """
    if not isinstance(items, list):
        return items
    return [_in_place(item, kinds, text, file) if isinstance(item, dict) else item for item in items]


def _in_place(item: dict[str, Any], kinds: Collection[str], text: str, file: str) -> dict[str, Any]:
    sections = {key: value for key, value in item.items() if key not in ("name", "outcome", "host")}
    for kind, value in sections.items():
        if kinds and kind not in kinds:
            hint = suggestion(kind, kinds) or listed(["name", "outcome", "host", *sorted(kinds)])
            refuse(text, file, kind, f"{kind!r} is not a kind of section", hint, is_key=True)
        sections[kind] = [value] if isinstance(value, str) else value
    return {key: value for key, value in item.items() if key not in sections} | {"sections": sections}
