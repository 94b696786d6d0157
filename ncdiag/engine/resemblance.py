"""Which causes an input resembles: the words that it shares with what the book writes of each.

Signs know the lines that somebody thought of. The whole text of a rule (why, conditions, signs, fixes, what else it may
be) knows more words of its field, and an input that holds the rare ones among them mentions that field even where it
shows no sign. The measure is Okapi BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009). How far
a rule stands out among the `_NEAREST` best is what counts, so that long and short inputs are judged alike.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

import msgspec

from ncdiag.engine.phrases import TOKEN

_SATURATION, _LENGTH = 1.2, 0.75
"""k1 and b of BM25, as they are used where nothing is fitted."""
_OFTEN = 2.0
"""What a word that the input repeats counts at most."""
_SHORTEST = 3
_NEAREST = 40
_FEWEST = 14
"""Different words of an input that is a text: a line alone is judged by what it is."""
_LEAST = 15.0
"""What fewer words than a sentence of the field have in common is chance."""
_STEP, _MOST = 0.4, 1.8
"""What a standard deviation above the nearest counts, and what resemblance counts at most: as a strong sign does."""
_SHOWN = 4


class Index(msgspec.Struct, frozen=True):
    """The words of all rules, each as an encoded `Word`: few words of a book are in an input.

    ``codes`` are those of the rules, ``damping`` what the length of each rule's text takes from the words that it
    repeats.
    """

    codes: tuple[str, ...] = ()
    damping: tuple[float, ...] = ()
    words: Mapping[str, msgspec.Raw] = {}

    def parts(self, word: str) -> dict[int, float]:
        """The part of the score that a word gives to each rule that has it, by the place of the rule in ``codes``.

        Parts are rounded to thousandths, so that no machine's arithmetic decides between two rules.
        """
        held = msgspec.msgpack.decode(self.words[word], type=Word)
        rarity = math.log(1 + (len(self.codes) - held.spread + 0.5) / (held.spread + 0.5))
        gain, damping = rarity * (_SATURATION + 1) * 1000, self.damping  # to thousandths, faster than `round` is
        return {
            place: (gain * times / (times + damping[place]) + 0.5) // 1 / 1000 for place, times in held.times.items()
        }


class Word(msgspec.Struct, frozen=True, array_like=True):
    """The number of rules that have a word, be it in an input alone, and how often the text of each has it."""

    spread: int
    times: Mapping[int, int]


class Resemblance(msgspec.Struct, frozen=True):
    """What a rule's words count in favour of it, in steps of log-odds, and the shared words that tell the most."""

    counts: float
    words: tuple[str, ...]


def index(texts: Mapping[str, Iterable[str]], inputs: Mapping[str, Iterable[str]]) -> Index:
    """The index of the texts of each code, and of the inputs that it is tried on.

    A word is as rare as it is among both, for a traceback is full of words that few rules write; one that more than
    half of them have tells nothing.
    """
    counted = {code: Counter(_terms_of(parts)) for code, parts in texts.items()}
    seen = {code: {*words, *_terms_of(inputs.get(code, ()))} for code, words in counted.items()}
    spread = Counter(itertools.chain.from_iterable(seen.values()))
    usual = sum(map(sum, (words.values() for words in counted.values()))) / max(1, len(counted))
    held: dict[str, dict[int, int]] = {}
    for place, words in enumerate(counted.values()):
        for word, times in words.items():
            if 2 * spread[word] <= len(counted):
                held.setdefault(word, {})[place] = times
    damping = tuple(_SATURATION * (1 - _LENGTH + _LENGTH * sum(words.values()) / usual) for words in counted.values())
    encoded = {word: msgspec.Raw(msgspec.msgpack.encode(Word(spread[word], times))) for word, times in held.items()}
    return Index(tuple(counted), damping, encoded)


def resemblances(held: Index, lines: Iterable[Sequence[str]]) -> dict[str, Resemblance]:
    """By code, the rules that stand out; ``lines`` are the words of each line of an input."""
    asked = Counter(itertools.chain.from_iterable(map(_terms, lines)))
    if len(asked) < _FEWEST:
        return {}
    weights = {word: min(1 + math.log(times), _OFTEN) for word, times in asked.items() if word in held.words}
    known = {word: held.parts(word) for word in weights}
    scores: dict[int, float] = defaultdict(float)
    for word, weight in weights.items():
        for place, part in known[word].items():
            scores[place] += weight * part
    nearest = sorted(scores.items(), key=itemgetter(1), reverse=True)[:_NEAREST]
    if not nearest:
        return {}
    mean = math.fsum(score for _, score in nearest) / len(nearest)
    spread = math.sqrt(math.fsum((score - mean) ** 2 for _, score in nearest) / len(nearest)) or 1.0
    found: dict[str, Resemblance] = {}
    for place, score in nearest:
        if score < _LEAST or score <= mean:
            break
        words = sorted(weights, key=lambda word: (-weights[word] * known[word].get(place, 0.0), word))[:_SHOWN]
        shared = tuple(word for word in words if place in known[word])
        found[held.codes[place]] = Resemblance(min(_STEP * (score - mean) / spread, _MOST), shared)
    return found


def _terms_of(parts: Iterable[str]) -> Iterator[str]:
    return itertools.chain.from_iterable(_terms(TOKEN.findall(part.lower())) for part in parts)


def _terms(words: Iterable[str]) -> Iterator[str]:
    """The words that may tell of a field: no numbers, none of two letters; of other scripts, pairs of signs."""
    before = ""
    for word in words:
        if len(word) >= _SHORTEST:
            if not word.isdigit():
                yield word
        elif not word.isascii() and before:
            yield before + word
        before = "" if word.isascii() else word
