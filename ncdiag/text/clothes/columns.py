"""Put what is side by side below each other, and the oldest line first; find the width at which lines were cut."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex

_BAR = "|\u2502\u2503"
_GAP = lazy_regex(r"\s+[|<>]?\s*\Z")
"""What ``sdiff`` prints between two lines."""
_STAMP = lazy_regex(r"\[?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)")
_NCCL = lazy_regex(r"NCCL (?:INFO|WARN)")
_DIGIT = lazy_regex(r"\d")
_SHAPED = lazy_regex(r"[0-9a-f]*\d[0-9a-f]*")
"""Numbers, also hexadecimal ones."""
_FEWEST = 5
_EDGES = ("|", "+", "\u2502", "\u250c", "\u251c", "\u2514")
_MANY = 400
"""Maximum number of lines that are checked."""
_NARROW, _WIDE = 20, 500
"""Columns between which a screen is split."""
_PANES = 4
_WIDEST = 400
_CUT_LINES = 3
_TERMINAL = 60
_SHARE = 0.9


def apart(text: str) -> str | None:
    """The text with each column below the one left of it; None if no bar, and no repetition, divides its lines."""
    lines = text.split("\n")
    written = sum(bool(line.strip()) for line in lines)
    if written < _FEWEST:
        return None
    first, *others = panes(text)
    for pane in others:
        first = _below(first, pane)
    return "\n".join(first) if others else _once(lines, written)


def panes(text: str) -> list[list[str]]:
    """The lines of each column, from left to right: those of the text if no bar divides them."""
    found: list[list[str]] = []
    rest = text.split("\n")
    while len(found) < _PANES:
        written = [line for line in rest if line.strip()]
        place = _bar(written) if len(written) >= _FEWEST else None
        if place is None:
            break
        found.append([line[:place].rstrip() for line in rest])
        rest = [line[place + 1 :].removeprefix(" ").rstrip() for line in rest]
    return [*found, rest]


def _bar(lines: Sequence[str]) -> int | None:
    """The place of a bar in nearly all lines that are as long, unless they are rows of a table or a pane of its own."""
    few = lines[:_MANY]
    if 2 * sum(line.startswith(_EDGES) or _is_framed(line.rstrip()) for line in few) > len(few):
        return None
    places = Counter(place for line in few for place in range(_NARROW, min(_WIDE, len(line))) if line[place] in _BAR)
    place, number = max(places.items(), key=lambda item: (item[1], -item[0]), default=(0, 0))
    if len({_DIGIT.sub("0", line[:place]) for line in few}) * _FEWEST < len(few):
        return None  # the head that a logger prints before each line
    reached = sum(len(line) > place for line in few)
    return place if number >= _FEWEST and number >= _SHARE * len(few) and number == reached else None


def _is_framed(line: str) -> bool:
    return line.endswith(tuple(_BAR)) and line.count(line[-1]) > 1


def _below(left: list[str], right: list[str]) -> list[str]:
    others = {line.strip() for line in right} - {line.strip() for line in left} - {""}
    return left if len(others) * _FEWEST < len(right) else [*left, *right]


def _once(lines: Sequence[str], written: int) -> str | None:
    """The left half of lines that ``sdiff`` or ``pr`` prints twice."""
    start = _second(lines)
    if start is None:
        return None
    halves = [(line[:start].rstrip(), line[start:].strip()) for line in lines]
    same = sum(bool(left) and _whole(left).strip() == right for left, right in halves)
    if same < _SHARE * written:
        return None
    return "\n".join(
        _whole(left) if _whole(left).strip() == right else line
        for (left, right), line in zip(halves, lines, strict=True)
    )


def _whole(left: str) -> str:
    return _GAP.sub("", f"{left} ")


def _second(lines: Sequence[str]) -> int | None:
    """The column at which the longest line begins again; None if the line is wider than two screens."""
    longest = max(lines, key=len)
    if len(longest) > 2 * _WIDE:
        return None
    word = longest.split(None, 1)[0] if longest.strip() else ""
    begins = longest.find(word)
    places = (
        [found.start() for found in re.finditer(re.escape(word), longest) if found.start() >= _NARROW] if word else []
    )
    for place in places:
        if _whole(longest[begins:place]) == longest[place:].rstrip():
            return place - begins
    return None


def oldest_first(text: str) -> str | None:
    """The lines in the other order, if nearly all begin with times and these fall."""
    lines = text.removesuffix("\n").split("\n")
    stamps = [found[1] for found in map(_STAMP.match, lines) if found]
    written = sum(bool(line.strip()) for line in lines)
    if len(stamps) < _FEWEST or len(stamps) < _SHARE * written or stamps[0] <= stamps[-1]:
        return None
    falling = sum(later <= sooner for sooner, later in itertools.pairwise(stamps))
    return "\n".join(reversed(lines)) + "\n" if falling >= _SHARE * (len(stamps) - 1) else None


def cut_in(text: str) -> list[int]:
    """The width of each column in which a terminal cut the lines."""
    divided = panes(text)
    widths = (_reached(pane, _NARROW)[0] for pane in divided) if len(divided) > 1 else ()
    return [width for width in widths if width]


def cut_at(text: str) -> int | None:
    """The width at which a terminal cut the lines, so that their ends are lost; None if it did not.

    It cuts whatever is long: where all lines of that width begin alike, it is the length of what each rank prints.
    """
    width, ends = _reached(text.split("\n"), _TERMINAL)
    return width if width and len({_SHAPED.sub("0", line)[: width // 2] for line in ends}) > 1 else None


def _reached(lines: Sequence[str], narrowest: int) -> tuple[int | None, list[str]]:
    """The width of the longest lines, if nearly all of them end there and several are NCCL's, and these lines."""
    width = max(map(len, lines))
    if not narrowest <= width < _WIDEST:
        return None, []
    ends = [number for number, line in enumerate(lines[:-1]) if len(line) == width]
    of_nccl = sum(_NCCL.search(lines[number]) is not None for number in ends)
    begins = sum(_begins(lines, number + 1) for number in ends)
    is_cut = of_nccl >= _CUT_LINES and 4 * begins >= 3 * len(ends)
    return width if is_cut else None, [lines[number] for number in ends]


def _begins(lines: Sequence[str], number: int) -> bool:
    """True if a line begins as another one of the same program does, and does not go on."""
    line = lines[number]
    return not line.strip() or _NCCL.search(line) is not None
