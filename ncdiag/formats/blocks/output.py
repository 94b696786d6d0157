"""The output of a program in a text: lines of a log, or lines that differ in numbers alone, one below the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.line_kinds import is_item, is_sentence, is_title, kind_of

_DIGITS = lazy_regex(r"\d+")
_FEW = 3
"""Minimum number of such lines, one below the other."""
_REACH = 12
"""Maximum number of lines between a message and the output that it belongs to: a traceback, a block of a launcher."""
_MARKUP = lazy_regex(r"\s*</?[A-Za-z][\w:-]{0,40}(?:\s[^<>]{0,200})?/?>")
_LONGEST = 400
_TRACEBACK, _FRAME, _INDENT = "Traceback (most recent call last)", 'File "', frozenset(" \t")
_EXCEPTION = lazy_regex(r"[\w.]{1,200}(?::\s|$)")


def printed_runs(lines: Sequence[str]) -> set[int]:
    """The indexes of the lines in runs of at least three; empty lines between them do not end a run."""
    found: set[int] = set()
    run: list[int] = []
    before = ""
    for index, line in enumerate(lines):
        if not line.strip():
            continue
        if line.startswith(_TRACEBACK):
            found.update(_traceback(lines, index))
        form = "log" if kind_of(line) == "log" else _DIGITS.sub("0", line[:_LONGEST])
        if form != before or not (form == "log" or any(map(str.isdigit, line[:_LONGEST]))):
            run = []
        run.append(index)
        before = form
        if len(run) >= _FEW:
            found.update(run)
    return found


def _traceback(lines: Sequence[str], first: int) -> Iterator[int]:
    """The indexes of a traceback that begins at the margin, if it has several frames and ends in an exception."""
    last = first + 1
    while last < len(lines) and lines[last][:1] in _INDENT and lines[last].strip():
        last += 1
    frames = sum(line.lstrip().startswith(_FRAME) for line in lines[first:last])
    if frames > 1 and last < len(lines) and _EXCEPTION.match(lines[last]):
        yield from range(first, last + 1)


def beside(lines: Sequence[str], printed: AbstractSet[int]) -> set[int]:
    """The indexes of the lines in such runs, and near one with nothing between that a person wrote."""
    found = set(printed)
    for indexes in (range(len(lines)), range(len(lines) - 1, -1, -1)):
        left = 0
        for index in indexes:
            if index in printed:
                left = _REACH
            elif left:
                found.add(index)
                if lines[index].strip():
                    left = 0 if _is_written(lines[index]) else left - 1
    return found


def _is_written(line: str) -> bool:
    return is_sentence(line) or is_item(line) or is_title(line) or _MARKUP.match(line) is not None
