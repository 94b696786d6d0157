"""The rules as the program uses them: checked once, compiled, and loaded in a few milliseconds.

``python -m ncdiag.catalogue build FOLDER`` writes the files that a wheel ships.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import pkgutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ncdiag.base import compiled
from ncdiag.base.errors import NcdiagError, UsageError
from ncdiag.base.version import __version__
from ncdiag.engine import resemblance
from ncdiag.engine.phrases import Shared
from ncdiag.engine.resemblance import Index
from ncdiag.engine.schema import EXAMPLES, WORDING, Example, Rule
from ncdiag.engine.scope import Names
from ncdiag.language import ENGLISH, LANGUAGES
from ncdiag.nccl.defects import table

if TYPE_CHECKING:
    from ncdiag.engine.areas import Wording
    from ncdiag.engine.translation import Translations

_CODE_FOLDERS = ("engine", "facts", "nccl/vocabulary", "messages/vocabulary", "knowledge", "formats", "parsers")
"""Folders of code that compiled rules depend on: it declares the types of facts and events."""


class Examples(msgspec.Struct, frozen=True, array_like=True):
    """The test inputs of a rule: its examples, and ``example`` and ``unlike`` of each of its signs."""

    of_rule: tuple[Example, ...] = ()
    of_signs: tuple[tuple[str, str], ...] = ()


def rules(extra_dirs: Collection[Path] = ()) -> tuple[Rule, ...]:
    """All rules by code, without their examples; ``extra_dirs`` are private packs (``<area>/<name>.toml``).

    Raises DefinitionError for an invalid rule or one whose code or name is taken, UsageError if a folder does not
    exist.
    """
    table.use(folder for folder in extra_dirs if folder.is_dir())
    found = _pack("rules", rules_dir())
    for number, folder in enumerate(extra_dirs):
        if not folder.is_dir():
            msg = f"{folder} is not a folder of rules"
            raise UsageError(msg)
        if not is_shipped(folder):  # a rule of the project that is being written
            found += _pack(f"pack{number}", folder.resolve())
    if found and extra_dirs:
        from ncdiag.engine.load import check_unique

        check_unique(found)
        found = _by_code(found)
    return found


def _by_code(found: Iterable[Rule]) -> tuple[Rule, ...]:
    return tuple(sorted(found, key=lambda rule: rule.code))


def rules_with_examples() -> tuple[Rule, ...]:
    """The shipped rules by code, with their examples and those of their signs. Raises what `rules` raises."""
    sources = itertools.chain(compiled.files(rules_dir(), ".toml", 1), _definitions())
    shown = compiled.load("examples", sources, lambda: _examples(_whole()), dict[str, Examples])
    return tuple(_shown(rule, shown[rule.name]) for rule in rules())


def localised(found: Iterable[Rule], language: str, extra_dirs: Iterable[Path] = ()) -> tuple[Rule, ...]:
    """The rules with their texts in ``language``; English where there is no translation."""
    if language == ENGLISH or language not in LANGUAGES:
        return tuple(found)
    from ncdiag.engine.translation import translated

    said = dict(translations(language, rules_dir()))
    for folder in extra_dirs:
        said |= translations(language, folder.resolve())
    return tuple(translated(rule, said[rule.name]) if rule.name in said else rule for rule in found)


def translations(language: str, folder: Path) -> Translations:
    """The translations of a folder's rules into a language, by rule name; read and compiled on first use."""
    from ncdiag.engine.translation import Ordered, Translations, stamped

    if folder == rules_dir():
        if not compiled.is_checkout():
            return stamped(rules(), compiled.hold(f"rules-{language}", (), dict, Ordered))
        sources = compiled.files(translations_dir(language), ".toml")
        return compiled.hold(f"rules-{language}", sources, lambda: _translations(language), Translations)
    sources = compiled.files(folder, ".toml", 1)
    return compiled.cached(f"pack-{language}", sources, lambda: _of_pack(language, folder), Translations)


def translations_dir(language: str) -> Path:
    """The folder with the translations of the shipped rules into a language: one file per area."""
    return compiled.PACKAGE / "language" / language / "rules"


def _translations(language: str) -> Translations:
    from ncdiag.engine.translation import of_folder

    return of_folder(translations_dir(language))[0]  # `make translated` lists the problems


def _of_pack(language: str, folder: Path) -> Translations:
    from ncdiag.engine.load import rule_files
    from ncdiag.engine.translation import of_pack

    return of_pack(language, rule_files(folder))


def shared() -> Shared:
    """Definitions that the signs of all areas share."""
    return compiled.hold("wording", [*_wording_files(), *_code()], _shared, Shared)


def texts() -> Index:
    """An index of the words in the texts of all shipped rules."""
    sources = itertools.chain(compiled.files(rules_dir(), ".toml"), _input_files(), _code())
    return compiled.hold("texts", sources, _texts, Index)


def _texts() -> Index:
    from ncdiag.engine.load import texts_of

    return resemblance.index(*texts_of(rules_dir(), Names(phrases=_wording().sign)))


def _shared() -> Shared:
    from ncdiag.engine.areas import shared_of

    return shared_of(_wording())


def _wording() -> Wording:
    from ncdiag.engine.areas import wording_of

    return wording_of(rules_dir(), *map(Path, _input_files()))


def _wording_files() -> list[str]:
    return [str(rules_dir() / WORDING), *_input_files()]


def _input_files() -> list[str]:
    """The files with words that people use in other languages than English: one per language."""
    return [str(compiled.PACKAGE / "language" / language / "input" / "signs.toml") for language in LANGUAGES[1:]]


def rules_dir() -> Path:
    """The folder of the shipped rules in a checkout; a wheel has only the compiled rules."""
    return compiled.PACKAGE.parent / "rules"


def is_shipped(folder: Path) -> bool:
    """True if ``folder`` is that of the shipped rules, by whatever path it is named."""
    shipped = rules_dir()
    return compiled.is_checkout() and shipped.is_dir() and folder.is_dir() and folder.samefile(shipped)


def names() -> Names:
    """All names that rules may use: facts, variables, events and their fields, and the layers of the areas."""
    package = compiled.PACKAGE
    sources = (
        compiled.files(package / "nccl", ".toml"),
        compiled.files(package / "cells", ".toml"),
        compiled.files(package / "fixes", ".py"),
        _definitions(),
    )
    return compiled.hold("names", itertools.chain(*sources), _names, Names)


def _names() -> Names:
    from ncdiag.cells import vocabulary
    from ncdiag.engine.areas import layers_of
    from ncdiag.fixes import values
    from ncdiag.messages.about import book
    from ncdiag.messages.load import own_messages
    from ncdiag.messages.match import Matcher
    from ncdiag.messages.template import HOLES
    from ncdiag.nccl.environment import table
    from ncdiag.nccl.reasons import groups
    from ncdiag.parsers import discover

    messages, known, parsed, wording = own_messages(), table(), parsed_events(), _wording()
    known_cells = vocabulary.build()
    holes = {name: _python_type(HOLES[kind].convert) for name, kind in Matcher(messages).hole_types().items()}
    return Names(
        settings=frozenset(known.variables) | frozenset(known.misspelt),
        events=frozenset(message.event for message in messages) | parsed.keys(),
        categories=frozenset(book().categories),
        reasons=frozenset(groups()),
        values=frozenset(values.registry()),
        sections=frozenset(discover()) | {"nccl_log"},
        holes={name: frozenset({kind}) for name, kind in holes.items()}
        | {name: frozenset({kind}) for fields in parsed.values() for name, kind in fields.items()},
        objects=frozenset(known_cells.objects),
        failings=frozenset(known_cells.reasons),
        layers=layers_of(rules_dir()),
        classes=wording.classes,
        phrases=wording.sign,
    )


def parsed_events() -> dict[str, dict[str, str]]:
    """Types of the fields of events that parsers recognise by the form of a line, without a message in the catalogue.

    The key is the event; each parser module declares its events as ``EVENTS``.
    """
    from ncdiag import parsers

    found: dict[str, dict[str, str]] = {}
    for module in pkgutil.walk_packages(parsers.__path__, f"{parsers.__name__}."):
        found |= getattr(importlib.import_module(module.name), "EVENTS", {})
    return found


def _python_type(convert: Callable[[str], object]) -> str:
    """The name of the type that the converter of a placeholder returns."""
    return type(convert("0")).__name__


def _pack(name: str, folder: Path) -> tuple[Rule, ...]:
    """The rules of one private pack, without their examples. Packs are never shipped, so each has a cache name."""
    rule_files = (
        path
        for path in compiled.files(folder, ".toml", 1)
        if not path.endswith(EXAMPLES) and Path(path).parent.name != table.PACK
    )
    sources = itertools.chain(rule_files, _definitions())
    if folder == rules_dir():
        return compiled.hold(name, sources, lambda: _read(folder), tuple[Rule, ...], _by_code)
    return compiled.cached(name, sources, lambda: _read(folder), tuple[Rule, ...])


def _definitions() -> Iterator[str]:
    """The files on which every rule depends; in a wheel only Python modules, because the others are compiled."""
    folders = (compiled.PACKAGE / "messages", *(path.parent for path in map(Path, _input_files())))
    definitions = (compiled.files(folder, ".toml") for folder in folders)
    return itertools.chain(compiled.files(rules_dir(), ".toml", 0), *definitions, _code())


def _read(folder: Path) -> tuple[Rule, ...]:
    """The rules of a folder, read from TOML without their examples."""
    from ncdiag.engine.load import load_folder

    return _bare(load_folder(folder, names(), with_examples=False))


def _whole() -> tuple[Rule, ...]:
    """The shipped rules, read from TOML with their examples."""
    from ncdiag.engine.load import load_folder

    return load_folder(rules_dir(), names())


def _bare(found: Iterable[Rule]) -> tuple[Rule, ...]:
    bare = msgspec.structs.replace
    return tuple(
        bare(rule, examples=(), signs=tuple(bare(sign, example="", unlike="") for sign in rule.signs)) for rule in found
    )


def _examples(found: Iterable[Rule]) -> dict[str, Examples]:
    """The examples that `_bare` removes, by rule name."""
    return {
        rule.name: Examples(rule.examples, tuple((sign.example, sign.unlike) for sign in rule.signs)) for rule in found
    }


def _shown(rule: Rule, shown: Examples) -> Rule:
    """The rule with the examples that `_bare` removed."""
    put, pairs = msgspec.structs.replace, zip(rule.signs, shown.of_signs, strict=True)
    signs = tuple(put(sign, example=example, unlike=unlike) for sign, (example, unlike) in pairs)
    return put(rule, examples=shown.of_rule, signs=signs)


def _code() -> Iterator[str]:
    yield from _code_files()


@functools.cache
def _code_files() -> tuple[str, ...]:
    """The paths of the code files in `_CODE_FOLDERS`: every cache needs them, so they are listed once."""
    return tuple(path for folder in _CODE_FOLDERS for path in compiled.files(compiled.PACKAGE / folder, ".py"))


def _neighbours(rule: Rule) -> tuple[str, str]:
    """Rules of an area share words: next to each other, they take less room in a wheel."""
    return rule.area, rule.name


def build(folder: Path) -> None:
    """Write every definition that `compiled.load` reads into ``folder``, to be shipped in a wheel."""
    import ncdiag.formats.secrets.remover  # noqa: F401  (with all patterns of secrets)
    from ncdiag import parsers
    from ncdiag.base import products
    from ncdiag.cells import vocabulary
    from ncdiag.checks import book, compared
    from ncdiag.engine.translation import ordered
    from ncdiag.formats.secrets import signed
    from ncdiag.language import speech
    from ncdiag.language import table as phrases
    from ncdiag.machine import command
    from ncdiag.messages import about, explained, match
    from ncdiag.nccl import codes, environment, reasons, xids
    from ncdiag.parsers.nccl_log import lines
    from ncdiag.parsers.user_text import context, trials
    from ncdiag.suspects import priors

    whole = _whole()
    contents: dict[str, object] = {
        "rules": tuple(sorted(_bare(whole), key=_neighbours)),
        "examples": _examples(whole),
        "names": msgspec.to_builtins(_names(), order="deterministic"),  # sorted, sets of names take less room
        "wording": _shared(),
        "texts": _texts(),
        "messages": match.build(),
        "explained": explained.build(),
        "events": about.build(),
        "reasons": reasons.build(),
        "codes": codes.build(),
        "xids": xids.build(),
        "nccl-lines": lines.build(),
        "parsers": parsers.build(),
        "cells": vocabulary.build(),
        "library-codes": vocabulary.build_codes(),
        "products": products.build(),
        "speech": speech.build(),
        "defects": table.build(),
        "checks": book.build(),
        "launch": book.build(book.LAUNCH),
        "compared": compared.build(),
        "priors": priors.build(),
        "collectors": command.build(),
        "variables": environment.build(),
        **{words.name: words.build() for words in (context.LEXER, trials.LEXER)},
        **{hints.name: hints.build() for hints in parsers.hints()},
        signed.NAME: signed.build(),
    }
    for language in LANGUAGES[1:]:
        contents[f"rules-{language}"] = ordered(whole, _translations(language))
        contents[f"phrases-{language}"] = phrases.build(language)
    for name, content in contents.items():
        compiled.write(path := folder / f"{name}.msgpack", __version__, content)
        if name in compiled.PACKED:
            compiled.packed(path)


def _main(arguments: list[str]) -> int:
    if len(arguments) != 2 or arguments[0] != "build":  # noqa: PLR2004  (a word and a folder)
        sys.stderr.write("usage: python -m ncdiag.catalogue build FOLDER\n")
        return UsageError.exit_code
    try:
        build(Path(arguments[1]))
    except NcdiagError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
