"""Remove what an editor, a chat or a program added around the lines of a block: numbers, bars, quotes, indentation.

Each kind has the interface of the heads in `ncdiag.text.sections.heads`: ``blocks`` finds runs of lines that have it,
``removed`` removes it from them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.text.sections.line import Line, block_ends

ENOUGH = 5
"""Minimum number of lines with rising numbers that are taken for line numbers; fewer suffice if they begin with 1."""
_FROM_ONE = 3
_WITH_TABS = 2
_BARS = 3
_FEWEST = 2

_BAR = lazy_regex(r"\s{0,4}[|\u2502\u2503](?: |$)")
_ENDS = ("|", "\u2502", "\u2503")
_SIDES = lazy_regex(r"\s{0,4}[|\u2502\u2503\u2551] ?(?P<text>.*?)\s*[|\u2502\u2503\u2551]\s{0,4}$")
_NUMBER = r"(?P<number>[1-9]\d{0,6})"
_LAYOUTS = tuple(
    lazy_regex(layout, re.ASCII)
    for layout in (
        rf"(?P<mark> {{0,8}}){_NUMBER}(?:\t|$)",  # cat -n, nl
        rf"(?P<mark>) {{1,8}}{_NUMBER}(?: (?![|\u2502])|$)",  # less -N, editors: numbers are right-aligned
        rf"(?P<mark>) {{0,8}}{_NUMBER} ?[|\u2502](?: |$)",  # bat
        rf"(?P<mark>){_NUMBER}[:-]",  # grep -n
        rf"(?P<mark>){_NUMBER}: (?![\w.@-]{{1,32}}:? {{1,8}}(?:<|inet))",  # of a list, unlike those of ip -o
        rf"(?P<mark>)\[{_NUMBER}\](?: |$)",
        rf"(?P<mark>[\w./~+-]{{0,120}}[./][\w.-]{{1,60}})[:-]{_NUMBER}[:-](?!\d{{1,9}} \[)",  # grep -Hn
    )
)
_TABBED, _ALIGNED, _GREP, _NAMED = (_LAYOUTS[place] for place in (0, 1, 3, -1))
_GREP_BREAK = "--"
_ROW_ZERO = lazy_regex(r" {0,8}\[?0[]: \t]")
_PROCESS = lazy_regex(r"\s*(?:\S{1,80}\s+){0,7}[RSDTtZIX][<NLsl+]{0,5}\s")
"""A row of ps or top after the id: the state of a process is one of its first columns."""
_TITLE = lazy_regex(r" {0,20}(?P<title>[A-Za-z#%_]{1,20})(?=[ \t])")
"""The first title of a table's header."""
_OTHER = lazy_regex(r" ?\Z| \S|[0-9a-fA-F]{2}[:.]")
"""Text after a rank's label, an interface's index or part of a PCI address, instead of that after a line number."""
_QUOTED = lazy_regex(r"\s{0,8}(?:b|r|u|f)?(?P<mark>[\"'`])(?P<text>.*)(?P=mark)\s?[,;+\\]?\s{0,4}$")
_EMPTY = lazy_regex(r"\s*[\[\](){}]?\s*$")

Run = tuple[int, list[str]]
"""The end of a run of lines, and its lines without the marks; the list is empty if there is no run."""


class Marks(msgspec.Struct, frozen=True):
    """Marks that are regular along a run of lines and therefore certain; ``begins`` matches the mark of one line."""

    begins: re.Pattern[str]
    run: Callable[[Sequence[str], int], Run]

    def stripped(self, lines: list[Line]) -> list[Line]:
        """The lines without the marks; the same list if there are none."""
        texts = [line.text for line in lines]
        if not any(map(self.begins.match, texts)):
            return lines
        at, changed = 0, False
        while at < len(texts):
            if not self.begins.match(texts[at]):
                at += 1
                continue
            end, rest = self.run(texts, at)
            if rest:
                texts[at:end] = rest
                changed = True
            at = max(end, at + 1)
        if not changed:
            return lines
        return [msgspec.structs.replace(line, text=text) for line, text in zip(lines, texts, strict=True)]


def stripped(lines: list[Line]) -> list[Line]:
    """The lines without line numbers and bars on the left, in whatever order these were added."""
    before: list[Line] = []
    while before is not lines:
        before = lines
        marked = [text for text in (line.text for line in lines) if _ANY.match(text)]
        for marks in _MARKS:
            if lines is not before or any(map(marks.begins.match, marked)):
                lines = marks.stripped(lines)
    return lines


def _from(lines: Sequence[str], start: int) -> Iterator[str]:
    """The lines from ``start`` on; unlike a slice or islice, this does not copy or pass through the others."""
    return (lines[index] for index in range(start, len(lines)))


def _barred(lines: Sequence[str], start: int) -> Run:
    """Find a run of lines that begin with a bar; lines that also end with one are rows of a table."""
    rest: list[str] = []
    for line in _from(lines, start):
        bar = _BAR.match(line)
        if not bar:
            break
        rest.append(line[bar.end() :])
    rows = sum(line.rstrip().endswith(_ENDS) and not line.startswith((*_ENDS, "+")) for line in rest)
    return start + len(rest), rest if len(rest) >= _BARS and 2 * rows < len(rest) else []


def _quoted(lines: Sequence[str], start: int) -> Run:
    """Find a run of lines that begin with the ``>`` of a quoted mail, and remove it once."""
    quoted = itertools.takewhile(lambda line: line.startswith(">"), _from(lines, start))
    rest = [line[2 if line.startswith("> ") else 1 :] for line in quoted]
    return start + len(rest), rest if len(rest) >= _FEWEST else []


def _numbered(layout: re.Pattern[str]) -> Callable[[Sequence[str], int], Run]:
    def run(lines: Sequence[str], start: int) -> Run:
        first = layout.match(lines[start])
        if first is None:
            return start, []
        rest: list[str] = []
        number, counted = int(first["number"]) - 1, 0
        for line in _from(lines, start):
            found = layout.match(line)
            if found and _follows(layout, first, found, number):
                number, counted = int(found["number"]), counted + 1
                rest.append(line[found.end() :])
            elif line.strip() in {"", _GREP_BREAK} and rest:
                rest.append("")
            else:
                break
        above = lines[start - 1] if start else ""
        if _ROW_ZERO.match(above) or _is_titled(layout, above, first):
            return start + len(rest), []  # rows of a GPU matrix, labels of ranks, which count from 0, or a column
        if counted < _enough(layout, first) or (layout is _GREP and all(map(_OTHER.match, rest))):
            return start, []
        beside = [*lines[start - 1 : start], *lines[start + len(rest) :][:1]]
        if layout is _ALIGNED and _are_processes(rest, is_part=any(map(layout.match, beside))):
            return start + len(rest), []  # a column of ids of processes, of which some follow each other
        return start + len(rest), _dedented(layout, rest)

    return run


def _are_processes(rest: Sequence[str], *, is_part: bool) -> bool:
    """True if these are rows of ps behind the id; ``is_part``: lines next to them also begin with such a number.

    Behind a line number there may be an id of a process, so that the row would still begin with a number.
    """
    rows = [line for line in rest if line.strip()]
    return all(map(_PROCESS.match, rows)) and (is_part or not any(line.lstrip()[0].isdigit() for line in rows))


def _is_titled(layout: re.Pattern[str], above: str, first: re.Match[str]) -> bool:
    """True if the line above has a title over the numbers (PID, JOBID): then they are a column of a table."""
    title = _TITLE.match(above)
    if title is None or layout not in {_TABBED, _ALIGNED}:
        return False
    if layout is _TABBED and not first["mark"]:
        return above.startswith("\t", title.end())
    return title.end("title") == first.end("number") or title.start("title") == first.start("number") > 0


def _enough(layout: re.Pattern[str], first: re.Match[str]) -> int:
    if layout is _TABBED:
        return _WITH_TABS
    return _FROM_ONE if first["number"] == "1" else ENOUGH


def _follows(layout: re.Pattern[str], first: re.Match[str], found: re.Match[str], number: int) -> bool:
    """True if this is the number of the next line (after grep in a named file: of a later line), in the same layout."""
    following = int(found["number"])
    if layout is _NAMED:
        return found["mark"] == first["mark"] and following > number
    return following == number + 1 and (layout is not _ALIGNED or found.end("number") == first.end("number"))


def _dedented(layout: re.Pattern[str], rest: list[str]) -> list[str]:
    """The lines with the rest of a tab after the number removed, if it was converted to blanks."""
    more = layout is _ALIGNED and all(line.startswith(" ") for line in rest if line.strip())
    return [line[1:] for line in rest] if more else rest


class Numbers(msgspec.Struct, frozen=True):
    """Line numbers in one layout on all lines of a text; ``more``: a blank of a tab after it was converted."""

    layout: re.Pattern[str]
    more: bool = False

    def removed(self, lines: Sequence[Line]) -> list[Line]:
        """The lines without their numbers."""
        return [msgspec.structs.replace(line, text=self._without(line.text)) for line in lines]

    def _without(self, text: str) -> str:
        found = self.layout.match(text)
        rest = text[found.end() :] if found else text
        return rest[1:] if found and self.more and rest.startswith(" ") else rest


def numbers_of(texts: Sequence[str], share: int) -> Numbers | None:
    """The rising numbers of consecutive lines: ``share`` lines with one for each without it; None if there are none."""
    for layout in _LAYOUTS:
        start = next((index for index, text in enumerate(texts) if layout.match(text)), len(texts))
        end, rest = _numbered(layout)(texts, start) if start < len(texts) else (start, [])
        if rest and share * (len(texts) - (end - start)) <= end - start:
            bare = Numbers(layout)
            lines = bare.removed([Line(0, text) for text in texts[start:end]])
            return Numbers(layout, more=any(line.text != text for line, text in zip(lines, rest, strict=True)))
    return None


_MARKS = (
    Marks(lazy_regex(">"), _quoted),
    *(Marks(layout, _numbered(layout)) for layout in _LAYOUTS),
    Marks(_BAR, _barred),
)

_FORMS = "|".join(layout.pattern for layout in _LAYOUTS).replace("?P<mark>", "?:").replace("?P<number>", "?:")
_ANY = lazy_regex(rf">|{_BAR.pattern}|(?a:{_FORMS})")
"""The mark of a line of any kind."""


class Frame(msgspec.Struct, frozen=True):
    """Text on both sides of each line of a block: borders of a pane, quotation marks of a list of strings."""

    pattern: re.Pattern[str]
    doubtful: bool = False
    sure: bool = False

    def blocks(self, lines: Sequence[Line]) -> list[tuple[int, int]]:
        """(start, end) of blocks of at least two lines, between the lines that open and close the list."""
        carries = [self.pattern.match(line.text) is not None for line in lines]
        if not any(carries):
            return []
        carries = [carried or bool(_EMPTY.match(line.text)) for line, carried in zip(lines, carries, strict=True)]
        blocks = block_ends(lines, carries, 9)
        return [(start, end) for start, end in blocks if sum(carries[start:end]) >= _FEWEST]

    def removed(self, lines: Sequence[Line]) -> list[Line]:
        """The lines without the text on both sides."""
        found = [(line, self.pattern.match(line.text)) for line in lines]
        return [msgspec.structs.replace(line, text=each["text"]) if each else line for line, each in found]


class Indentation(msgspec.Struct, frozen=True):
    """The blanks that all lines of a text have in common."""

    doubtful: bool = False
    sure: bool = False

    def blocks(self, lines: Sequence[Line]) -> list[tuple[int, int]]:
        """All lines, if none begins at the left edge; indentation of only some lines is structure."""
        written = [line.text for line in lines if line.text.strip()]
        return [(0, len(lines))] if written and all(text[0] in " \t" for text in written) else []

    def removed(self, lines: Sequence[Line]) -> list[Line]:
        """The lines shifted left by the smallest indentation."""
        least = min(len(line.text) - len(line.text.lstrip()) for line in lines if line.text.strip())
        return [msgspec.structs.replace(line, text=line.text[least:]) for line in lines]


SIDES = Frame(_SIDES)
FRAMES = (SIDES, Frame(_QUOTED, doubtful=True), Indentation())
