"""Works of reference: pages of a manual, and lists that define terms. A message in them is a term that they explain."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.stretches import end_of_paragraph
from ncdiag.formats.line_kinds import is_printed

_LONGEST = 2000
_SOURCE = lazy_regex(r"\.(?:TH|Dd|Dt) \S|=(?:head1|pod)\b")
_MACRO = lazy_regex(r"[.'](?:[A-Z][A-Za-z]{1,2}\b|\\\")|=[a-z]{2,5}\d?\b")
"""How the source of a page of a manual begins, and a line of it that formats."""
_APART = 40
"""Maximum number of lines of text between two lines that format."""
_PAGE = lazy_regex(r"(?P<name>[\w.:+-]{1,40}\(\d\w{0,4}\))\s{2,}\S.*\s{2,}(?P=name)\s*$", re.IGNORECASE)
"""The first line of a page of a manual as it is printed."""
_SECTION = lazy_regex(r"[A-Z][A-Z /-]{2,40}$")
_MESSAGE = r"(?=\S+[ \t]+\S+[ \t]+\S)"
"""Three words: a message, and no name of a field."""
_DEFINITIONS = (
    (lazy_regex(rf"{_MESSAGE}\S.{{1,400}}\w[>)]?:{{2,4}}$"), lazy_regex(r"\s{0,8}[A-Z\u3400-\u9fff][^:]{12}")),
    (lazy_regex(rf";[ \t]?{_MESSAGE}"), lazy_regex(r":[ \t]?\w")),
    (lazy_regex(rf"{_MESSAGE}\S"), lazy_regex(r":[ \t]{1,4}\S")),
    (lazy_regex(rf"(?P<mark>``|`|\"){_MESSAGE}.{{1,400}}(?P=mark):?$"), lazy_regex(r"[ \t]{2,8}[^\W\d]")),
)
"""A term and the line below it that begins to explain it: in AsciiDoc, MediaWiki, Markdown, reStructuredText."""
_IN_LINE = lazy_regex(rf"\s{{0,4}}[-+] {_MESSAGE}.{{1,400}} :: \S")
"""A term with its explanation in Org."""
_EXPLAINED = lazy_regex(
    rf"\s{{0,8}}(?P<mark>[\"`]){_MESSAGE}[^\"`]{{1,400}}(?P=mark)\s?"
    r"(?::|=|-|\u2013|\u2014|->|\u2192)\s{1,4}[^\W\d_]{2,} [^\W\d_]"
)
"""A message in quotation marks and its explanation in the same line."""
_TERMS = 2
"""Minimum number of terms of a list that is written without tags."""
_LIST = lazy_regex(r"<(?:dl|details|variablelist)\b", re.IGNORECASE)
_LIST_ENDS = lazy_regex(r"</(?:dl|details|variablelist)>", re.IGNORECASE)
_TERM = lazy_regex(r"<(?:dt|summary|term)\b[^>]{0,80}>(?P<term>.*?)(?:</(?:dt|summary|term)>|$)", re.IGNORECASE)
_VALUE = lazy_regex(r"<dd\b[^>]{0,80}>(?P<value>.*)", re.IGNORECASE)
_TAG = lazy_regex(r"<[^>]{1,200}>")
_WORDS = 3


def references(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and last index of each page of a manual, and of each term of a list with what explains it."""
    yield from _sources(lines)
    yield from _pages(lines)
    yield from _tagged(lines)
    yield from _terms(lines, _IN_LINE)
    for term, explanation in _DEFINITIONS:
        found = [
            at
            for at in range(len(lines) - 1)
            if explanation.match(lines[at + 1][:_LONGEST]) and term.match(lines[at].rstrip()[:_LONGEST])
        ]
        if len(found) >= _TERMS:
            yield from ((at, end_of_paragraph(lines, at)) for at in found)


def legends(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The lines that each explain a message which they quote; a person who has a trouble may write so, too."""
    yield from _terms(lines, _EXPLAINED)


def _terms(lines: Sequence[str], form: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    found = [at for at, line in enumerate(lines) if form.match(line[:_LONGEST])]
    if len(found) >= _TERMS:
        yield from ((at, at) for at in found)


def _sources(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pages of a manual as they are written, with the macros of roff or the commands of POD."""
    begin = last = -1
    for index, line in enumerate(lines):
        if begin >= 0 and index - last > _APART:
            yield begin, end_of_paragraph(lines, last)
            begin = -1
        if begin < 0 and _SOURCE.match(line):
            begin = last = index
        elif begin >= 0 and _MACRO.match(line):
            last = index
    if begin >= 0:
        yield begin, end_of_paragraph(lines, last)


def _pages(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pages of a manual as `man` prints them: sections with indented text, up to the line at the foot."""
    begin, end = -1, len(lines)
    for index in range(len(lines) + 1):
        line = lines[index] if index < len(lines) else "\0"
        if begin >= 0 and line.strip() and line[:1] not in {" ", "\t"} and not _SECTION.match(line):
            end = index if line.rstrip().endswith(lines[begin].rstrip().rsplit(None, 1)[-1]) else index - 1
            yield begin, end
            begin = -1
        elif begin < 0 and _PAGE.match(line[:_LONGEST]):
            begin = index


def _tagged(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Terms of several words and their explanations in HTML and DocBook.

    One word or two is the name of a field, and what a program printed is the value of one.
    """
    inside = defines = False
    for index, line in enumerate(lines):
        text = line[:_LONGEST]
        inside = inside or _LIST.search(text) is not None
        if inside and (term := _TERM.search(text)):
            defines = len(_TAG.sub(" ", term["term"]).split()) >= _WORDS
        value = _VALUE.search(text) if defines else None
        defines = defines and not (value and is_printed(_TAG.sub("", value["value"])))
        if defines:
            yield index, index
        inside = inside and _LIST_ENDS.search(text) is None
        defines = defines and inside
