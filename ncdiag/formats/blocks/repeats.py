"""A text without the lines that come again: each rank prints what fails, and what people write they write once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex

_DIGITS, _WORD = lazy_regex(r"\d+"), lazy_regex(r"[^\W\d_]{2,}")
_WORDS, _OFTEN, _LONGEST = 3, 3, 400
"""Minimum number of words of a line that comes again (a fence or an empty line does so everywhere), and of such lines;
number of characters of a line that are compared."""


def origins(lines: Sequence[str]) -> list[int]:
    """For each line the index of the first one that differs from it at most in numbers, if there are several others.

    A line of fewer words comes again if what it follows does, or if it is below one of its own form.
    """
    shapes = [_DIGITS.sub("0", line[:_LONGEST]).strip() for line in lines]
    again = {shape for shape, times in Counter(shapes).items() if times >= _OFTEN}
    often = {shape for shape in again if len(_WORD.findall(shape)) >= _WORDS}
    first: dict[str, int] = {}
    found: list[int] = []
    for index, shape in enumerate(shapes):
        above = found[-1] if found else index
        if shape in often:
            found.append(first.setdefault(shape, index))
        elif index and shape == shapes[index - 1] and shape in again and _WORD.search(shape):
            found.append(above)
        elif index and above < index - 1 and shape == shapes[above + 1]:
            found.append(above + 1)
        else:
            found.append(index)
    return found
