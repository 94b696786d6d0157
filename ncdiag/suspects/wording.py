"""The lines of an input as indexed words, so that searching thousands of phrases takes about as long as one search."""

from __future__ import annotations

import itertools
import operator
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Span
from ncdiag.engine.phrases import CLASS, FAR, GAP, TOKEN, Atom, Heads, Phrase, Run, Shared
from ncdiag.formats.line_kinds import is_commented_out, is_sentence, kind_of, without_names
from ncdiag.suspects import attempts

_LONGEST = 4000
"""Maximum number of characters of a line that are searched."""
_TIME = lazy_regex(r"\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,9})?|\d{4}-\d\d-\d\d")
_SHARE = r"(?<![\d.,])(?:[1-8]?\d)(?:[.,]\d{1,2})?\s?(?:%|\uff05|per\s?cent\b|prozent\b)"
"""A percentage at which nothing is full."""
_PARTLY = lazy_regex(
    rf"{_SHARE}\s?(?:full|filled|used(?:\sup)?|in\suse|occupied|voll|belegt|gef\u00fcllt|pleine?|lleno|llena|\u6ee1)"
    rf"|\b(?:full|filled|used|voll|belegt)\s?(?:to|at|up\sto|zu|:|=|\()\s?(?:(?:only|about|just|nur)\s)?{_SHARE}"
    r"|\b(?:half|hardly|barely|partly|a\s(?:third|quarter)|halb|kaum)[\s-](?:full|voll)\b",
    re.IGNORECASE,
)
"""What is full in part: 40 % full, zu 40 % voll, full at 40 %, half full."""
_OF_PARTS = (
    "full", "voll", "filled", "belegt", "used", "in use", "occupied", "plein", "llen", "gef\u00fcllt", "\u6ee1",
)  # fmt: skip
"""Each match of `_PARTLY` contains one of these, in small letters."""
_INFLECTED = ("s", "es", "ed", "d", "ing")
"""Endings of a plain word that are ignored."""
_SHORTEST = 3
"""Minimum number of letters of a word with inflected forms."""
_ASKS = lazy_regex(
    r"\b(?:I|I'm|I've|my|any(?:one|body)|observed|noticed|saw|seeing|reported)\b|[?\uff1f]\s*$"
    r"|请教|请问|求助|求解|怎么|为什么|为何|咋",
    re.IGNORECASE,
)
"""Words of people who have a problem; pages that explain procedures use other words."""
_SPOKEN = frozenset({"prose", "quoted"})
"""Kinds of lines that a person writes."""
_DENIALS = frozenset("not no never without nor isn aren wasn doesn don didn cannot 不 没 无 非".split())  # noqa: SIM905
_DENIED = 2
"""Maximum number of words between a negation and the phrase that it denies."""


class _Found(NamedTuple):
    """The parts of an atom in the input: its alternatives by their first words, and the lines with one of these.

    The words after the first one of an alternative are kept, each as the set of its forms in the input.
    """

    runs: dict[str, list[list[frozenset[str]]]]
    lines: set[int]


class Wording:
    """Lines and an index of their words. Lines with the same words count once, with the first span."""

    def __init__(self, spans: Iterable[Span], shared: Shared) -> None:
        """Split the lines into words, without those that contain a benign phrase or are commented out."""
        self._classes = shared.classes
        lines: dict[tuple[str, ...], Span] = {}
        spans = list(spans)
        whole = "\n".join([span.text for span in spans]).lower()
        parts = [part for part in _OF_PARTS if part in whole]
        for span in spans:
            said = without_names(span.text[:_LONGEST]).lower()
            if any(map(said.__contains__, parts)):
                said = _PARTLY.sub(" ", said)
            words = tuple(TOKEN.findall(said))
            if words and not is_commented_out(span.text):
                lines.setdefault(words, span)
        self._words, self._spans = list(lines), list(lines.values())
        self._index: dict[str, list[int]] = defaultdict(list)
        for number, words in enumerate(self._words):
            for word in dict.fromkeys(words):
                self._index[word].append(number)
        tried = {(span.source, span.line) for span in attempts.attempts(spans)}
        found = enumerate(self._spans if tried else ())
        self._attempts = {number for number, span in found if (span.source, span.line) in tried}
        if self._attempts:
            self._index[attempts.MARK].extend(())  # phrases that refuse it find it in the vocabulary
        self._vocabulary = sorted(self._index)
        self._forms = _forms(self._vocabulary)
        self._names = frozenset(self._forms)
        self._others: dict[str, bool] = {}
        self._found: dict[Atom, _Found] = {}
        self._left_out: set[int] = set()
        self._left_out |= {number for phrase in shared.benign for number in self._matches(phrase)}

    def leave_out(self, spans: Iterable[Span]) -> None:
        """Ignore these lines from now on, and those that differ from them in the time alone: the same, said again."""
        places, forms = set(), set()
        for span in spans:
            places.add((span.source, span.line))
            forms.add(_TIME.sub("", span.text))
        self._left_out |= {
            n
            for n, span in enumerate(self._spans)
            if (span.source, span.line) in places or (forms and _TIME.sub("", span.text) in forms)
        }

    def lines(self) -> Iterator[tuple[str, ...]]:
        """The words of each line that is not ignored."""
        return (words for number, words in enumerate(self._words) if number not in self._left_out)

    def spans(self) -> Iterator[Span]:
        """The lines that are not ignored."""
        return (span for number, span in enumerate(self._spans) if number not in self._left_out)

    def has_any(self, heads: Heads) -> bool:
        """False if no phrase with these first words can be in the input: a fast test, true for few phrases."""
        return not self._names.isdisjoint(heads.words) or any(map(self._has, heads.others))

    def _has(self, head: str) -> bool:
        """True if the input has a word with this beginning, or one of a class."""
        known = self._others.get(head)
        if known is None:
            known = self._others[head] = any(self._forms_of(run[0]) for run in self._members((head,)))
        return known

    def has_word(self, pattern: str) -> bool:
        """True if the pattern matches a whole word of the input, in lower case."""
        return any(map(re.compile(pattern).fullmatch, self._vocabulary))

    def asks(self) -> bool:
        """True if somebody asks a question in a line that is not ignored, or writes in the first person."""
        looked_at = (span.text for number, span in enumerate(self._spans) if number not in self._left_out)
        return any(kind_of(text) in _SPOKEN for text in looked_at if _ASKS.search(text[:_LONGEST]))

    def is_written(self) -> bool:
        """True if a line that is not ignored is a sentence of a person and not the output of a program."""
        looked_at = (span.text for number, span in enumerate(self._spans) if number not in self._left_out)
        return any(map(is_sentence, looked_at))

    def find(self, phrases: Iterable[Phrase], most: int = 3) -> list[Span]:
        """The first ``most`` lines that contain one of the phrases without negating it."""
        first = (itertools.islice(self._matches(phrase), most) for phrase in phrases)
        return [self._spans[number] for number in sorted({*itertools.chain.from_iterable(first)})[:most]]

    def most_of(self, words: Iterable[str]) -> Span | None:
        """The first line with the largest number of these words; None if no line has one."""
        counts: Counter[int] = Counter()
        for word in words:
            counts.update(self._index.get(word, ()))  # of thousands of lines: no call for each
        for number in counts.keys() & self._left_out:
            del counts[number]
        if not counts:
            return None
        most = max(counts.values())
        return self._spans[min([number for number, count in counts.items() if count == most])]

    def _matches(self, phrase: Phrase) -> Iterator[int]:
        """The indexes of the lines that contain the phrase."""
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
            if not _holds(words, atoms, phrase.far):
                continue
            marked = (*words, attempts.MARK) if number in self._attempts else words
            if not any(_starts(marked, atom) for atom in refused):
                yield number

    def _find(self, atom: Atom) -> _Found:
        """The alternatives whose words are all in the input, and the lines that contain their first words.

        Results are cached, because few atoms are in an input and many phrases share one.
        """
        known = self._found.get(atom)
        if known is None:
            runs: dict[str, list[list[frozenset[str]]]] = {}
            for words in itertools.chain.from_iterable(map(self._members, atom)):
                if (first := self._forms_of(words[0])) and all(rest := list(map(self._forms_of, words[1:]))):
                    for word in first:
                        runs.setdefault(word, []).append(rest)
            lines = {number for word in runs for number in self._index[word]}
            known = self._found[atom] = _Found(runs, lines)
        return known

    def _members(self, run: Run) -> Atom:
        """The runs of a class of words; for any other run, only itself."""
        return self._classes[run[0][1:]] if run[0].startswith(CLASS) else (run,)

    def _forms_of(self, word: str) -> frozenset[str]:
        """The forms of a phrase's word in the input, or the words of the input with this beginning."""
        known = self._forms.get(word)
        if known is None:
            known = self._forms[word] = self._beginning(word[:-1]) if word.endswith("*") else frozenset()
        return known

    def _beginning(self, begin: str) -> frozenset[str]:
        """The words of the input with this beginning."""
        rest = map(self._vocabulary.__getitem__, range(bisect_left(self._vocabulary, begin), len(self._vocabulary)))
        return frozenset(itertools.takewhile(lambda word: word.startswith(begin), rest))


def _forms(vocabulary: Iterable[str]) -> dict[str, frozenset[str]]:
    """The words of an input by the phrase's word that matches them: itself, and for plain words without its ending."""
    found: dict[str, set[str]] = defaultdict(set)
    for word in vocabulary:
        found[word].add(word)
        for ending in _INFLECTED if word.isalpha() else ():
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
                found[word.removesuffix(ending)].add(word)
    return {word: frozenset(forms) for word, forms in found.items()}


def _ends(words: Sequence[str], atom: _Found, begin: int, end: int) -> Iterator[int]:
    """Positions where an atom that begins at one of the positions may end."""
    for place, word in enumerate(words[begin:end], begin + 1):
        for rest in atom.runs.get(word, ()):
            last = place + len(rest)
            if last <= len(words) and all(map(operator.contains, rest, words[place:last])):
                yield last


def _starts(words: Sequence[str], atom: _Found) -> bool:
    return next(_ends(words, atom, 0, len(words)), None) is not None


def _holds(words: Sequence[str], atoms: Sequence[_Found], far: Sequence[bool]) -> bool:
    """True if the atoms occur in their order, close enough together, and are not negated."""
    for begin, word in enumerate(words):
        ends = set(_ends(words, atoms[0], begin, begin + 1)) if word in atoms[0].runs else None
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
    """True if a preceding word negates the phrase. A phrase that begins with a negation contains it itself."""
    own = not _DENIALS.isdisjoint(atom.runs)
    return not own and not _DENIALS.isdisjoint(words[max(0, begin - _DENIED) : begin])
