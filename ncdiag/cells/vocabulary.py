"""The words of cells: objects (parts and operations that lines name) and reasons (why something fails).

A cell is an object with a reason: ``qp-modify invalid``. Rules list the cells of their cause, and a line that names an
object and a reason lights that cell. ``objects.toml`` and ``reasons.toml`` have the spellings of both; a fixed string
of a library means a reason, and sometimes an object.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ncdiag.base import compiled
from ncdiag.base.errors import DefinitionError, suggestion
from ncdiag.base.patterns import lazy_regex

_FOLDER = Path(__file__).parent
OBJECTS, REASONS = "objects.toml", "reasons.toml"
TOKEN = lazy_regex(r"[a-z0-9]+|[^\x00-\x7f]")
"""A word of a line: letters and digits, or one character of another script."""
_SPELT = lazy_regex(r"[a-z0-9]+\*?|[^\x00-\x7f]")
_CODE = lazy_regex(r"[A-Za-z]+[A-Z_][A-Za-z_\d]+")
"""The name of a code, not a word of a sentence."""
_STEM = 3
"""Minimum number of letters before ``*``; they are the key of the spelling."""


class Spelling(msgspec.Struct, frozen=True):
    """The words of a spelling, and what they mean: an object, a reason, or both. ``fixed``: a string of a library."""

    words: tuple[str, ...]
    object: str = ""
    reason: str = ""
    fixed: bool = False


class Named(msgspec.Struct, frozen=True, array_like=True):
    """The English name of an object; ``field``: a whole field such as ``gpu``, which says little by itself."""

    name: str
    field: bool = False


class Vocabulary(msgspec.Struct, frozen=True, dict=True):
    """Objects and reasons by their ids, and all spellings, encoded because an input has few of them.

    The key of a spelling is its first word, or its first two (``queue pair``); of one that begins with ``word*``, the
    first `_STEM` letters and ``*``. ``errnos``: the reasons by their numbers of errno.
    """

    objects: Mapping[str, Named] = {}
    reasons: Mapping[str, str] = {}
    spellings: Mapping[str, msgspec.Raw] = {}
    errnos: Mapping[int, str] = {}

    @functools.cached_property
    def _stems(self) -> frozenset[str]:
        """The first letters of all spellings: most words of a line have others, and are not searched for."""
        return frozenset(key.split(" ", 1)[0][:_STEM] for key in self.spellings)

    def at(self, line: Sequence[str]) -> Iterator[tuple[int, Spelling]]:
        """Every spelling in the words of a line, with the index of its first word."""
        held, stems = self.spellings, self._stems
        for place in [place for place, word in enumerate(line) if word[:_STEM] in stems]:
            word = line[place]
            following = line[place + 1] if place + 1 < len(line) else ""
            for key in (word, f"{word} {following}", f"{word[:_STEM]}*"):
                if key in held:
                    for found in _decoded(held[key]):
                        end = place + len(found.words)
                        if end <= len(line) and all(map(_is_word, found.words, line[place:end])):
                            yield place, found


def _is_word(spelt: str, word: str) -> bool:
    return word == spelt or (spelt[-1] == "*" and word.startswith(spelt[:-1]))


def _decoded(held: msgspec.Raw) -> tuple[Spelling, ...]:
    return _of(bytes(held))


@functools.lru_cache(4096)
def _of(held: bytes) -> tuple[Spelling, ...]:
    return tuple(Spelling(tuple(text.split()), *rest) for text, *rest in msgspec.msgpack.decode(held))


def _encoded(spellings: Iterable[Spelling]) -> msgspec.Raw:
    """What `_of` decodes: the words as one text, which takes less room in a wheel than a list."""
    return msgspec.Raw(
        msgspec.msgpack.encode([(" ".join(each.words), each.object, each.reason, each.fixed) for each in spellings])
    )


def vocabulary() -> Vocabulary:
    """The shipped vocabulary. Raises DefinitionError if its files are not valid."""
    return compiled.hold("cells", [_FOLDER / OBJECTS, _FOLDER / REASONS, Path(__file__)], build, Vocabulary)


class _Object(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    says: tuple[str, ...]
    field: bool = False


class _Reason(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    says: tuple[str, ...]
    errnos: tuple[int, ...] = ()


class _Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"released": "from"}):
    """The fixed strings of a library, from the release ``released``: text, reason and perhaps object."""

    name: str
    released: str
    says: tuple[tuple[str, ...], ...]


class _Reasons(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    reason: dict[str, _Reason]
    source: tuple[_Source, ...] = ()


def build(folder: Path = _FOLDER) -> Vocabulary:
    """Read the vocabulary from its TOML files; raises DefinitionError for an invalid one."""
    objects = _read(folder / OBJECTS, dict[str, _Object])
    held = _read(folder / REASONS, _Reasons)
    spellings: dict[str, list[Spelling]] = {}
    for spelling in _spellings(objects, held, folder):
        spellings.setdefault(_key(spelling.words), []).append(spelling)
    return Vocabulary(
        {key: Named(each.name, each.field) for key, each in objects.items()},
        {key: each.name for key, each in held.reason.items()},
        {key: _encoded(each) for key, each in spellings.items()},
        {number: key for key, each in held.reason.items() for number in each.errnos},
    )


class Codes(msgspec.Struct, frozen=True):
    """The codes of libraries by their names (`UCS_ERR_REJECTED`), which `explain` alone reads.

    ``codes`` has the index of the table of each in ``tables`` and its reason; ``tables`` the name of each table, and
    its file and release.
    """

    codes: Mapping[str, tuple[int, str]] = {}
    tables: Sequence[tuple[str, str]] = ()


def library_codes() -> Codes:
    """The codes in the tables of libraries. Raises DefinitionError if the file of reasons is not valid."""
    return compiled.hold("library-codes", [_FOLDER / REASONS, Path(__file__)], build_codes, Codes)


def build_codes() -> Codes:
    """Read the codes from the file of reasons."""
    sources = _read(_FOLDER / REASONS, _Reasons).source
    codes = {row[0]: (n, row[1]) for n, each in enumerate(sources) for row in each.says if _CODE.fullmatch(row[0])}
    return Codes(codes, [(each.name, each.released) for each in sources])


def _key(words: Sequence[str]) -> str:
    if words[0].endswith("*"):
        return f"{words[0][:_STEM]}*"
    return words[0] if len(words) == 1 or words[1].endswith("*") else f"{words[0]} {words[1]}"


def _spellings(objects: Mapping[str, _Object], held: _Reasons, folder: Path) -> Iterator[Spelling]:
    seen: dict[tuple[str, tuple[str, ...]], str] = {}
    said = [(text, key, "", False, OBJECTS) for key, each in objects.items() for text in each.says]
    said += [(text, "", key, False, REASONS) for key, each in held.reason.items() for text in each.says]
    for source in held.source:
        for row in source.says:
            if not 2 <= len(row) <= 3:  # noqa: PLR2004  (text, reason, object)
                flaw = f"{list(row)} is not [text, reason] or [text, reason, object]"
                raise DefinitionError(flaw, file=str(folder / REASONS), text=source.name)
            text, reason, *more = row
            _check(reason, held.reason, "reason", folder / REASONS)
            for thing in more:
                _check(thing, objects, "object", folder / REASONS)
            said.append((text, more[0] if more else "", reason, True, REASONS))
    for text, thing, reason, fixed, file in said:
        words = tuple(_SPELT.findall(text.lower()))
        flaw = _flaw(words)
        kind = "fixed" if fixed else thing  # several objects may have one spelling
        if not flaw and seen.setdefault((kind, words), reason) != reason:
            flaw = f"it is a spelling of the reason {seen[kind, words]!r} too"
        if flaw:
            wrong = f"{text!r}: {flaw}"
            raise DefinitionError(wrong, file=str(folder / file), text=text)
        yield Spelling(words, thing, reason, fixed)


def _flaw(words: tuple[str, ...]) -> str:
    if not words:
        return "it contains no word"
    short = words[0].endswith("*") and len(words[0]) <= _STEM
    return f"its first word needs at least {_STEM} letters before the *" if short else ""


def _check(word: str, known: Iterable[str], what: str, file: Path) -> None:
    names = list(known)
    if word not in names:
        reason = f"there is no {what} {word!r}"
        raise DefinitionError(reason, file=str(file), text=word, hint=suggestion(word, names))


def _read(path: Path, kind: Any) -> Any:  # noqa: ANN401  (any type of msgspec)
    from ncdiag.base import toml  # only where definitions are read

    try:
        return msgspec.convert(toml.definition(toml.text_of(path), str(path)), kind)
    except msgspec.ValidationError as error:
        raise DefinitionError(str(error), file=str(path)) from None
