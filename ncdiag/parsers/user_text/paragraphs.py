"""The sentences that people write: cut out of lines, and put together where a mail program broke them.

Only prose is joined: what a program prints, lists, tables, headings and code keep their lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers._prose import is_prose

_NARROW, _WIDE = 58, 100
"""Widths at which people have their lines broken."""
_TAIL = lazy_regex(r"[a-z][a-z' ,-]{1,60}[.!?]")
_MOST = 12
"""Lines of a sentence, at most."""
_ENDED = lazy_regex(r"(?:[.!?:;\u3002\uff01\uff1f\uff1a]|```)[\"')\]]*\s*$")
_GOES_ON = lazy_regex(r" ?(?P<word>(?:[a-z(\"'`]|[A-Z]{2}|I\b|\d+(?:\.\d+)*\s[a-z]|[A-Z]\w*_)\S*)(?:\s|$)")
"""A line that may go on with a sentence, by its first word."""
_PRINTED = lazy_regex(r"\||\s{3,}\S|^\s*[$#]\s|[{}]|=>|->|^\s*[a-z][\w./-]{1,40}: ")
"""Signs of a table, a command or a program's line."""
_MARKS = lazy_regex(r"^\s*(?:[>*#-]{1,6}\s+){0,4}(?:\[[ x]\]\s|\d{1,2}[.)]\s)?(?=\S)|[`*]")
_SENTENCES = lazy_regex(
    r"(?<=[.!?])(?<!\bi\.e\.)(?<!\be\.g\.)(?<!\bvs\.)(?<!\bapprox\.)(?<!\bresp\.)\s+"
    r"|(?<=[。\uff01\uff1f])"
)
_EXPECTED = lazy_regex(r"\W*(?:expected|desired|期望)\b.{0,30}$", re.IGNORECASE)
_HEADING = lazy_regex(
    r"\s*#|[^.]{1,40}:\W*$|\W*(?:actual|current|observed|what\shappen|environment|steps|to\sreproduce|additional"
    r"|logs?|versions?)\b"
    r".{0,30}$",
    re.IGNORECASE,
)
_COMMENT = lazy_regex(r"\s#+\s")


def joined(lines: Sequence[str]) -> Iterator[tuple[int, str, list[int]]]:
    """Index of the first line, text and the offset of each line in it: of each sentence run over lines, or line."""
    start = 0
    while start < len(lines):
        end = start + 1
        while end < len(lines) and end - start < _MOST and _is_broken(lines, end - 1):
            end += 1
        text, offsets = lines[start].rstrip(), [0]
        for line in lines[start + 1 : end]:
            offsets.append(len(text) + 1)
            text = f"{text} {line.strip()}"
        yield start, text, offsets
        start = end


def _is_broken(lines: Sequence[str], index: int) -> bool:
    """True if the sentence of this line goes on in the next one, whose first word no longer fitted."""
    line, following = lines[index], lines[index + 1]
    if len(line) > _WIDE + 1 or not runs_on(line, following):  # what ends beside narrow lines ends beside wide ones
        return False
    beside = [len(each.rstrip()) for each in _block(lines, max(0, index - _MOST), index)]
    return runs_on(line, following, max(beside, default=0))


def runs_on(line: str, following: str, width: int = 0) -> bool:
    """True if the sentence of a line goes on in the next, the lines beside them being of this width."""
    line = line.rstrip()
    goes_on = _GOES_ON.match(following)
    if goes_on is None or not _NARROW // 2 < len(line) <= _WIDE or _ENDED.search(line):
        return False
    width = max(width, len(line), len(following.rstrip()) if len(following) <= _WIDE else 0, _NARROW)
    if width > _WIDE or len(line) + 1 + len(goes_on["word"]) <= width:
        return False
    return not (_PRINTED.search(line) or _PRINTED.search(following)) and is_prose(line)


def _block(lines: Sequence[str], first: int, index: int) -> Iterator[str]:
    """The lines above this one up to an empty one."""
    for place in range(index - 1, first - 1, -1):
        if not lines[place].strip():
            return
        yield lines[place]


def may_end(line: str) -> bool:
    """True if the line may be the end of a sentence that began above it."""
    return _TAIL.fullmatch(line.strip()) is not None


def is_heading(line: str) -> bool:
    """True for the heading of what was expected, and for one that ends it."""
    return _EXPECTED.match(line) is not None or _HEADING.match(line) is not None


class Expected:
    """Tells which lines of an issue say what was expected instead of what happened."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        self._holds = False

    def holds(self, line: str) -> bool:
        """True for the heading of what was expected, and below it up to the next heading."""
        self._holds = _EXPECTED.match(line) is not None or (self._holds and not _HEADING.match(line))
        return self._holds


def sentences(line: str) -> list[tuple[int, str]]:
    """The sentences of a line and where they begin, without the marks of lists and code.

    A comment is a sentence with what it is behind.
    """
    text = _COMMENT.sub(", ", _MARKS.sub("", line.replace("\u2019", "'")))
    ends = [found.start() for found in _SENTENCES.finditer(text)]
    parts = [(begin, text[begin:end]) for begin, end in pairwise([0, *ends, len(text)])]
    return [(begin, part.strip()) for begin, part in parts if part.strip()]
