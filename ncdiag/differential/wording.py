"""The lines of an input as words, so that thousands of phrases are looked for in about the time of one search."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ncdiag.engine.phrases import CLASS, FAR, GAP, TOKEN, Atom, Phrase, Run, Shared
from ncdiag.spans import Span

_LONGEST = 4000
"""Characters of a line that are looked at."""
_INFLECTED = ("s", "es", "ed", "d", "ing")
"""Endings of a plain word that make no difference."""
_SHORTEST = 3
"""Letters of a word that has inflected forms."""
_DENIALS = frozenset("not no never without nor isn aren wasn doesn don didn cannot 不 没 无 非".split())  # noqa: SIM905
_DENIED = 2
"""Words in front of a phrase among which one that denies it may stand."""


class _Found(NamedTuple):
    """What of an atom is in the input: its alternatives, each word as the forms that are there, and the lines."""

    runs: list[list[frozenset[str]]]
    lines: set[int]


class Wording:
    """Lines and an index of their words. Lines of the same words count once, with the first span."""

    def __init__(self, spans: Iterable[Span], shared: Shared) -> None:
        """Take the lines apart, and leave out those that hold a benign phrase."""
        self._classes = shared.classes
        lines: dict[tuple[str, ...], Span] = {}
        for span in spans:
            words = tuple(TOKEN.findall(span.text[:_LONGEST].lower()))
            if words:
                lines.setdefault(words, span)
        self._words, self._spans = list(lines), list(lines.values())
        self._index: dict[str, list[int]] = defaultdict(list)
        for number, words in enumerate(self._words):
            for word in dict.fromkeys(words):
                self._index[word].append(number)
        self._vocabulary = sorted(self._index)
        self._forms = _forms(self._vocabulary)
        self._beginnings: dict[str, frozenset[str]] = {}
        self._found: dict[Atom, _Found] = {}
        self._left_out: set[int] = set()
        self._left_out |= {number for phrase in shared.benign for number in self._matches(phrase)}

    def leave_out(self, spans: Iterable[Span]) -> None:
        """Look at these lines no more."""
        places = {(span.source, span.line) for span in spans}
        self._left_out |= {n for n, span in enumerate(self._spans) if (span.source, span.line) in places}

    def lines(self) -> Iterator[tuple[str, ...]]:
        """The words of each line that is looked at."""
        return (words for number, words in enumerate(self._words) if number not in self._left_out)

    def find(self, phrases: Iterable[Phrase], most: int = 3) -> list[Span]:
        """The first lines that hold one of the phrases and do not deny it."""
        first = (itertools.islice(self._matches(phrase), most) for phrase in phrases)
        return [self._spans[number] for number in sorted({*itertools.chain.from_iterable(first)})[:most]]

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

        Few atoms are in an input, and many phrases share one: what was found is kept.
        """
        known = self._found.get(atom)
        if known is None:
            whole = itertools.chain.from_iterable(self._members(run) for run in atom)
            runs = [forms for run in whole if (forms := self._present(run))]
            lines = {number for forms in runs for word in forms[0] for number in self._index[word]}
            known = self._found[atom] = _Found(runs, lines)
        return known

    def _members(self, run: Run) -> Atom:
        """The runs of a class of words; a run of its own alone."""
        return self._classes[run[0][1:]] if run[0].startswith(CLASS) else (run,)

    def _present(self, run: Run) -> list[frozenset[str]]:
        """Of each word of a run the forms that are in the input; empty where one word is not."""
        found: list[frozenset[str]] = []
        for word in run:
            forms = self._beginning(word[:-1]) if word.endswith("*") else self._forms.get(word)
            if not forms:
                return []
            found.append(forms)
        return found

    def _beginning(self, begin: str) -> frozenset[str]:
        """The words of the input that begin so."""
        known = self._beginnings.get(begin)
        if known is None:
            rest = map(self._vocabulary.__getitem__, range(bisect_left(self._vocabulary, begin), len(self._vocabulary)))
            known = frozenset(itertools.takewhile(lambda word: word.startswith(begin), rest))
            self._beginnings[begin] = known
        return known


def _forms(vocabulary: Iterable[str]) -> dict[str, frozenset[str]]:
    """The words of an input by what a phrase calls them: each by itself, those of letters without their endings too."""
    found: dict[str, set[str]] = defaultdict(set)
    for word in vocabulary:
        found[word].add(word)
        for ending in _INFLECTED if word.isalpha() else ():
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
                found[word.removesuffix(ending)].add(word)
    return {word: frozenset(forms) for word, forms in found.items()}


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
            stop = FAR if distant else GAP + 1
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
