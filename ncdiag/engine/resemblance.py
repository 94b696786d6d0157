"""Find the causes that an input resembles: the words that it shares with the texts of each rule.

Signs match only lines that somebody expected. The whole text of a rule (why, conditions, signs, fixes, alternatives)
has more words of its field, and an input with the rare ones among them is about that field even if it shows no sign.
The measure is Okapi BM25 (Robertson and Zaragoza, The Probabilistic Relevance Framework, 2009). A rule's distance from
the `_NEAREST` best rules is what counts, so that long and short inputs are treated alike.
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
"""k1 and b of BM25, the usual values if nothing is fitted."""
_OFTEN = 2.0
"""Maximum weight of a word that the input repeats."""
_SHORTEST = 3
_NEAREST = 40
_FEWEST = 14
"""Minimum number of different words of an input; a few lines are judged by their content alone."""
_LEAST = 15.0
"""Minimum score: words in common below it are chance, less than a sentence of the field."""
_STEP, _MOST = 0.4, 1.8
"""Weight of a standard deviation above the nearest rules, and maximum weight of resemblance: that of a strong sign."""
_SHOWN = 4


class Index(msgspec.Struct, frozen=True):
    """The words of all rules, each as an encoded `Word`: an input contains only few of them.

    ``codes`` are those of the rules, ``damping`` is the BM25 length normalisation of each rule's text in thousandths.
    """

    codes: tuple[str, ...] = ()
    damping: tuple[int, ...] = ()
    words: Mapping[str, msgspec.Raw] = {}

    def parts(self, word: str) -> dict[int, float]:
        """The contribution of a word to the score of each rule that contains it, by the index of the rule in ``codes``.

        Contributions are rounded to thousandths, so that the result does not depend on the machine.
        """
        held = msgspec.msgpack.decode(self.words[word], type=Word)
        rarity = math.log(1 + (len(self.codes) - held.spread + 0.5) / (held.spread + 0.5))
        gain, damping = rarity * (_SATURATION + 1) * 1000, self.damping  # in thousandths, which is faster than `round`
        places = itertools.accumulate(held.steps)
        return {
            place: (gain * times / (times + damping[place] / 1000) + 0.5) // 1 / 1000
            for place, times in zip(places, held.times, strict=True)
        }


class Word(msgspec.Struct, frozen=True, array_like=True):
    """The number of rules and inputs that contain a word, and its count in the text of each rule that has it.

    ``steps`` are the distances between the indices of these rules, the first from 0: small numbers take less space.
    """

    spread: int
    steps: tuple[int, ...]
    times: tuple[int, ...]


class Resemblance(msgspec.Struct, frozen=True):
    """The weight of a rule's shared words, in steps of log-odds, and the most significant of these words."""

    counts: float
    words: tuple[str, ...]


def index(texts: Mapping[str, Iterable[str]], inputs: Mapping[str, Iterable[str]]) -> Index:
    """The index of the texts of each code, and of the inputs on which it is tested.

    The rarity of a word is computed over both, because a traceback is full of words that few rules use; a word that
    more than half of them contain is ignored.
    """
    counted = {code: Counter(_terms_of(parts)) for code, parts in texts.items()}
    seen = {code: {*words, *_terms_of(inputs.get(code, ()))} for code, words in counted.items()}
    spread = Counter(itertools.chain.from_iterable(seen.values()))
    usual = sum(map(sum, (words.values() for words in counted.values()))) / max(1, len(counted))
    held: dict[str, dict[int, int]] = {}
    own = {code.lower() for code in counted}  # a code is in its rule alone, and no input speaks of it
    for place, words in enumerate(counted.values()):
        for word, times in words.items():
            if 2 * spread[word] <= len(counted) and word not in own:
                held.setdefault(word, {})[place] = times
    lengths = (sum(words.values()) / usual for words in counted.values())
    damping = tuple(round(1000 * _SATURATION * (1 - _LENGTH + _LENGTH * length)) for length in lengths)
    encoded = {word: msgspec.Raw(msgspec.msgpack.encode(_word(spread[word], times))) for word, times in held.items()}
    return Index(tuple(counted), damping, encoded)


def _word(spread: int, times: Mapping[int, int]) -> Word:
    """The word with its counts by the index of the rule, which grows."""
    return Word(spread, tuple(at - before for before, at in itertools.pairwise((0, *times))), tuple(times.values()))


def resemblances(held: Index, lines: Iterable[Sequence[str]]) -> dict[str, Resemblance]:
    """The rules that stand out, by code; ``lines`` are the words of each line of an input."""
    asked = _counted(lines)
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


def _counted(lines: Iterable[Sequence[str]]) -> Counter[str]:
    """How often lines have each of their terms: words are counted first, as a log has few different ones."""
    held = list(lines)
    words = Counter(itertools.chain.from_iterable(held))
    found = Counter({word: times for word, times in words.items() if len(word) >= _SHORTEST and not word.isdigit()})
    found.update(itertools.chain.from_iterable(_pairs(line) for line in held if not "".join(line).isascii()))
    return found


def _pairs(words: Iterable[str]) -> Iterator[str]:
    """Of scripts other than Latin, pairs of characters next to each other."""
    before = ""
    for word in words:
        if len(word) < _SHORTEST and not word.isascii() and before:
            yield before + word
        before = "" if word.isascii() else word


def _terms(words: Sequence[str]) -> Iterator[str]:
    """The words that may identify a field: no numbers, none of two letters; of other scripts, pairs of characters."""
    yield from (word for word in words if len(word) >= _SHORTEST and not word.isdigit())
    yield from _pairs(words)
