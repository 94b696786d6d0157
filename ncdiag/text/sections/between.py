"""Lines that another program prints between those of an output, so that they interrupt it: progress bars, reminders."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.text.sections.line import Line

_BAR = lazy_regex(r"[^|]{0,120}\d{1,3}%\|.{0,120}\| *[\d.]{1,12}[kMGT]?i?B?/[\d.]{1,12}")
"""A line of tqdm."""
_DATA = lazy_regex(r"[<>=]|[A-Za-z\"')]\s*:(?:\s|$)")
"""A value with its name, or markup: outputs repeat these."""
_NUMBER, _WORD = lazy_regex(r"\d+"), lazy_regex(r"[A-Za-z]{3,}")
_FEWEST, _WORDS = 4, 3
_SHARE = 5
"""One line in this number is a bar, or one in two the same reminder, where these interrupt everything."""
_STREAM = "\tbetween"


def set_apart(lines: list[Line]) -> list[Line]:
    """The lines with those that interrupt them at the end, as those of another process; all of them if none do."""
    written = sum(bool(line.text.strip()) for line in lines)
    bars = [_BAR.match(line.text) is not None for line in lines] if any("%|" in line.text for line in lines) else []
    if sum(bars) < max(_FEWEST, written / _SHARE):
        shape = _reminder(lines, written)
        if shape is None:
            return lines
        bars = [_shape(line.text) == shape for line in lines]
    others = [line for line, is_bar in zip(lines, bars, strict=True) if not is_bar]
    return others + [
        msgspec.structs.replace(line, stream=f"{line.stream}{_STREAM}")
        for line, is_bar in zip(lines, bars, strict=True)
        if is_bar
    ]


def _reminder(lines: Sequence[Line], written: int) -> str | None:
    """The shape of a sentence that is every other line, never twice in a row."""
    shapes = _NUMBER.sub("0", "\n".join(line.text.strip() for line in lines)).split("\n")
    shape, number = Counter(filter(None, shapes)).most_common(1)[0] if any(shapes) else ("", 0)
    if number < _FEWEST or 5 * number < 2 * written or len(_WORD.findall(shape)) < _WORDS or "NCCL" in shape:
        return None
    if _DATA.search(shape):
        return None
    places = [place for place, each in enumerate(shapes) if each == shape]
    apart = all(later - sooner > 1 for sooner, later in itertools.pairwise(places))
    others = {each for each in shapes if each and each != shape}
    return shape if apart and 2 * len(others) > number else None


def _shape(text: str) -> str:
    return _NUMBER.sub("0", text.strip())
