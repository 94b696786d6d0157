"""A traceback that somebody put above or below a text: it is the log of a run, and no example of the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.line_kinds import is_item, is_sentence, is_title, kind_of

_HEAD, _FRAME, _INDENT = "Traceback (most recent call last)", 'File "', frozenset(" \t")
_EXCEPTION = lazy_regex(r"[\w.]{1,200}(?::\s|$)")
_PACKAGES = lazy_regex(r"File \"/[^\"]{1,300}/(?:site|dist)-packages/")
_FRAMES = 2
"""Minimum number of frames: an example in a page often has one."""


def at_an_edge(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and last index of a whole traceback that begins a text or ends it, with nothing written about it."""
    written = [index for index, line in enumerate(lines) if line.strip()]
    yield from _without_head(lines, written)
    heads = [index for index in written if lines[index].startswith(_HEAD)]
    if not heads:
        return
    first, last = heads[0], end_of(lines, heads[-1])
    if last is not None and not any(map(is_sentence, lines[last + 1 :])):
        above = next((lines[at] for at in range(heads[-1] - 1, -1, -1) if lines[at].strip()), "")
        if heads[-1] > 0 and not lines[heads[-1] - 1].strip() and not _introduces(above):
            yield heads[-1], written[-1]
    last = end_of(lines, first)
    if first == written[0] and last is not None:
        below = next((line for line in lines[last + 1 :] if line.strip()), "")
        if not (below[:1].isalpha() and is_sentence(below)):
            yield first, last


def _without_head(lines: Sequence[str], written: Sequence[int]) -> Iterator[tuple[int, int]]:
    """The same for a traceback whose first lines somebody cut off: the output of ``tail``, a screen."""
    if not written:
        return
    begin = written[-1]
    while begin > 0 and lines[begin - 1].strip():
        begin -= 1
    above = next((lines[at] for at in range(begin - 1, -1, -1) if lines[at].strip()), "")
    if _cut_end(lines, begin) == written[-1] and not _introduces(above):
        yield begin, written[-1]
    last = _cut_end(lines, written[0])
    if last is not None and not (last + 1 < len(lines) and lines[last + 1].strip()):
        below = next((line for line in lines[last + 1 :] if line.strip()), "")
        if not (below[:1].isalpha() and is_sentence(below)):
            yield written[0], last


def _cut_end(lines: Sequence[str], begin: int) -> int | None:
    """The end of a traceback that begins with a frame; one frame is enough if it is of an installed package."""
    if not (lines[begin][:1] in _INDENT and lines[begin].lstrip().startswith(_FRAME)):
        return None
    return end_of(lines, begin - 1, frames=1 if _PACKAGES.search(lines[begin]) else _FRAMES)


def end_of(lines: Sequence[str], first: int, frames: int = _FRAMES) -> int | None:
    """The index of the exception that ends a traceback at the margin; None unless it has so many frames."""
    last = first + 1
    while last < len(lines) and lines[last][:1] in _INDENT and lines[last].strip():
        last += 1
    found = sum(line.lstrip().startswith(_FRAME) for line in lines[first + 1 : last])
    return last if found >= frames and last < len(lines) and _EXCEPTION.match(lines[last]) else None


def _introduces(line: str) -> bool:
    """True for a title, and for a sentence behind which something has to follow."""
    line = line.rstrip()
    if line[:1] in _INDENT and kind_of(line) == "code":
        return False
    if line.endswith((":", "\uff1a", "?", "\uff1f", "...", "\u2026")) or line.lstrip().startswith("#"):
        return True
    return line[-1:].isalnum() and " " in line and (is_title(line) or is_sentence(line)) and not is_item(line)
