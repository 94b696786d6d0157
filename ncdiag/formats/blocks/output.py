"""The output of a program in a text: lines of a log, or lines that differ in numbers alone, one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.tracebacks import end_of
from ncdiag.formats.line_kinds import is_item, is_sentence, is_title, kind_of

_DIGITS = lazy_regex(r"\d+")
_FEW = 3
"""Minimum number of such lines, one below the other."""
_REACH = 12
"""Maximum number of lines between a message and the output that it belongs to: a traceback, a block of a launcher."""
_MARKUP = lazy_regex(r"\s*</?[A-Za-z][\w:-]{0,40}(?:\s[^<>]{0,200})?/?>")
_LONGEST = 400
_TRACEBACK = "Traceback (most recent call last)"


def printed_runs(lines: Sequence[str]) -> set[int]:
    """The indexes of the lines in runs of at least three; empty lines between them do not end a run."""
    found: set[int] = set()
    run: list[int] = []
    before = ""
    for index, line in enumerate(lines):
        if not line.strip():
            continue
        if line.startswith(_TRACEBACK) and (last := end_of(lines, index)) is not None:
            found.update(range(index, last + 1))
        form = "log" if kind_of(line) == "log" else _DIGITS.sub("0", line[:_LONGEST])
        if form != before or not (form == "log" or any(map(str.isdigit, line[:_LONGEST]))):
            run = []
        run.append(index)
        before = form
        if len(run) >= _FEW:
            found.update(run)
    return found


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
