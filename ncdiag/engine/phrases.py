"""Phrases of signs: words that are in a line in this order, whatever is written between them.

``efa ~missing|disabled``: two atoms; the second is a class of words (of ``wording.toml``) or a word. An atom is words
side by side with ``|`` between alternatives; ``deadlock*`` is any word that begins so, and a plain word of letters
stands for its inflected forms as well. Between two atoms are at most `GAP` words, and `FAR` where ``...`` stands.
``!word`` refuses lines that hold it. Signs of punctuation only part words: ``net/ofi`` is ``net`` and ``ofi`` side by
side.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from ncdiag.base.errors import DefinitionError, suggestion
from ncdiag.base.patterns import lazy_regex

GAP = 6
"""Words between two atoms of a phrase at most."""
FAR = 30
"""Words where ``...`` stands: a long sentence. A whole paragraph may be one line, and mentions many things."""
TOKEN = lazy_regex(r"[1-9][0-9]?x(?=[a-z]+[0-9]|[0-9]{4})|[a-z0-9_]+|[^\x00-\x7f]")
"""A word: letters, digits and underscores, one sign of another script, or how many of a model there are (8xH100)."""
_WORD = lazy_regex(r"[a-z0-9_]+\*?|[^\x00-\x7f]")
CLASS = "~"
"""What the name of a class begins with, in a phrase and as its run."""
_NOT, _ANY = "!", "..."

Run = tuple[str, ...]
"""Words side by side, or the name of a class of words alone."""
Atom = tuple[Run, ...]
"""Alternatives."""


class Phrase(msgspec.Struct, frozen=True, array_like=True):
    """``atoms`` in their order, each with whether any number of words may be in front of it; ``refused`` atoms."""

    atoms: tuple[Atom, ...]
    far: tuple[bool, ...]
    refused: tuple[Atom, ...] = ()


class Added(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Phrases in another language that count beside the ``says`` and the ``also`` of a sign."""

    says: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


class Heads(NamedTuple):
    """The words with which phrases begin, one of which is in every text that holds one of them.

    ``words`` are whole, ``others`` the beginnings of words and the classes.
    """

    words: frozenset[str]
    others: tuple[str, ...]


def heads(phrases: Iterable[Phrase]) -> Heads:
    """The first words of the first atoms."""
    first = {run[0] for phrase in phrases for run in phrase.atoms[0]}
    others = {word for word in first if word.startswith(CLASS) or word.endswith("*")}
    return Heads(frozenset(first - others), tuple(sorted(others)))


class Shared(msgspec.Struct, frozen=True):
    """What all signs share: ``benign`` phrases, in whose lines no sign is looked for, and the ``classes`` of words."""

    benign: tuple[Phrase, ...] = ()
    classes: Mapping[str, Atom] = {}


def shared(benign: Sequence[str], classes: Mapping[str, Sequence[str]]) -> Shared:
    """The same from its texts; DefinitionError as of `phrase`."""
    atoms = {name: tuple(_run(member, member) for member in members) for name, members in classes.items()}
    return Shared(tuple(phrase(text, classes) for text in benign), atoms)


def phrase(text: str, classes: Collection[str]) -> Phrase:
    """The phrase that a text writes; DefinitionError for a class that does not exist and for a phrase without words."""
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
    for word in piece.split("|"):
        if not word.startswith(CLASS):
            found.append(_run(word, text))
        elif word[1:] in classes:
            found.append((word,))  # its members are looked up where the phrase is looked for
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
