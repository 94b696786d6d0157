"""Blocks in which a text shows an output or a program, by the marks of its markup, such as a fence of Markdown."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex

_FENCE, _RULE = lazy_regex(r"\s*(?:```|~~~)"), lazy_regex(r"-{4,}\s*$|\.{4,}\s*$")
_FENCE_ENDS = lazy_regex(r"\s*(?:```|~~~)|(?:(?!```).)*[^`]```\s*$")
"""A fence, and one at the end of the last line of its block."""
_PAIRS = (
    (_FENCE, _FENCE_ENDS),
    (
        lazy_regex(r"\s*\\begin\{(?:lstlisting|[vV]erbatim\*?|minted|alltt|Shaded|tabular[x*]?)\}"),
        lazy_regex(r".*\\end\{(?:lstlisting|[vV]erbatim\*?|minted|alltt|Shaded|tabular[x*]?)\}"),
    ),
    (lazy_regex(r"\s*<(?P<tag>pre|code|samp|screen|programlisting|syntaxhighlight)\b[^>]{0,80}>"),
     lazy_regex(r".*</(?:pre|code|samp|screen|programlisting|syntaxhighlight)>")),
    (lazy_regex(r"\s*\{(?:code|noformat)(?::[^}]{0,60})?\}"), lazy_regex(r".*\{(?:code|noformat)\}\s*$")),
    (lazy_regex(r"\s*\[code(?:=\w{1,20})?\]"), lazy_regex(r".*\[/code\]")),
    (lazy_regex(r"#\+begin_(?:src|example)", re.IGNORECASE), lazy_regex(r"#\+end_(?:src|example)", re.IGNORECASE)),
    (_RULE, _RULE),
)  # fmt: skip
"""How such a block begins and ends: Markdown, LaTeX, HTML and DocBook, Jira, forums, Org, AsciiDoc."""
_ASCIIDOC = lazy_regex(r"\[(?:source|listing|literal)\b.{0,60}\]\s*$")
"""The line above a block of AsciiDoc, whose rule alone may be anything."""
_LONGEST = 400
"""Maximum number of lines of a block whose marks at its begin and end differ: texts lack the latter."""
_ANY = lazy_regex(r"(?m)^[ \t]*(?:```|~~~|\\begin\{|<|\{code|\{noformat|\[code|#\+|-{4}|\.{4})")
"""A line that may begin one of them; most texts have none."""
_MARKS = ("```", "~~~", "\\begin{", "<", "{code", "{noformat", "[code", "#+", "----", "....")


def fenced(lines: Sequence[str]) -> list[tuple[int, int]]:
    """The indexes of the lines that begin and end each block, in the order of the text."""
    return list(_fenced(tuple(lines)))


@functools.lru_cache(maxsize=2)
def _fenced(lines: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """The same; the answer is kept, as several kinds of blocks ask for it."""
    found: list[tuple[int, int]] = []
    index = 0 if _ANY.search("\n".join(lines)) else len(lines)
    while index < len(lines):
        last = _end(lines, index) if lines[index].lstrip().startswith(_MARKS) else None
        if last is not None:
            found.append((index, last))
            index = last
        index += 1
    return tuple(found)


def _end(lines: Sequence[str], index: int) -> int | None:
    """The index of the last line of the block that begins at an index; None without one, or without its end."""
    for begin, end in _PAIRS:
        found = begin.match(lines[index])
        if found is None:
            continue
        if begin is _RULE and not (index and _ASCIIDOC.match(lines[index - 1])):
            continue
        if begin is not end and end.match(lines[index][found.end() :]):
            return index
        last = len(lines) if begin in {_FENCE, _RULE} else min(len(lines), index + _LONGEST)
        return next((at for at in range(index + 1, last) if end.match(lines[at])), None)
    return None
