"""Load rule files and check them. Errors raise DefinitionError with file, line if known, and help."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from ncdiag.base import toml
from ncdiag.base.errors import DefinitionError
from ncdiag.base.patterns import lazy_regex
from ncdiag.engine import examples
from ncdiag.engine.areas import WORDS, layers_of, wording_of, words_of
from ncdiag.engine.codes import CODE, code_of
from ncdiag.engine.compiling import compile_rule
from ncdiag.engine.refusals import check_keys, line_of, refuse, refuse_value
from ncdiag.engine.schema import DEFAULT_LAYER, EXAMPLES, Applies, Ask, Case, Fix, Rule, Sign, Suspect
from ncdiag.engine.scope import Names
from ncdiag.engine.translation import TEXT, own
from ncdiag.nccl.defects.table import PACK

FILES_LIMIT = 5000
"""Maximum number of files in a pack; ncdiag ships about a thousand rules."""
_NAME = lazy_regex(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*\Z")
_TABLES: dict[str, type[msgspec.Struct]] = {
    "": Rule, "applies": Applies, "fix": Fix, "fix.applies": Applies, "asks": Ask, "titles": Case,
    "suspect": Suspect, "sign": Sign,
}  # fmt: skip


def load_folder(folder: Path, names: Names | None = None, *, with_examples: bool = True) -> tuple[Rule, ...]:
    """All rules of ``folder/<area>/<name>.toml`` by code.

    Codes and names, including former ones, are unique. Files of examples are read only ``with_examples``.
    """
    rules = [load_file(path, names, with_examples=with_examples) for path in rule_files(folder)]
    check_unique(rules)
    return tuple(sorted(rules, key=lambda rule: rule.code))


def rule_files(folder: Path) -> list[Path]:
    """The rule files of a folder, in a fixed order, without their files of examples.

    Raises DefinitionError if there are too many.
    """
    rules = (path for path in folder.glob("*/*.toml") if not path.name.endswith(EXAMPLES) and path.parent.name != PACK)
    found = list(itertools.islice(rules, FILES_LIMIT + 1))
    if len(found) > FILES_LIMIT:
        reason = f"this folder contains more than {FILES_LIMIT} files of rules"
        raise DefinitionError(reason, file=str(folder))
    return sorted(path for path in found if path.name != WORDS)


def texts_of(folder: Path, names: Names) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """By code, all texts in the files of a rule, and the inputs on which it is tested.

    The example of a sign with conditions is such an input: its words are those of a format, not of the cause.
    """
    texts: dict[str, list[str]] = {}
    inputs: dict[str, list[str]] = {}
    for path in rule_files(folder):
        data = toml.definition(toml.text_of(path), str(path))
        _add_phrases(data, names)
        data.pop(TEXT, None)
        beside = msgspec.to_builtins(examples.found(path))
        tried = [data.pop("example", []), beside.get("example", [])]
        for sign in data.get("sign", ()):
            sign.update(beside.get("sign", {}).get(sign.get("name") or sign["text"], {}))
            sign.pop("name", None)
            if not sign.get("says"):
                tried.append([sign.pop(name) for name in ("example", "unlike") if name in sign])
        code = code_of(data["code"], data["name"])
        inputs[code], texts[code] = list(_strings(tried)), list(_strings(data))
    return texts, inputs


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _strings(part)


def load_file(path: Path, names: Names | None = None, *, with_examples: bool = True) -> Rule:
    """One rule with the examples of its examples file.

    The file has the name of the rule, the folder that of its area.
    """
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
        refuse(text, str(path), rule.name, f"the file is called {path.name}, but the rule is {rule.name!r}")
    if rule.area != path.parent.name:
        refuse(text, str(path), rule.area, f"the folder is called {path.parent.name}, but the area is {rule.area!r}")
    return examples.with_examples(rule, path, named.sections) if with_examples else rule


def load_text(text: str, names: Names | None = None, file: str = "", layer: int = DEFAULT_LAYER) -> Rule:
    """A rule from the text of its file, checked and compiled; ``layer`` is that of its area."""
    data = {"layer": layer, **toml.definition(text, file)}
    names = names or Names()
    own(data.pop(TEXT, {}), text, file)  # its content is used only by `ncdiag.catalogue.translations`
    check_keys(data, "", _TABLES, text, file)
    data["example"] = examples.in_place(data.get("example", []), names.sections, text, file)
    _add_phrases(data, names)
    try:
        rule = msgspec.convert(data, Rule)
    except msgspec.ValidationError as error:
        layers = ", ".join(f"{area} {layer}" for area, layer in names.layers.items())
        refuse_value(
            error, text, file, Rule, f"layers of areas: {layers}" if layers and "$.layer" in str(error) else ""
        )
    _check_words(rule, text, file)
    rule = msgspec.structs.replace(rule, code=code_of(rule.code, rule.name))
    try:
        return msgspec.structs.replace(rule, program=compile_rule(rule, names))
    except DefinitionError as error:
        line = line_of(text, error.text)
        raise DefinitionError(
            error.reason, file=file, line=line, text=error.text, column=error.column, hint=error.hint
        ) from None


def check_unique(rules: Iterable[Rule]) -> None:
    """Raise DefinitionError if two rules use the same code or name, present or former."""
    seen: dict[str, str] = {}
    for rule in rules:
        for word in dict.fromkeys([rule.code, rule.name, *rule.formerly]):
            if word in seen:
                reason = f"{word!r} belongs to the rule {seen[word]} and to {rule.name}"
                raise DefinitionError(reason, hint="a code or name, once published, keeps its meaning")
            seen[word] = rule.name


def _tables(data: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    held = data.get(key, [])
    return [item for item in held if isinstance(item, dict)] if isinstance(held, list) else []


def _add_phrases(data: Mapping[str, Any], names: Names) -> None:
    """Add the phrases in other languages to those of each sign that has a name."""
    more = names.phrases.get(str(data.get("name")), {})
    for sign in _tables(data, "sign") if more else ():
        held = more.get(str(sign.get("name")))
        for key in ("says", "also") if held else ():
            if found := getattr(held, key):
                sign[key] = [*sign.get(key, ()), *found]


def _check_words(rule: Rule, text: str, file: str) -> None:
    if not CODE.match(rule.code):
        hint = "letters and digits, such as NCD101, or NCD??? until a number is assigned"
        refuse(text, file, rule.code, f"{rule.code!r} is not a code", hint)
    signs = [sign.name for sign in rule.signs if sign.name]
    for name in (rule.name, *rule.formerly, *signs):
        if not _NAME.match(name):
            refuse(text, file, name, f"{name!r} is not a name", "lower case, digits and hyphens, such as gdr-disabled")
    for name in signs:
        if signs.count(name) > 1:
            refuse(text, file, name, f"two signs are called {name!r}")
