"""Histories of a program or a system: messages of commits, changelogs, lists of closed tickets."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.over import ENDED
from ncdiag.formats.blocks.own_trouble import is_own
from ncdiag.formats.blocks.stretches import stretches
from ncdiag.formats.line_kinds import is_item, is_title
from ncdiag.language.speech import roles_in_any

_LONGEST = 2000

_COMMIT = lazy_regex(r"commit [0-9a-f]{7,40}\b")
_PATCH = lazy_regex(r"From [0-9a-f]{7,64} \w{3} \w{3} |(?:From|Date|Subject|Message-I[Dd]): \S")
"""How a patch in a mail begins, with git's line for mailboxes or without it."""
_CHANGED = lazy_regex(r" \d{1,5} files? changed|diff --git \S")
_CLAUSES = lazy_regex(r"(?<=[.,;:!?])\s+")
_SUMMARY = 60
"""Maximum number of lines of the list of changed files, or of remarks before it."""
_OF_COMMIT = lazy_regex(
    r"(?:Author|AuthorDate|Commit|CommitDate|Date|Merge|Refs|Reviewed-by|Signed-off-by):\s| {4}|\t|\s*$"
)
_ONE_LINE = lazy_regex(
    r"(?:\* )?(?=[0-9a-f]{0,11}\d)(?=[0-9a-f]{0,11}[a-f])[0-9a-f]{7,12} (?:\([^)]*\) )?[A-Z\"]\w*"
    r"|(?:\* )?[0-9a-f]{7,12} [A-Z][a-z]+ "
)
_ONE_LINES, _TICKETS, _PATCH_LINES = 3, 2, 400
"""Minimum numbers of commits and tickets one a line; maximum number of lines of the message of a patch."""
_VERSION = lazy_regex(
    r"(?:[#=]{1,4} )?(?:(?:version|release|v) ?)?\[?v?\d+\.\d+[\w.-]*\]?(?:\s*(?:$|[-(\u2013:]\s?\(?(?:\d{4}\b"
    r"|\d{1,2}[ ./]|unreleased).*))"
    r"|[#=]{1,4} \[?(?:unreleased|next)\]?\s*$|(?:subject: )?.{0,40}\b(?:version"
    r"|release) v?\d+\.\d+[\w.-]*\.? (?:is|changes|released|has)\b.*"
    r"|[a-z][\w.+-]+ \(\d[\w.:~+-]*\) [\w-]+; urgency="
    r"|(?:[#=]{1,4} )?(?:[\w+-]+ ){0,3}v?\d+\.\d[\w.-]* release notes\W*$"
    r"|(?:[#=]{1,4} )?\S{0,30}\s?v?\d+\.\d[\w.-]*\s?(?:\u53d1\u5e03\u8bf4\u660e|\u7248\u672c\u8bf4\u660e"
    r"|\u66f4\u65b0\u65e5\u5fd7)\W*$"
    r"|(?:[#=]{1,4} )?(?:release notes|versionshinweise|\u53d1\u5e03\u8bf4\u660e|\u7248\u672c\u8bf4\u660e).{0,40}"
    r"\bv?\d+\.\d[\w.-]*\W*$",
    re.IGNORECASE,
)
_RELEASE = lazy_regex(
    r".*\b(?:release notes|versionshinweise)\b|.*; urgency=|.*(?:\u53d1\u5e03|\u7248\u672c)\u8bf4\u660e", re.IGNORECASE
)
"""A heading of a version that needs no other, nor headings of changes below it."""
_CHANGES = lazy_regex(
    r"(?:\W|\d{1,2}[.)] )*(?:.{0,60}\bchanges (?:since|in) .{1,20}|change ?log|release notes|what'?s new"
    r"|(?:bug )?fixe?[sd]?|bugs fixed|(?:resolved|fixed|known|open) (?:issues|problems|bugs|limitations)"
    r"|(?:behobene|bekannte) (?:fehler|probleme)|\u5df2?(?:\u4fee\u590d|\u77e5)(?:\u7684)?\u95ee\u9898"
    r"|\u95ee\u9898\u4fee\u590d|\u65b0(?:\u7279\u6027|\u529f\u80fd)"
    r"|added|changed|removed|deprecated|security|improvements|news?|features)\W*(?:\(\d{1,4} \w+\))?\W*$",
    re.IGNORECASE,
)
_ISSUES = lazy_regex(
    r"(?:\W|\d{1,2}(?:\.\d{1,2}){0,2}[.)]? )*(?:resolved|fixed|known|corrected|closed) "
    r"(?:issues|problems|bugs|defects|limitations)\W*$",
    re.IGNORECASE,
)
_ISSUE = lazy_regex(r"\s{0,12}(?:\d{5,9}|[A-Z]{2,8}-\d{1,7}|[A-Z]{2,8}\d{4,9})\s{2,40}\S")
"""A heading of the notes of a vendor, and a row below it with the number of an issue."""
_NOTED = lazy_regex(rf"{_ISSUE.pattern}|[A-Z][A-Za-z ]{{1,20}}\s{{2,40}}[A-Z][a-z]+")
"""Such a row, or the heading of its columns."""
_MENDS = lazy_regex(
    r"\W{1,8}(?:fix(?:e[sd])?|resolve[sd]?|behebt|behoben)\s(?!by\b|it\b|with\b)|\W{1,8}\u4fee\u590d(?!\u540e)",
    re.IGNORECASE,
)
_UNDERLINE = lazy_regex(r"\s*([=~^*-])\1{2,}\s*$")
_NUMBERED = lazy_regex(r"\s{0,8}(?:[A-Z]{2,6}-\d{1,6}|\[\d{3,9}\])(?:\s|::)")
"""An item that begins with the number of a ticket."""
_SIGNED = lazy_regex(r" -- .*<\S+@\S+>")
_TICKET = lazy_regex(
    r"\W*(?:[A-Z]{2,10}-\d+|#\d+|(?:[Tt]icket|[Cc]ase|[Ii]ncident) ?#?\d+)\b.*\b(?i:closed|resolved|solved"
    r"|done|fixed)\b"
)


_NUMBER_CELL = lazy_regex(r"\W{0,3}(?:[A-Z]{2,10}-\d+|#?\d{2,9})['\"]?\s*[|,;\t]")
_CELLS = lazy_regex(r"[|;\t]|(?<=['\"]),(?=['\"])|,(?=\S)")
_CLOSED = lazy_regex(rf"{ENDED}|done", re.IGNORECASE)
_WORDY = lazy_regex(r"[^\W\d_]{2}")
_SHORT = 24
"""The first cell of a row, with the number of a ticket; what is between cells; the state, and its longest text."""


def commits(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Messages of commits: ``git log``, one of them a line, and patches sent by mail."""
    index = 0
    while index < len(lines):
        line = lines[index]
        end = index
        if _COMMIT.match(line) and any(each.startswith(("Author:", "Merge:")) for each in lines[index + 1 : index + 4]):
            end = _while(lines, index + 1, lambda each: _OF_COMMIT.match(each) or _COMMIT.match(each))
        elif _PATCH.match(line):
            end = _end_of_message(lines, index)
        elif _ONE_LINE.match(line):
            end = _while(lines, index + 1, _ONE_LINE.match)
            if end - index + 1 < _ONE_LINES:
                end = index
        if end > index:
            yield index, end
        index = end + 1


def _end_of_message(lines: Sequence[str], index: int) -> int:
    """The line below the message of a patch, before the list of the changed files; ``index`` if there is none.

    The message of somebody for whom it fails now is a report.
    """
    end = next((at for at in range(index, min(len(lines), index + _PATCH_LINES)) if lines[at].rstrip() == "---"), index)
    if not any(map(_CHANGED.match, lines[end + 1 : end + _SUMMARY])):
        return index
    clauses = _CLAUSES.split(" ".join(line.strip() for line in lines[index:end]))
    return index if any(map(is_own, clauses)) else end


def _while(lines: Sequence[str], index: int, belongs: Callable[[str], object]) -> int:
    """The index of the last line with text that belongs to a block, whose first line is before the index."""
    last = index - 1
    while index < len(lines) and belongs(lines[index]):
        if lines[index].strip():
            last = index
        index += 1
    return last


def changelogs(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Changes by release: headings that are versions, with lists below."""

    def belongs(line: str) -> bool:
        return (
            not line.strip()
            or any(form.match(line) for form in (_VERSION, _CHANGES, _UNDERLINE, _SIGNED))
            or _is_change(line) or line[:1] in {" ", "\t"} or line.startswith(("#", "= ", "== ", "=== "))
            or is_title(line)
        )  # fmt: skip

    yield from _issues(lines)
    released = [_VERSION.match(line) is not None for line in lines]
    index = 0 if any(released) else len(lines)
    while index < len(lines):
        end = index
        if released[index] or _CHANGES.match(lines[index]):
            end = _while(lines, index, belongs)
            block = lines[index : end + 1]
            versions, items = sum(released[index : end + 1]), sum(map(_is_change, block))
            if versions and items > 1 and (versions > 1 or _RELEASE.match(block[0]) or any(map(_says_change, block))):
                yield index, end
        index = max(end, index) + 1


def _issues(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The issues of a release in rows with their numbers, whatever the page says of the version."""
    heads = [index for index, line in enumerate(lines) if _ISSUES.match(line[:_LONGEST])]
    for head, end in itertools.pairwise([*heads, len(lines)]):
        last = _while(lines, head + 1, lambda each: not each.strip() or each[:1] in {" ", "\t"} or _NOTED.match(each))
        last = min(last, end - 1)
        if sum(_ISSUE.match(line) is not None for line in lines[head + 1 : last + 1]) > 1 or (
            head != heads[0] and any(map(_ISSUE.match, lines[head + 1 : last + 1]))
        ):
            yield head, last


def _is_closed(line: str) -> bool:
    """True for a row of a table of tickets, one of whose cells says in any language that it is closed."""
    cells = {cell.strip().strip("'\"") for cell in _CELLS.split(line) if _WORDY.search(cell)}
    return any(_CLOSED.fullmatch(cell) or "done" in roles_in_any(cell) for cell in cells if len(cell) <= _SHORT)


def _says_change(line: str) -> bool:
    """True for a heading of changes, and for an item that says what was mended."""
    return _CHANGES.match(line) is not None or (_is_change(line) and _MENDS.match(line) is not None)


def _is_change(line: str) -> bool:
    return is_item(line) or _NUMBERED.match(line) is not None


def tickets(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Lists of tickets that are closed, one a line."""
    rows = [index for index, line in enumerate(lines) if _NUMBER_CELL.match(line)]
    closed = [index for index, line in enumerate(lines) if _TICKET.match(line[:_LONGEST])]
    closed = sorted({*closed, *(index for index in rows if _is_closed(lines[index][:_LONGEST]))})
    if len(closed) >= _TICKETS:
        yield from stretches(closed)
