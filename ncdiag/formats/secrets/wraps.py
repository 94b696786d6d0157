"""Secrets that continue on the next lines: after a backslash, a soft line break of a mailer, the end of a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.secrets.chance import in_run
from ncdiag.formats.secrets.layers import views
from ncdiag.formats.secrets.names import Promise, is_value, looks_random
from ncdiag.formats.secrets.spans import named, placed
from ncdiag.formats.secrets.tokens import Span

__all__ = ["across"]

_LINES, _LONGEST = 20, 4000
"""Maximum number of lines, and length of each, over which a value is followed."""
_NARROWEST = 32
"""Minimum width of a terminal."""
_PIECE = lazy_regex(r"[\w+/.~!#$%^&*-]+={0,2}(?!\S)")
"""What a value can go on with: a word that is not a setting."""
_WORD = lazy_regex(r"\S+")
_LAST = lazy_regex(r"[^\s\"'`]+\Z")
_MIXED = lazy_regex(r"(?=\S*\d)(?=\S*[A-Za-z])\S{10,}|(?=\S*[a-z])(?=\S*[A-Z])\S{16,}")
_DATE = lazy_regex(r"\d{2,4}[-/]\d{2}|\d+:\d+|[A-Z][a-z]{2}\Z")


def across(lines: Sequence[str], index: int) -> dict[int, list[Span]]:
    """The spans of the parts of secrets that go over the end of a line, by line; empty for most lines."""
    line = lines[index]
    if index + 1 >= len(lines) or not line or len(line) > _LONGEST:
        return {}
    is_continued = line.rstrip().endswith("\\")
    if not is_continued and (len(line) < _NARROWEST or line[-1].isspace()):
        return {}
    joined, parts = _joined(lines, index, is_continued=is_continued)
    if len(parts) == 1:
        return {}
    border = parts[1].start
    if not is_continued and not _may_fit(joined, border):
        return {}
    found: dict[int, list[Span]] = {}
    for begin, end in _spans(joined):
        if end > border and (is_continued or _fits(joined, begin, end, border)):
            for part in parts:
                a, b = max(begin, part.start), min(end, part.end)
                if a < b:
                    found.setdefault(part.line, []).append((a - part.start + part.lead, b - part.start + part.lead))
    return found


class _Part(NamedTuple):
    """A line in the text of several: its place in it, and the length of what was left out at its beginning."""

    line: int
    start: int
    end: int
    lead: int


def _joined(lines: Sequence[str], index: int, *, is_continued: bool) -> tuple[str, list[_Part]]:
    """The text of a line and those that may continue it, and its parts."""
    text = lines[index].rstrip()[:-1] if is_continued else _soft(lines[index], lines[index])
    parts = [_Part(index, 0, len(text), 0)]
    for number in range(index + 1, min(len(lines), index + _LINES)):
        line = lines[number]
        inner = line.lstrip() if is_continued else line
        if not inner.strip() or len(line) > _LONGEST or not (is_continued or _PIECE.match(line)):
            break
        goes_on = inner.rstrip().endswith("\\") if is_continued else _PIECE.fullmatch(line) is not None
        piece = (inner.rstrip()[:-1] if goes_on else inner) if is_continued else _soft(inner, text + inner)
        parts.append(_Part(number, len(text), len(text) + len(piece), len(line) - len(inner)))
        text += piece
        if not goes_on and len(piece) == len(inner):
            break
    return text, parts


def _soft(line: str, text: str) -> str:
    """The line without the mark at its end with which mailers break lines of ``text``."""
    return line[:-1] if line.endswith("=") and "=3D" in text else line


def _spans(text: str) -> Iterator[Span]:
    yield from _of(text)
    for view in views(text):
        yield from map(view.span, _of(view.text))


def _of(text: str) -> Iterator[Span]:
    yield from named(text)
    yield from placed(text)
    last = _LAST.search(text)
    if last:
        yield from ((last.start() + begin, last.start() + end) for begin, end in in_run(last[0]))


def _may_fit(text: str, border: int) -> bool:
    """True if a value that ends after the border may fit: what follows is one word, or begins as a random one.

    This is what `_fits` asks of any value, and rules out most lines before values are searched.
    """
    word = _WORD.match(text, border)
    return word is not None and (word.end() >= len(text.rstrip()) or _MIXED.match(word[0]) is not None)


def _fits(text: str, begin: int, end: int, border: int) -> bool:
    """True if a value goes on after the width of a terminal: the next line has nothing else, or goes on as random."""
    value, rest = text[begin:end], text[max(begin, border) : end]
    piece = _PIECE.match(text, border)
    if piece is None or rest.split() != [rest] or not (looks_random(value) or is_value(value, Promise.LIKELY)):
        return False
    if end >= len(text.rstrip()):
        return any(map(str.isdigit, rest)) or not rest.isalpha() or _MIXED.match(rest) is not None
    return _MIXED.match(rest) is not None and _DATE.match(rest) is None
