"""The texts of a rule in another language: ``[text.zh]`` of its file, put in the place of the English ones.

Each text stands under the key of its English one, those of a list in the same order; ``fixes`` and ``confirms`` are
those of the ``[[fix]]``, ``signs`` those of the ``[[sign]]``, ``suspect`` and ``ask`` those of ``[suspect]``. What is
missing or empty stays English. A hole is written as the English text writes it. ``of`` is the `stamp` of the English
texts that were translated: where they changed since then, a test says so.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ncdiag.base.errors import DefinitionError
from ncdiag.engine.evaluate import program_of
from ncdiag.engine.schema import Rule
from ncdiag.engine.templates import pieces
from ncdiag.engine.tree import Slot, Template

TEXT = "text"
"""The table of a rule file that holds the translations, by the code of the language."""
_BREAK = re.compile(r"\s*\n\s*")


class Translation(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The texts of one rule in one language."""

    of: str = ""
    title: str = ""
    why: str = ""
    titles: tuple[str, ...] = ()
    false_positives: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    suspect: str = ""
    ask: str = ""
    signs: tuple[str, ...] = ()
    fixes: tuple[str, ...] = ()
    confirms: tuple[str, ...] = ()


Translations = dict[str, Translation]
"""The translations of one language by the name of the rule."""


def english(rule: Rule) -> Translation:
    """The texts that a translation translates, in its shape."""
    return Translation(
        title=rule.title, why=rule.why, titles=tuple(case.text for case in rule.titles),
        false_positives=rule.false_positives, asks=tuple(ask.missing for ask in rule.asks),
        suspect=rule.suspect.text if rule.suspect else "", ask=rule.suspect.ask if rule.suspect else "",
        signs=tuple(sign.text for sign in rule.signs), fixes=tuple(fix.text for fix in rule.fixes),
        confirms=tuple(fix.confirm for fix in rule.fixes),
    )  # fmt: skip


def pairs(rule: Rule, translation: Translation) -> Iterator[tuple[str, str, str]]:
    """Place, English text and translation of each text that a rule has; the translation is empty where it is missing.

    Lists are compared as far as the English one goes.
    """
    original = english(rule)
    for field in Translation.__struct_fields__[1:]:
        texts, said = getattr(original, field), getattr(translation, field)
        if isinstance(texts, str):
            texts, said = (texts,), (said,)
        for number, text in enumerate(texts):
            if text:
                place = field if len(texts) == 1 else f"{field}[{number}]"
                yield place, text, said[number] if number < len(said) else ""


def stamp(rule: Rule) -> str:
    """Eight hexadecimal digits that change with the English texts."""
    import zlib  # only those who translate ask for it

    texts = "\0".join(text for _, text, _ in pairs(rule, Translation()))
    return f"{zlib.crc32(' '.join(texts.split()).encode()):08x}"


def read(data: Any, file: str) -> Translations:  # noqa: ANN401  (what TOML holds)
    """The table ``text`` of a rule file, by language; DefinitionError for a key or value that it cannot have."""
    try:
        return msgspec.convert(data, Translations)
    except msgspec.ValidationError as error:
        reason = f"[{TEXT}]: {error}"
        raise DefinitionError(
            reason, file=file, hint=f"it may hold {', '.join(Translation.__struct_fields__)}"
        ) from None


def folder_translations(language: str, paths: Iterable[Path]) -> Translations:
    """The translations in rule files, by the name of the rule."""
    from ncdiag.base import toml

    found: Translations = {}
    for path in paths:
        held = read(toml.definition(toml.text_of(path), str(path)).get(TEXT, {}), str(path)).get(language)
        if held is not None:
            found[path.stem] = held
    return found


def translated(rule: Rule, translation: Translation) -> Rule:
    """The rule with the texts that are translated; one whose holes the English text does not have stays English."""
    program = program_of(rule)
    templates: dict[str, Template] = {}

    def put(text: str, said: str) -> str:
        said = unwrapped(said)
        original = program.templates.get(text)
        if not said or ("{" in said and original is None):
            return text
        if original is not None:
            template = _template(text, original, said)
            if template is None:
                return text
            templates[said] = template
        return said

    def each(texts: Sequence[Any], said: Sequence[str], change: Callable[[Any, str], Any]) -> tuple[Any, ...]:
        filled = (*said, *[""] * len(texts))
        return tuple(change(text, filled[number]) for number, text in enumerate(texts))

    def field(name: str) -> Callable[[Any, str], Any]:
        return lambda part, said: msgspec.structs.replace(part, **{name: put(getattr(part, name), said)})

    fixes = each(rule.fixes, translation.fixes, field("text"))
    suspect = rule.suspect
    if suspect is not None:
        suspect = msgspec.structs.replace(
            suspect, text=put(suspect.text, translation.suspect), ask=put(suspect.ask, translation.ask)
        )
    changed = msgspec.structs.replace(
        rule, title=put(rule.title, translation.title), why=put(rule.why, translation.why),
        titles=each(rule.titles, translation.titles, field("text")),
        false_positives=each(rule.false_positives, translation.false_positives, put),
        asks=each(rule.asks, translation.asks, field("missing")), suspect=suspect,
        signs=each(rule.signs, translation.signs, field("text")),
        fixes=each(fixes, translation.confirms, field("confirm")),
    )  # fmt: skip
    return msgspec.structs.replace(
        changed, program=msgspec.structs.replace(program, templates={**program.templates, **templates})
    )


def _template(text: str, original: Template, said: str) -> Template | None:
    """The template of a translation, with the holes of the English one; None where it has others."""
    slots: dict[str, Slot] = {}
    for (hole, _), part in zip(pieces(text), original, strict=True):
        if isinstance(part, Slot):
            slots[hole] = part
    parts: list[str | Slot] = []
    for hole, literal in pieces(said):
        if hole and hole not in slots:
            return None
        parts.append(slots[hole] if hole else literal)
    return tuple(parts)


def unwrapped(text: str) -> str:
    """The text in one line: a break is a blank only beside a letter or a digit that is not wide."""
    return _BREAK.sub(lambda found: _glue(text[found.start() - 1], text[found.end()]), text.strip())


def _glue(before: str, after: str) -> str:
    wide = [unicodedata.east_asian_width(character) in "WF" for character in (before, after)]
    marks = any(
        unicodedata.category(one)[0] == "P" and is_wide for one, is_wide in zip((before, after), wide, strict=True)
    )
    return "" if all(wide) or marks else " "
