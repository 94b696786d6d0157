"""Replace the English texts of a rule by those in another language.

Those of the shipped rules are in ``ncdiag/language/<code>/rules/<area>.toml``, under the name of the rule. The key of
each text is its place in the rule (`PLACES`) and the `stamp` of the English text that was translated::

    [oom-killed]
    title.7fb3ff37 = "{e.ended} 因主机内存不足被杀死"

Missing texts stay English, as do texts whose English has changed since, because the stamp differs. Placeholders are
written as in the English text. A private rule keeps its texts in ``[text.zh]`` of its own file, by place and in the
order of the English ones (`own`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ncdiag.base import toml
from ncdiag.base.errors import DefinitionError, suggestion
from ncdiag.base.patterns import lazy_regex
from ncdiag.engine.compiling import program_of
from ncdiag.engine.refusals import line_of, listed, refuse_key, refuse_value
from ncdiag.engine.schema import Rule
from ncdiag.engine.templates import pieces
from ncdiag.engine.tree import Slot, Template

TEXT = "text"
"""The table of a private rule that holds its translations, by language code."""
_BREAK = lazy_regex(r"\s*\n\s*")


class Own(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The texts of a private rule in one language, each list in the order of the English texts; ``of`` is not used."""

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
    of: str = ""


PLACES = Own.__struct_fields__[:-1]
"""Places of texts in a rule: ``fixes`` and ``confirms`` in its ``[[fix]]``, ``suspect``, ``ask`` in ``[suspect]``."""

Translation = dict[str, dict[str, str]]
"""The texts of one rule in one language, by place and by the stamp of the English text."""
Translations = dict[str, Translation]
"""The translations into one language by rule name."""


Ordered = dict[str, dict[str, tuple[str, ...]]]
"""The same as a wheel has it: each list in the order of the English texts, empty for a missing one, without stamps."""


def english(rule: Rule) -> dict[str, tuple[str, ...]]:
    """The English texts of a rule by place; empty ones have no translation."""
    suspect = rule.suspect
    return {
        "title": (rule.title,), "why": (rule.why,), "titles": tuple(case.text for case in rule.titles),
        "false_positives": rule.false_positives, "asks": tuple(ask.missing for ask in rule.asks),
        "suspect": (suspect.text,) if suspect else (), "ask": (suspect.ask,) if suspect else (),
        "signs": tuple(sign.text for sign in rule.signs), "fixes": tuple(fix.text for fix in rule.fixes),
        "confirms": tuple(fix.confirm for fix in rule.fixes),
    }  # fmt: skip


def pairs(rule: Rule, translation: Translation) -> Iterator[tuple[str, str, str]]:
    """(place, English text, translation) of each text of a rule; the translation is empty if it is missing."""
    for place, texts in english(rule).items():
        said = translation.get(place, {})
        for text in dict.fromkeys(filter(None, texts)):
            yield place, text, said.get(stamp(text), "")


def ordered(rules: Iterable[Rule], found: Translations) -> Ordered:
    """The translations of these rules in the order of their English texts: stamps take a fifth of the space."""
    return {
        rule.name: {
            place: tuple(said.get(stamp(text), "") for text in texts)
            for place, texts in english(rule).items() if (said := found[rule.name].get(place))
        }
        for rule in rules if rule.name in found
    }  # fmt: skip


def stamped(rules: Iterable[Rule], found: Ordered) -> Translations:
    """What `ordered` was made from, for the same rules."""
    return {
        rule.name: {
            place: {stamp(text): one for text, one in zip(texts, found[rule.name][place], strict=True) if one}
            for place, texts in english(rule).items() if place in found[rule.name]
        }
        for rule in rules if rule.name in found
    }  # fmt: skip


def stamp(text: str) -> str:
    """Eight hexadecimal digits that depend on the words of a text, but not on its line breaks."""
    import zlib  # needed only for translations

    return f"{zlib.crc32(' '.join(text.split()).encode()):08x}"


def own(data: Any, text: str, file: str) -> dict[str, Own]:  # noqa: ANN401  (what TOML holds)
    """The table ``text`` of a rule file by language; raises DefinitionError for an invalid key or value."""
    for said in data.values() if isinstance(data, dict) else ():
        for key in said if isinstance(said, dict) else ():
            if key not in Own.__struct_fields__:
                refuse_key(text, file, key, PLACES, f" under [{TEXT}]")
    try:
        return msgspec.convert(data, dict[str, Own])
    except msgspec.ValidationError as error:
        refuse_value(error, text, file, dict[str, Own], listed(PLACES))


def of_pack(language: str, paths: Iterable[Path]) -> Translations:
    """The translations in the files of private rules, by rule name."""
    found: Translations = {}
    for path in paths:
        text = toml.text_of(path)
        data = toml.definition(text, str(path))
        said = own(data.pop(TEXT, {}), text, str(path)).get(language)
        if said is not None:
            data.pop("example", None)
            try:
                texts = english(msgspec.convert(data, Rule))
            except msgspec.ValidationError as error:
                refuse_value(error, text, str(path), Rule)
            found[path.stem] = {
                place: {stamp(text): one for text, one in zip(texts[place], _list(getattr(said, place)), strict=False)}
                for place in PLACES
            }
    return found


def _list(said: str | tuple[str, ...]) -> tuple[str, ...]:
    return (said,) if isinstance(said, str) else said


def of_folder(folder: Path) -> tuple[Translations, list[DefinitionError]]:
    """The translations in the files of a folder, and the errors in them.

    A file that is not TOML is skipped, as is a text under an unknown place: its rule stays English.
    """
    found: Translations = {}
    wrong: list[DefinitionError] = []
    for path in sorted(folder.glob("*.toml")):
        try:
            text = toml.text_of(path)
            data = toml.definition(text, str(path))
        except (OSError, ValueError) as error:
            wrong.append(DefinitionError(f"the translations cannot be read: {error}", file=str(path)))
            continue
        except DefinitionError as error:
            wrong.append(error)
            continue
        for name, held in data.items():
            try:
                found[name] = _checked(held, name, text, str(path))
            except DefinitionError as error:  # noqa: PERF203  (the others count)
                wrong.append(error)
    return found, wrong


def _checked(held: Any, name: str, text: str, file: str) -> Translation:  # noqa: ANN401  (what TOML holds)
    """The texts of one rule; raises DefinitionError for an invalid place or value."""
    line = line_of(text, f"[{name}]")
    below = text.splitlines()[max(line - 1, 0) :]
    for place, texts in held.items() if isinstance(held, Mapping) else ():
        at = next((line + n for n, each in enumerate(below) if re.match(rf"{re.escape(place)}[ .=]", each)), line)
        if place not in PLACES:
            reason = f"{name}: a rule has no texts called {place!r}"
            raise DefinitionError(reason, file=file, line=at, hint=suggestion(place, PLACES) or listed(PLACES))
        if not isinstance(texts, Mapping):
            reason = f"{name}: the text of {place!r} has no stamp"
            raise DefinitionError(reason, file=file, line=at, hint=f'write lines like: {place}.7fb3ff37 = "..."')
    try:
        return msgspec.convert(held, Translation)
    except msgspec.ValidationError as error:
        reason = f"{name}: {error}"
        raise DefinitionError(reason, file=file, line=line, hint='write lines like: title.7fb3ff37 = "..."') from None


def translated(rule: Rule, translation: Translation) -> Rule:
    """The rule with its translated texts; a text stays English if the translation has other placeholders."""
    program = program_of(rule)
    templates: dict[str, Template] = {}

    def put(place: str, text: str) -> str:
        said = unwrapped(translation.get(place, {}).get(stamp(text), "") if text else "")
        original = program.templates.get(text)
        if not said or ("{" in said and original is None):
            return text
        if original is not None:
            template = _template(text, original, said)
            if template is None:
                return text
            templates[said] = template
        return said

    replace = msgspec.structs.replace
    suspect = rule.suspect
    if suspect is not None:
        suspect = replace(suspect, text=put("suspect", suspect.text), ask=put("ask", suspect.ask))
    changed = replace(
        rule, title=put("title", rule.title), why=put("why", rule.why), suspect=suspect,
        titles=tuple(replace(case, text=put("titles", case.text)) for case in rule.titles),
        false_positives=tuple(put("false_positives", text) for text in rule.false_positives),
        asks=tuple(replace(ask, missing=put("asks", ask.missing)) for ask in rule.asks),
        signs=tuple(replace(sign, text=put("signs", sign.text)) for sign in rule.signs),
        fixes=tuple(
            replace(fix, text=put("fixes", fix.text), confirm=put("confirms", fix.confirm)) for fix in rule.fixes
        ),
    )  # fmt: skip
    return replace(changed, program=replace(program, templates={**program.templates, **templates}))


def _template(text: str, original: Template, said: str) -> Template | None:
    """The template of a translation, with the placeholders of the English one; None if it has others."""
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
    """The text on one line: a line break becomes a blank only next to a letter or digit that is not wide."""
    return _BREAK.sub(lambda found: _glue(text[found.start() - 1], text[found.end()]), text.strip())


def _glue(before: str, after: str) -> str:
    wide = [unicodedata.east_asian_width(character) in "WF" for character in (before, after)]
    marks = any(
        unicodedata.category(one)[0] == "P" and is_wide for one, is_wide in zip((before, after), wide, strict=True)
    )
    return "" if all(wide) or marks else " "
