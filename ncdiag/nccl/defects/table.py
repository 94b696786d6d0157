"""The tables of defects and of minimum versions, with those of private packs.

The shipped tables are the TOML files of this folder. A private pack may have a folder ``defects`` of such files: an
entry with a new name is added, one with a known name replaces it, and ``remove`` lists names to leave out. So a site
changes a table without an upgrade of ncdiag.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NoReturn

import msgspec

from ncdiag.base import compiled
from ncdiag.base.errors import DefinitionError, suggestion
from ncdiag.facts.scalars import Version
from ncdiag.nccl.defects.entries import OPEN, UNKNOWN, Condition, Defect, Minimum, Product, Tables, Use, version_of

FOLDER = Path(__file__).parent
PACK = "defects"
"""The folder of a private pack that holds its tables."""
_packs: tuple[Path, ...] = ()


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The content of one file; ``checked`` is the day on which its entries were compared with their sources."""

    checked: str = ""
    defect: tuple[Defect, ...] = ()
    minimum: tuple[Minimum, ...] = ()
    gpus: dict[str, str] = {}
    first: dict[str, str] = {}
    uses: dict[str, Use] = {}
    releases: dict[str, str] = {}
    rocm: dict[str, str] = {}
    remove: tuple[str, ...] = ()


def tables() -> Tables:
    """The tables in force: the shipped ones, changed by the packs in use.

    Raises DefinitionError for a file of a pack that is wrong.
    """
    return _with(_packs)


def use(folders: Iterable[Path]) -> None:
    """Put the tables of these private packs in force, and no others."""
    global _packs  # noqa: PLW0603  (the packs of the process, as the language is)
    _packs = tuple(folder.resolve() / PACK for folder in folders if (folder / PACK).is_dir())


def leading(product: Product) -> tuple[Defect, ...]:
    """The entries of a product that can be the answer."""
    return _leading(_packs).get(product, ())


def rccl_of(rocm: Version) -> Version | None:
    """The release of RCCL in this ROCm: that of the nearest earlier one of its series; None for an unknown series."""
    known = ((version_of(name), release) for name, release in tables().rocm.items())
    series = [(each, release) for each, release in known if (each.major, each.minor) == (rocm.major, rocm.minor)]
    before = [(each, release) for each, release in series if each <= rocm] or series[:1]
    return version_of(max(before)[1]) if before else None


@functools.lru_cache(maxsize=8)
def _leading(packs: tuple[Path, ...]) -> dict[Product, tuple[Defect, ...]]:
    found: dict[Product, tuple[Defect, ...]] = {}
    for defect in _with(packs).defects:
        if defect.leads:
            found[defect.product] = (*found.get(defect.product, ()), defect)
    return found


@functools.lru_cache(maxsize=8)
def _with(packs: tuple[Path, ...]) -> Tables:
    found = compiled.load("defects", [*compiled.files(FOLDER, ".toml"), *_code()], build, Tables)
    for pack in packs:
        found = merged(found, [(str(path), _read(path)) for path in sorted(pack.glob("*.toml"))])
    return found


def _code() -> list[str]:
    return [str(FOLDER / "entries.py"), __file__]


def build() -> Tables:
    """Read the shipped tables from TOML; raises DefinitionError for a wrong entry."""
    return merged(Tables(), [(path, _read(Path(path))) for path in compiled.files(FOLDER, ".toml")])


def _read(path: Path) -> str:
    from ncdiag.base import toml

    return toml.text_of(path)


def merged(held: Tables, files: Iterable[tuple[str, str]]) -> Tables:
    """The tables with the entries of these files (name and text) added or put in place of those with the same name.

    Raises DefinitionError with file, line and the allowed words: for an unknown key, a release that is none, a range
    that ends before it begins, a name given twice, a family of GPUs or a feature that no table defines, and for one
    defect of a product in two entries (the same text and condition) whose ranges overlap.
    """
    read = [(name, text, _decoded(name, text)) for name, text in files]
    gone = {name for _, _, file in read for name in file.remove}
    words = {
        key: getattr(held, key) | {name: value for _, _, file in read for name, value in getattr(file, key).items()}
        for key in ("gpus", "first", "uses", "releases", "rocm")
    }
    places: dict[str, tuple[str, str]] = {}
    for name, text, file in read:
        entries: list[Defect | Minimum] = [*file.defect, *file.minimum]
        for entry in entries:
            if entry.name in places:
                _refuse(text, name, entry.name, f"two entries are called {entry.name!r}")
            places[entry.name] = name, text
            _check(entry, name, text, words)
    defects = _joined(held.defects, [entry for _, _, file in read for entry in file.defect], gone)
    _check_apart(defects, places)
    return Tables(
        defects=defects,
        minimums=_joined(held.minimums, [entry for _, _, file in read for entry in file.minimum], gone),
        checked=held.checked | {Path(name).stem: file.checked for name, _, file in read if file.checked},
        **words,
    )


def _joined(held: tuple[Any, ...], new: list[Any], gone: set[str]) -> tuple[Any, ...]:
    """The entries by name, in order: new ones at the place of those that they replace, others at the end."""
    known = {entry.name: entry for entry in (*held, *new)}
    return tuple(entry for name, entry in known.items() if name not in gone)


def _decoded(name: str, text: str) -> _File:
    from ncdiag.base import toml

    data = toml.definition(text, name)
    try:
        return msgspec.convert(data, _File)
    except msgspec.ValidationError as error:
        reason, _, place = str(error).partition(" - at ")
        step = re.findall(r"\w+", place)
        entry = _entry_at(data, place)
        unknown = re.search(r"unknown field `(\w+)`", reason)
        word = unknown[1] if unknown else step[-1] if step else ""
        allowed = [*Defect.__struct_fields__, *Condition.__struct_fields__] if unknown else []
        hint = suggestion(word, allowed) or (f"allowed: {', '.join(allowed)}" if allowed else "")
        where = f"{entry}: " if entry else ""
        message = f"{where}{place.strip('`$.') + ': ' if place else ''}{reason[:1].lower()}{reason[1:]}"
        _refuse(text, name, word, message, hint=hint, after=entry)


def _entry_at(data: dict[str, Any], place: str) -> str:
    found = re.search(r"\.(defect|minimum)\[", place)
    if not found:
        return ""
    number = re.search(r"\[(\d+)\]", place)
    entries = data.get(found[1], [])
    return str(entries[int(number[1])].get("name", "")) if number and int(number[1]) < len(entries) else ""


def _check(entry: Defect | Minimum, name: str, text: str, words: dict[str, Any]) -> None:
    for key, what in (("gpus", "family of GPUs"), ("uses", "feature")):
        for word in getattr(entry.when, key):
            if word not in words[key]:
                _refuse(text, name, word, f"{entry.name}: unknown {what} {word!r}", _near(word, words[key]))
    if isinstance(entry, Defect):
        releases: tuple[str, ...] = (entry.since, entry.fixed)
    else:
        releases = (*([entry.least] if entry.least else []), *entry.branches.values())
    for release in releases:
        if release not in {OPEN, UNKNOWN}:
            try:
                version_of(release)
            except ValueError as error:
                _refuse(text, name, release, f"{entry.name}: {error}", "or 'unknown' for since, 'open' for fixed")
    if isinstance(entry, Defect) and entry.low and entry.high and entry.low >= entry.high:
        reason = f"{entry.name}: fixed in {entry.fixed}, which is not after its first release {entry.since}"
        _refuse(text, name, entry.name, reason)


def _check_apart(defects: Iterable[Defect], places: dict[str, tuple[str, str]]) -> None:
    """Refuse an entry that tells a defect of another one again for some of its releases: it would be reported twice."""
    alike: dict[tuple[Any, ...], list[Defect]] = {}
    for entry in defects:
        key = entry.product, entry.what.casefold().rstrip(". "), msgspec.json.encode(entry.when, order="sorted")
        others = alike.setdefault(key, [])
        for other in others:
            new, old = (entry, other) if entry.name in places else (other, entry)
            if new.name in places and _overlap(new, old):
                name, text = places[new.name]
                ranges = f"{new.since} to {new.fixed} and {old.since} to {old.fixed}"
                reason = (
                    f"{new.name}: {old.name!r} has the same text and condition, and their releases overlap ({ranges})"
                )
                _refuse(text, name, new.name, reason, f"call it {old.name!r} to replace that entry, or end one range")
        others.append(entry)


def _overlap(one: Defect, other: Defect) -> bool:
    """Do the ranges share a release? An unknown first release is the oldest one."""
    return not any(a.high and b.low and a.high <= b.low for a, b in ((one, other), (other, one)))


def _near(word: str, known: Iterable[str]) -> str:
    allowed = list(known)
    return suggestion(word, allowed) or f"allowed: {', '.join(allowed)}"


def _refuse(  # noqa: PLR0913  (what is wrong, where, and what helps)
    text: str, file: str, word: str, reason: str, hint: str = "", *, after: str = ""
) -> NoReturn:
    """Raise DefinitionError at the first line with the word, after the one with ``after``."""
    lines = text.splitlines()
    start = next((number for number, line in enumerate(lines) if after and f'"{after}"' in line), 0)
    found = (n for n in range(start, len(lines)) if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", lines[n]))
    raise DefinitionError(reason, file=file, line=next(found, start) + 1, hint=hint)
