"""Phrases of signs: words that occur in a line in this order, with other words between them.

``efa ~missing|disabled``: two atoms; the second is a class of words (of ``wording.toml``) or a word. An atom is
adjacent words, with ``|`` between alternatives; ``deadlock*`` is any word with this beginning, and a plain word of
letters also matches its inflected forms. Between two atoms are at most `GAP` words, or `FAR` at ``...``. ``!word``
rejects lines that contain it. Punctuation only separates words: ``net/ofi`` is ``net`` and ``ofi``, adjacent.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from ncdiag.base.errors import DefinitionError, suggestion
from ncdiag.base.patterns import lazy_regex

GAP = 6
"""Maximum number of words between two atoms of a phrase."""
FAR = 30
"""Maximum number of words at ``...``: a long sentence. A whole paragraph may be one line, on many subjects."""
TOKEN = lazy_regex(r"[1-9][0-9]?x(?=[a-z]+[0-9]|[0-9]{4})|[a-z0-9_]+|[^\x00-\x7f]")
"""A word: letters, digits and underscores; one character of another script; or the count before a model (8xH100)."""
_WORD = lazy_regex(r"[a-z0-9_]+\*?|[^\x00-\x7f]")
CLASS = "~"
"""Prefix of the name of a class, in a phrase and as its run."""
_NOT, _ANY, _OR = "!", "...", "|"
_BESIDE = "-"
"""Between the words of a run in `written`; no word contains it."""

Run = tuple[str, ...]
"""Adjacent words, or only the name of a class of words."""
Atom = tuple[Run, ...]
"""Alternative runs."""


class Phrase(msgspec.Struct, frozen=True, array_like=True):
    """``atoms`` in order, each with whether any number of words may precede it; ``refused`` atoms."""

    atoms: tuple[Atom, ...]
    far: tuple[bool, ...]
    refused: tuple[Atom, ...] = ()


class Added(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Phrases in another language, added to the ``says`` and ``also`` of a sign."""

    says: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


class Heads(NamedTuple):
    """The first words of phrases: a text that contains one of the phrases contains one of them.

    ``words`` are whole words, ``others`` beginnings of words and classes.
    """

    words: frozenset[str]
    others: tuple[str, ...]


def heads(texts: Iterable[str]) -> Heads:
    """The first words of the first atoms of phrases as `written` makes them."""
    atoms = (text.removeprefix(f"{_ANY} ").partition(" ")[0] for text in texts)
    first = {run.partition(_BESIDE)[0] for atom in atoms for run in atom.split(_OR)}
    others = {word for word in first if word.startswith(CLASS) or word.endswith("*")}
    return Heads(frozenset(first - others), tuple(sorted(others)))


class Shared(msgspec.Struct, frozen=True):
    """Definitions for all signs: ``benign`` phrases, whose lines are ignored, and the ``classes`` of words."""

    benign: tuple[Phrase, ...] = ()
    classes: Mapping[str, Atom] = {}


def shared(benign: Sequence[str], classes: Mapping[str, Sequence[str]]) -> Shared:
    """`Shared` from its texts; raises DefinitionError as `phrase` does."""
    atoms = {name: tuple(_run(member, member) for member in members) for name, members in classes.items()}
    return Shared(tuple(phrase(text, classes) for text in benign), atoms)


def phrase(text: str, classes: Collection[str]) -> Phrase:
    """Parse the text of a phrase; raises DefinitionError for an unknown class and for a phrase without words."""
    atoms: list[Atom] = []
    far: list[bool] = []
    refused: list[Atom] = []
    distant = False
    for piece in text.lower().split():
        if piece == _ANY:
            distant = True
        elif piece.startswith(_NOT):
            refused.append(_atom(piece[1:], classes, text))
        else:
            atoms.append(_atom(piece, classes, text))
            far.append(distant)
            distant = False
    if not atoms:
        reason = f"the phrase {text!r} has no word"
        raise DefinitionError(reason, text=text)
    return Phrase(tuple(atoms), tuple(far), tuple(refused))


def _atom(piece: str, classes: Collection[str], text: str) -> Atom:
    found: list[Run] = []
    for word in piece.split(_OR):
        if not word.startswith(CLASS):
            found.append(_run(word, text))
        elif word[1:] in classes:
            found.append((word,))  # its members are looked up when the phrase is searched
        else:
            reason = f"there is no word class {word!r}"
            raise DefinitionError(reason, text=text, hint=suggestion(word[1:], classes))
    return tuple(dict.fromkeys(found))


def _run(word: str, text: str) -> Run:
    """The words of a text."""
    found = tuple(_WORD.findall(word.lower()))
    if not found:
        reason = f"{word!r} contains no word"
        raise DefinitionError(reason, text=text)
    return found


def written(phrase: Phrase) -> str:
    """The phrase as a text for `read`, which takes less space than its parts."""
    pairs = zip(phrase.atoms, phrase.far, strict=True)
    atoms = (f"{_ANY} {_text(atom)}" if far else _text(atom) for atom, far in pairs)
    return " ".join((*atoms, *(_NOT + _text(atom) for atom in phrase.refused)))


def _text(atom: Atom) -> str:
    return _OR.join(map(_BESIDE.join, atom))


@functools.lru_cache(1 << 14)
def read(text: str) -> Phrase:
    """The phrase that `written` made a text of; few are ever searched for."""
    atoms: list[Atom] = []
    far: list[bool] = []
    refused: list[Atom] = []
    for piece in text.split(" "):
        atom = tuple(tuple(run.split(_BESIDE)) for run in piece.removeprefix(_NOT).split(_OR))
        if piece == _ANY:
            far.append(True)
        elif piece.startswith(_NOT):
            refused.append(atom)
        else:
            atoms.append(atom)
            far += [False] * (len(atoms) - len(far))
    return Phrase(tuple(atoms), tuple(far), tuple(refused))
