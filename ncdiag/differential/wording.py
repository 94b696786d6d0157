"""The lines of an input as words, so that thousands of phrases are looked for in about the time of one search."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ncdiag.engine.phrases import GAP, TOKEN, Atom, Phrase
from ncdiag.spans import Span

_LONGEST = 4000
"""Characters of a line that are looked at."""
_INFLECTED = ("", "s", "es", "ed", "d", "ing")
"""Endings of a plain word that make no difference."""
_SHORTEST = 3
"""Letters of a word that has inflected forms."""
_DENIALS = frozenset("not no never without nor isn aren wasn doesn don didn cannot 不 没 无 非".split())  # noqa: SIM905
_DENIED = 2
"""Words in front of a phrase among which one that denies it may stand."""


class _Found(NamedTuple):
    """What of an atom is in the input: its alternatives, each word as the forms that are there, and the lines."""

    atom: Atom
    runs: list[list[frozenset[str]]]
    lines: set[int]


class Wording:
    """Lines and an index of their words. Lines of the same words count once, with the first span."""

    def __init__(self, spans: Iterable[Span]) -> None:
        """Take the lines apart."""
        self._lines: dict[tuple[str, ...], Span] = {}
        for span in spans:
            words = tuple(TOKEN.findall(span.text[:_LONGEST].lower()))
            if words:
                self._lines.setdefault(words, span)
        self._words = list(self._lines)
        self._index: dict[str, list[int]] = defaultdict(list)
        for number, words in enumerate(self._words):
            for word in dict.fromkeys(words):
                self._index[word].append(number)
        self._vocabulary = sorted(self._index)
        self._forms: dict[str, frozenset[str]] = {}
        self._found: dict[int, _Found] = {}
        self._left_out: set[int] = set()

    def leave_out(self, spans: Iterable[Span], phrases: Iterable[Phrase] = ()) -> None:
        """Look at these lines no more, nor at those in which one of the phrases is."""
        found = {number for phrase in phrases for number in self._matches(phrase)}
        places = {(span.source, span.line) for span in spans}
        found |= {n for n, span in enumerate(self._lines.values()) if (span.source, span.line) in places}
        self._left_out |= found

    def find(self, phrases: Iterable[Phrase], most: int = 3) -> list[Span]:
        """The first lines that hold one of the phrases and do not deny it."""
        found: dict[int, None] = {}
        for phrase in phrases:
            for number in self._matches(phrase):
                found[number] = None
                if len(found) == most:
                    break
        spans = list(self._lines.values())
        return [spans[number] for number in sorted(found)[:most]]

    def _matches(self, phrase: Phrase) -> Iterator[int]:
        """The lines that hold the phrase."""
        atoms: list[_Found] = []
        places: set[int] | None = None
        for atom in phrase.atoms:
            found = self._find(atom)
            places = found.lines if places is None else places & found.lines
            if not places:
                return
            atoms.append(found)
        refused = [self._find(atom) for atom in phrase.refused]
        for number in sorted((places or set()) - self._left_out):
            words = self._words[number]
            if _holds(words, atoms, phrase.far) and not any(_starts(words, atom) for atom in refused):
                yield number

    def _find(self, atom: Atom) -> _Found:
        """The alternatives of which every word is in the input, and the lines in which their first words are.

        Most atoms are in hundreds of phrases and no input: what was found is kept by the atom itself.
        """
        known = self._found.get(id(atom))
        if known is None or known.atom is not atom:
            runs = [forms for run in atom if all(forms := [self._form(word) for word in run])]
            lines = {number for forms in runs for word in forms[0] for number in self._index[word]}
            known = self._found[id(atom)] = _Found(atom, runs, lines)
        return known

    def _form(self, word: str) -> frozenset[str]:
        known = self._forms.get(word)
        if known is None:
            known = self._forms[word] = frozenset(self._inflected(word))
        return known

    def _inflected(self, word: str) -> Iterator[str]:
        if word.endswith("*"):
            begin = word[:-1]
            for place in range(bisect_left(self._vocabulary, begin), len(self._vocabulary)):
                if not self._vocabulary[place].startswith(begin):
                    return
                yield self._vocabulary[place]
        elif len(word) >= _SHORTEST and word.isalpha():
            yield from (word + ending for ending in _INFLECTED if word + ending in self._index)
        elif word in self._index:
            yield word


def _ends(words: Sequence[str], atom: _Found, begin: int, end: int) -> Iterator[int]:
    """Where an atom that begins at one of the places may end."""
    for place in range(begin, min(end, len(words))):
        for run in atom.runs:
            if place + len(run) <= len(words) and all(words[place + i] in form for i, form in enumerate(run)):
                yield place + len(run)


def _starts(words: Sequence[str], atom: _Found) -> bool:
    return next(_ends(words, atom, 0, len(words)), None) is not None


def _holds(words: Sequence[str], atoms: Sequence[_Found], far: Sequence[bool]) -> bool:
    """Are the atoms there in their order, near each other, and does nothing in front deny them?"""
    for begin in range(len(words)):
        ends = set(_ends(words, atoms[0], begin, begin + 1))
        if not ends or _is_denied(words, begin, atoms[0]):
            continue
        for atom, distant in zip(atoms[1:], far[1:], strict=True):
            stop = len(words) if distant else GAP + 1
            ends = {after for end in ends for after in _ends(words, atom, end, end + stop)}
            if not ends:
                break
        if ends:
            return True
    return False


def _is_denied(words: Sequence[str], begin: int, atom: _Found) -> bool:
    """Does a word in front deny the phrase? One that begins with a denial speaks of it itself."""
    own = any(_DENIALS & run[0] for run in atom.runs)
    return not own and not _DENIALS.isdisjoint(words[max(0, begin - _DENIED) : begin])
