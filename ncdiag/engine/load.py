"""Rule files to checked rules. What is wrong raises DefinitionError with file, line where known, and help."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import msgspec

from ncdiag.base import toml
from ncdiag.base.errors import DefinitionError, suggestion
from ncdiag.engine import clauses
from ncdiag.engine.order import placed
from ncdiag.engine.phrases import Phrase, Shared, phrase, shared
from ncdiag.engine.program import Bound, Program, completed
from ncdiag.engine.schema import AREAS, DEFAULT_LAYER, WORDING, Applies, Ask, Case, Fix, Rule, Sign, Suspect
from ncdiag.engine.scope import Names, Scope
from ncdiag.engine.templates import compile_template
from ncdiag.engine.translation import TEXT, read
from ncdiag.engine.tree import Template, Tree
from ncdiag.facts.scalars import Constraint

T = TypeVar("T")

WORDS = "words.toml"
"""The file of an area that gives names to lists of words."""
FILES_LIMIT = 5000
"""Files of one pack; ncdiag itself ships about a thousand rules."""
_CODE = re.compile(r"[A-Z]{2,6}\d{3,4}\Z")
_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*\Z")
_TABLES: dict[str, type[msgspec.Struct]] = {
    "": Rule, "applies": Applies, "fix": Fix, "fix.applies": Applies, "asks": Ask, "titles": Case,
    "suspect": Suspect, "sign": Sign,
}  # fmt: skip


def load_folder(folder: Path, names: Names | None = None) -> tuple[Rule, ...]:
    """All rules of ``folder/<area>/<name>.toml`` by code, with their places.

    Codes and names, old ones included, are unique.
    """
    rules = [load_file(path, names) for path in rule_files(folder)]
    check_unique(rules)
    return placed(rules)


def rule_files(folder: Path) -> list[Path]:
    """The rule files of a folder, in a fixed order. Raises DefinitionError where there are too many."""
    found = list(itertools.islice(folder.glob("*/*.toml"), FILES_LIMIT + 1))
    if len(found) > FILES_LIMIT:
        reason = f"this folder contains more than {FILES_LIMIT} files of rules"
        raise DefinitionError(reason, file=str(folder))
    return sorted(path for path in found if path.name != WORDS)


def texts_of(folder: Path) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """By code, all that the file of a rule says, and the inputs that it is tried on.

    Of a sign that facts show, the example is such an input: it has the words of a format, not those of the cause.
    """
    texts: dict[str, list[str]] = {}
    inputs: dict[str, list[str]] = {}
    for path in rule_files(folder):
        data = toml.definition(toml.text_of(path), str(path))
        shown = [sign for sign in data.get("sign", ()) if not sign.get("says")]
        data.pop(TEXT, None)
        formats = [sign.pop(name) for sign in shown for name in ("example", "unlike") if name in sign]
        inputs[data["code"]] = list(_strings([data.pop("example", []), formats]))
        texts[data["code"]] = list(_strings(data))
    return texts, inputs


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _strings(part)


def words_of(area: Path) -> dict[str, tuple[str | int, ...]]:
    """The lists to which ``words.toml`` in the folder of an area gives names; empty without that file."""
    return _values(area / WORDS, tuple[str | int, ...], 'name = ["one", "other"]')


def layers_of(folder: Path) -> dict[str, int]:
    """The layers that ``areas.toml`` gives to the areas of a folder of rules; empty without that file."""
    return _values(folder / AREAS, int, "gpu = 5")


class Wording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the signs of all areas share: ``benign`` phrases, in whose lines no sign is looked for, and ``classes``."""

    benign: tuple[str, ...] = ()
    classes: dict[str, tuple[str, ...]] = {}


def wording_of(folder: Path) -> Wording:
    """The phrases and classes of words in ``wording.toml`` of a folder of rules; none without that file."""
    return _file(folder / WORDING, Wording, 'benign = ["no plugin found"]') or Wording()


def shared_of(folder: Path) -> Shared:
    """The same, ready to be looked for."""
    texts = wording_of(folder)
    return shared(texts.benign, texts.classes)


def _values(path: Path, kind: type[T], sample: str) -> dict[str, T]:
    """A file of names and values; empty when it does not exist."""
    return _file(path, dict[str, kind], sample) or {}  # type: ignore[valid-type]


def _file(path: Path, kind: type[T], sample: str) -> T | None:
    """What a file holds; None when it does not exist."""
    try:
        return msgspec.convert(toml.definition(toml.text_of(path), str(path)), kind)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        reason = f"the file cannot be read: {error}"
        raise DefinitionError(reason, file=str(path), hint=f"write lines like: {sample}") from None


def load_file(path: Path, names: Names | None = None) -> Rule:
    """One rule; its file is called after it, its folder after its area."""
    try:
        text = toml.text_of(path)
    except (OSError, ValueError) as error:
        reason = f"the rule cannot be read: {error}"
        raise DefinitionError(reason, file=str(path)) from None
    named = msgspec.structs.replace(names or Names(), words=words_of(path.parent))
    if not named.classes:
        named = msgspec.structs.replace(named, classes=wording_of(path.parent.parent).classes)
    layers = {**named.layers, **layers_of(path.parent.parent)}
    rule = load_text(text, named, file=str(path), layer=layers.get(path.parent.name, DEFAULT_LAYER))
    if rule.name != path.stem:
        _refuse(text, str(path), rule.name, f"the file is called {path.name}, but the rule is {rule.name!r}")
    if rule.area != path.parent.name:
        _refuse(text, str(path), rule.area, f"the folder is called {path.parent.name}, but the area is {rule.area!r}")
    return rule


def load_text(text: str, names: Names | None = None, file: str = "", layer: int = DEFAULT_LAYER) -> Rule:
    """A rule from the text of its file, checked and with its program; ``layer`` is that of its area."""
    data = {"layer": layer, **toml.definition(text, file)}
    names = names or Names()
    read(data.pop(TEXT, {}), file)  # what is read of it is asked for by `ncdiag.catalogue.translations` alone
    _check_keys(data, "", text, file)
    data["example"] = [_example(item, names, text, file) for item in _tables(data, "example")]
    try:
        rule = msgspec.convert(data, Rule)
    except msgspec.ValidationError as error:
        _refuse_value(error, text, file)
    _check_words(rule, text, file)
    try:
        return msgspec.structs.replace(rule, program=compile_rule(rule, names))
    except DefinitionError as error:
        line = _line(text, error.text)
        raise DefinitionError(
            error.reason, file=file, line=line, text=error.text, column=error.column, hint=error.hint
        ) from None


def compile_rule(rule: Rule, names: Names | None = None) -> Program:
    """Check the conditions and texts of a rule against the facts; DefinitionError with a caret for the first fault."""
    names = names or Names()
    scope, each = Scope(names), []
    for name, text in rule.each.items():
        if not name.isidentifier() or name in clauses.RESERVED:
            reason = f"each cannot bind {name!r}"
            raise DefinitionError(reason, text=name, hint="choose a plain name that means nothing else")
        path, kind = clauses.path(text, scope)
        if scope.walked & scope.collections(path):
            raise DefinitionError(clauses.QUADRATIC, text=text, hint="start from a name that is bound already")
        each.append(Bound(name, path))
        scope = scope.bind(name, path, kind)
    if not rule.when and not (rule.suspect and rule.signs):
        reason = "the rule has neither a condition nor signs, so it would never answer"
        raise DefinitionError(reason, text="when")
    if rule.signs and not rule.suspect:
        reason = "signs belong to a suspect"
        raise DefinitionError(reason, text="sign", hint="add a table [suspect]")
    program = Program(
        each=tuple(each),
        when=_conditions(rule.when, scope),
        unless=_conditions(rule.unless, scope),
        nccl=_constraint(rule.applies.nccl),
        templates={text: _template(text, scope) for text in _texts(rule) if "{" in text or "}" in text},
        title_when=tuple(_conditions(case.when, scope) for case in rule.titles),
        fix_when=tuple(_conditions(fix.when, scope) for fix in rule.fixes),
        fix_nccl=tuple(_constraint(fix.applies.nccl) for fix in rule.fixes),
        sign_when=tuple(_conditions(sign.when, Scope(names)) for sign in rule.signs),
        sign_says=tuple(_said(sign, names) for sign in rule.signs),
    )
    return completed(program)


def _said(sign: Sign, names: Names) -> tuple[tuple[Phrase, ...], ...]:
    """The phrases of ``says`` and of ``also``."""
    if not (sign.says or sign.when):
        reason = "a sign needs phrases (says) or conditions (when)"
        raise DefinitionError(reason, text=sign.text)
    return tuple(tuple(phrase(text, names.classes) for text in texts) for texts in (sign.says, sign.also))


def check_unique(rules: Iterable[Rule]) -> None:
    """Refuse a code or name, present or former, that two rules lay claim to."""
    seen: dict[str, str] = {}
    for rule in rules:
        for word in dict.fromkeys([rule.code, rule.name, *rule.formerly]):
            if word in seen:
                reason = f"{word!r} belongs to the rule {seen[word]} and to {rule.name}"
                raise DefinitionError(reason, hint="a code or name, once published, keeps its meaning")
            seen[word] = rule.name


def _conditions(texts: Iterable[str], scope: Scope) -> tuple[Tree, ...]:
    return tuple(clauses.condition(text, scope) for text in texts)


def _template(text: str, scope: Scope) -> Template:
    return compile_template(text, scope)


def _constraint(text: str) -> Constraint:
    try:
        return Constraint.parse(text)
    except ValueError as error:
        raise DefinitionError(str(error), text=text) from None


def _texts(rule: Rule) -> list[str]:
    texts = [rule.title, rule.why, rule.group, *(case.text for case in rule.titles)]
    for fix in rule.fixes:
        texts += [fix.text, fix.scope, fix.confirm, *fix.env.values(), *fix.unset, *fix.commands]
    return texts


def _tables(data: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    held = data.get(key, [])
    return [item for item in held if isinstance(item, dict)] if isinstance(held, list) else []


def _check_keys(data: Mapping[str, Any], place: str, text: str, file: str) -> None:
    """Refuse unknown keys, here and in the tables below, with the key that was meant."""
    table = _TABLES[place]
    known = {field.encode_name for field in msgspec.structs.fields(table)} - {"program", "place"}
    for key, value in data.items():
        if key not in known:
            where = f" under [{place}]" if place else ""
            _refuse(text, file, key, f"unknown key {key!r}{where}", suggestion(key, known), is_key=True)
        below = f"{place}.{key}" if place else key
        if below in _TABLES:
            for item in value if isinstance(value, list) else [value]:
                if isinstance(item, dict):
                    _check_keys(item, below, text, file)


def _example(data: dict[str, Any], names: Names, text: str, file: str) -> dict[str, Any]:
    """An example with its texts, which are under their section kinds, put into one place."""
    sections = {key: value for key, value in data.items() if key not in ("name", "outcome", "host")}
    for kind, value in sections.items():
        if names.sections and kind not in names.sections:
            hint = suggestion(kind, names.sections)
            _refuse(text, file, kind, f"{kind!r} is not a kind of section", hint, is_key=True)
        sections[kind] = [value] if isinstance(value, str) else value
    return {key: value for key, value in data.items() if key not in sections} | {"sections": sections}


def _check_words(rule: Rule, text: str, file: str) -> None:
    if not _CODE.match(rule.code):
        _refuse(text, file, rule.code, f"{rule.code!r} is not a code", "letters and digits, such as NCD101")
    for name in (rule.name, *rule.formerly):
        if not _NAME.match(name):
            _refuse(text, file, name, f"{name!r} is not a name", "lower case, digits and hyphens, such as gdr-disabled")


def _refuse_value(error: msgspec.ValidationError, text: str, file: str) -> NoReturn:
    """A value of the wrong type, or a key that is missing."""
    reason, _, place = str(error).partition(" - at ")
    place = place.strip("`$.") if place else ""
    key = re.split(r"[.\[]", place)[-1] if place else ""
    where = f"{place}: " if place else ""
    _refuse(text, file, key, where + reason[:1].lower() + reason[1:], is_key=True)


def _refuse(  # noqa: PLR0913  (what is wrong, where, and what helps)
    text: str, file: str, word: str, reason: str, hint: str = "", *, is_key: bool = False
) -> NoReturn:
    raise DefinitionError(reason, file=file, line=_line(text, word, is_key=is_key), hint=hint)


def _line(text: str, word: str, *, is_key: bool = False) -> int:
    """The first line that holds ``word`` (as a key, when asked); 0 when none does, as with escaped texts."""
    if not word:
        return 0
    key = re.compile(rf"[\s\"'\[{{,]*{re.escape(word)}\s*[=\]\"']") if is_key else None
    for number, line in enumerate(text.splitlines(), 1):
        if key.search(line) if key else word in line:
            return number
    return 0
