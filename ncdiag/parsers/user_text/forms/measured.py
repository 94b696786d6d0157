"""The forms that the numbers of a sentence say, whatever its words are."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text import numbers
from ncdiag.parsers.user_text.forms import counts
from ncdiag.parsers.user_text.forms.compared import PLACE
from ncdiag.parsers.user_text.forms.vocabulary import worded

_NUMBER = lazy_regex(r"\d+|\b(?:one|single|two|both|pair|three|third|four|five|six|seven|eight|nine|ten|eleven|twelve)")
_LEAST = 2
"""The numbers of a sentence that compares two."""
_BENCHMARK = lazy_regex(r"nccl-?\s?tests?|all_?-?reduce|busbw|bandwidth|ib_\w+_bw")


@functools.cache
def _places() -> re.Pattern[str]:
    return lazy_regex(rf"\b(?:{worded(PLACE)})(?!\w)")


@functools.cache
def _several() -> re.Pattern[str]:
    return lazy_regex(rf"(?<!\w)(?:{worded('<several gpus>')})(?!\w)")


def names(sentence: str) -> Iterator[str]:
    """The names of the forms."""
    if len(_NUMBER.findall(sentence)) < _LEAST:
        return
    if numbers.slower_with_more(sentence):
        yield "with-more-gpus"
    elif numbers.differ(sentence):
        yield "elsewhere" if _is_of_two_places(sentence) else "less-than-elsewhere"
    elif numbers.fell(sentence):
        yield "less-than-elsewhere"
    yield from (name for name, is_said in _SAID if is_said(sentence))


def _is_of_two_places(sentence: str) -> bool:
    return not _BENCHMARK.search(sentence) and len({found[0] for found in _places().finditer(sentence)}) > 1


def _is_worse_with_several(sentence: str) -> bool:
    return numbers.scores_apart(sentence) and _several().search(sentence) is not None


_SAID: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("falls-off", numbers.sinks),
    ("from-a-number", counts.fails_from),
    ("above-a-size", counts.fails_above),
    ("gpu-unseen", counts.sees_fewer),
    ("gpu-lost", counts.loses_some),
    ("wrong-with-several", _is_worse_with_several),
)
