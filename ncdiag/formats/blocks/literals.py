"""Messages inside quotation marks: strings of a program or of its configuration, and items of a list that name them.

A program that prints a message does not quote it, except in the fields of structured logs (``msg="..."``, JSON).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.over import is_open
from ncdiag.formats.blocks.own_trouble import is_personal
from ncdiag.formats.line_kinds import is_item, is_printed, printed_by

_LONGEST = 2000
_MARKS = "\"'`\u201c\u300c\u00ab"
_SAID = r"(?=[^{0}\s]{{1,60}}\s[^{0}\s]{{1,60}}\s)[^{0}]{{8,400}}"
"""Three words at least: what a program says, and no name or value."""
_QUOTATION = lazy_regex(
    "|".join([
        "\u00ab[^\u00bb]{4,400}\u00bb", rf"\"{_SAID.format(chr(34))}\"", rf"`{_SAID.format('`')}`",
        rf"(?<!\w)'{_SAID.format(chr(39))}'(?!\w)",
        "\u201c[^\u201d]{4,400}\u201d", "\u300c[^\u300d]{4,400}\u300d",
    ])
)  # fmt: skip
_LITERAL = lazy_regex(
    r"(?:\(|:?=[ \t])[ \t]?&?[\"'`]|(?:\b(?:i?contains|matches|startswith|endswith|regexp?|grep(?: -\w+)*)|[=!]="
    r"|[=!]~|\|=)[ \t]?\*?[\"'`/]"
    r"|^\s*(?:- )?[\w.-]{1,40}:[ \t]*[\"'`][^\"'`]{8,400}[\"'`],?\s*$"
)
"""A string after a bracket, an assignment or a comparison, or the only value of a key of YAML.

Not after a comma or in square brackets: rows of CSV and printed lists have such strings as well.
"""
_LABELS = lazy_regex(
    r"^\s*(?:- )?[^\W\d_][\w .-]{0,40}(?::[ \t]*|[ \t]{2,})"
    r"[\"'`\u201c\u00ab][^\"'`\u201d\u00bb]{8,400}[\"'`\u201d\u00bb],?\s*$"
)
"""A label in words whose value is a string."""
_RECORD = lazy_regex(
    r"\s*\"|.*\{[\"']|.*\b\w{1,30}=[\"'`]"
    r"|\s*(?:- )?(?:message|reason|error|err|details?|last\w*|stderr|stdout|log):",
)
"""A record of a structured log, or a field in which a program keeps what another one said."""
_FAILS = lazy_regex(
    r"(?i:error|exception|\bfail|fatal|\bwarn(?!\()|cannot|could\snot|unable|denied|refused|abort|killed|timed\sout|\bgot\b|\bgetting\b)"
)
_LABELLED = lazy_regex(r":\s*$")
"""An item that gives a message as the value of a label: ``- last line: `...` ``."""
_EXPLAINED = lazy_regex(
    r"[\w.)\]'\"] ?(?:\u8868\u660e|\u8bf4\u660e|\u610f\u5473\u7740|\u8868\u793a)(?=[^\s.]{0,12}[\u3400-\u9fff])"
)
"""Chinese words (it shows, it means) behind a message of a program, which is not in Chinese."""
_HEADING = lazy_regex(r"(?:#{1,6}\s|\d{1,2}(?:\.\d{1,2}){0,3}[.\u3001]?\s?)?[^\n]{0,40}[\w)\uff09]")
"""A line of a few words that ends without a stop."""
Quoting = tuple[int, str, str]
"""The index of a line that quotes a message, its text, and that without it."""
_ITEMS = 2
"""Number of items from which on a text has a list."""


def literals(quoting: Sequence[Quoting]) -> Iterator[int]:
    """The lines with a message in a string of a program or of its configuration."""
    yield from (index for index, text, _ in quoting if _LITERAL.search(text))


def items(lines: Sequence[str], quoting: Sequence[Quoting], other: Sequence[bool]) -> Iterator[int]:
    """The items of a list that name a message in quotation marks and say more about it, without ``other`` blocks."""
    if sum(map(is_item, lines)) >= _ITEMS:
        yield from (index for index, text, bare in quoting if is_item(text) and not _LABELLED.search(bare))
        alone = [index for index, line in enumerate(lines) if not other[index] and _is_only_quoted(line[:_LONGEST])]
        yield from alone if len(alone) >= _ITEMS else ()


def labels(quoting: Sequence[Quoting]) -> Iterator[int]:
    """The lines with a label whose value is a quoted message."""
    yield from (index for index, text, _ in quoting if _LABELS.search(text))


def _is_only_quoted(line: str) -> bool:
    """True for an item of a list that is a message in quotation marks."""
    return is_item(line) and _QUOTATION.search(line) is not None and not any(map(str.isalpha, _QUOTATION.sub("", line)))


def explained(lines: Sequence[str]) -> Iterator[int]:
    """The lines that begin with a message and go on in Chinese about what it means, below a heading of a text.

    Not where the line goes on about its writer: who pastes a message may say what it shows, too.
    """
    if all(map(str.isascii, lines)):
        return
    headed = False
    for index, line in enumerate(lines):
        found = _EXPLAINED.search(line[:_LONGEST])
        message = line[: found.start() + 1] if found else ""
        if headed and found and message.isascii() and _FAILS.search(message):
            meaning = line[found.end() :]
            if not (is_open(meaning) or is_personal(meaning)):
                yield index
        headed = headed or _HEADING.fullmatch(line.strip()) is not None


def quoting(lines: Sequence[str], other: Sequence[bool]) -> Iterator[Quoting]:
    """The lines that quote a message, without ``other`` blocks.

    Not where the rest of the line says that something failed, since then a person or a program reports it.
    """
    for index, line in enumerate(lines):
        text = line[:_LONGEST]
        if other[index] or not any(map(text.__contains__, _MARKS)) or _is_printed(text):
            continue
        bare = _QUOTATION.sub(" ", text)
        if bare != text and any(map(str.isalpha, bare)) and not _FAILS.search(bare):
            yield index, text, bare


def _is_printed(text: str) -> bool:
    return is_printed(text) or printed_by(text) is not None or _RECORD.match(text) is not None
