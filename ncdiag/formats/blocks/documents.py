"""Documents: headings, lists, instructions and conditions, with examples between them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.examples import fenced
from ncdiag.formats.blocks.stretches import stretches
from ncdiag.formats.guarded import guarded_regex
from ncdiag.formats.line_kinds import is_item, is_printed, is_sentence, is_title, kind_of, without_quotations
from ncdiag.language.speech import roles

_LONGEST = 2000
_INSTRUCTS = guarded_regex(
    r"(?:^|(?<=[.:;,)] )|(?<=[.:](?:\*\*|__) ))(?:\W{0,4}|\s*(?:[-*+\u2022]|\d{1,2}[.)])\s+)(?:please\s)?(?:set|run"
    r"|use|check|add"
    r"|start|restart|open|look|make|install|see|try"
    r"|enable|disable|increase|raise|lower|list|drain|replace|do\snot|don't|never|compare|choose|find|read"
    r"|write|keep|note|call|copy"
    r"|create|edit|export|load|mount|remove|reboot|ask|contact|wait|verify|ensure|consult|configure|follow"
    r"|select|put|give|pass"
    r"|save|paste|say|tell|work|reseat|reset|update|upgrade|describe|print|name(?!\sor\sservice)|leave|begin|define|cite"
    r"|prefer|commit|explain|discuss|download)\s(?=\S)"
    r"|\b(?:if|when|whenever|unless|once)\s(?:you|it|this|that|the|a|an|there|nothing|no|`)\b|\byou\s(?:will"
    r"|can|may|must|should|need|see|get|want)\b"
    r"|\b(?:means|tells|says|shows|prints)\sthat\b|\b(?:in\sthis\s(?:tutorial|guide|lesson|section|chapter))\b"
    r"|\b(?:shall|must)\s(?:not\s)?[a-z]+\b|\bis\s(?:fatal|harmless)\sif\b|\blines?\ssuch\sas\b|^\W*example\b"
    r"|\b(?:falls|sobald|bedeutet|zust\u00e4ndig)\b|\bdiese[ms]\s(?:kapitel|abschnitt)\b|\bvorgehen:"
    r"|\b(?:muss|m\u00fcssen|sollten?|d\u00fcrfen|darf|k\u00f6nnen|kann)\s(?!.{0,60}\bnicht\b).{1,60}\swerden\b"
    r"|\b(?:ist|sind)\s(?!hier\b).{1,50}\szu\s\w+en\b"
    r"|\b\d+\spoints\b|\b(?:typical|usual"
    r"|possible|common)\s(?:reasons|causes)\b|\blooks?\slike\sthis\b|\bexit\sstatus\b"
    r"|\u5982\u679c|\u9700\u8981|\u8bf7\u5148|\u53ef\u4ee5|\u6267\u884c|\u8bbe\u7f6e|\u8fd0\u884c|\u6ce8\u610f|\u901a\u5e38|\u5e38\u89c1|\u5f80\u5f80|\u4e0b\u9762|\u603b\u7ed3|\u6709\u65f6|\u89e3\u51b3\u65b9\u5f0f",
    re.IGNORECASE,
)
_UNDERLINE = lazy_regex(r"^\s*([=~^\"*-])\1{3,}\s*$")
_MARKDOWN = lazy_regex(r"\|?(?:\s?:?-{3,}:?\s?\|)+")
_HEADED = lazy_regex(r"\s{0,3}(?:#{1,6}\s\S|//\s|/\*|={3,}\s*$)")
"""A heading in Markdown or reStructuredText, or a comment."""
_TYPESET = lazy_regex(r"\s*(?:\\(?:sub){0,2}section\{|<h[1-6]\b)")
"""A heading in LaTeX or HTML."""
_ARTICLE = lazy_regex(r"(?m)^[ \t]*\\(?:sub){0,2}section\{")
"""A heading of LaTeX: people publish in it, and ask for help in other forms."""
_HEADINGS = 2
_NOTHING = (0, 0, 0, 0)
_INSTRUCTING = frozenset({"prose", "code", "command"})
"""Kinds of lines whose instructions count."""
_LIST, _ROWS, _BARS = 2, 2, 2
"""Minimum number of items of a list; of rows of a table, and of bars in each."""
_PRINTED = lazy_regex(r"[\w.@-]{1,60}\[\d+\]: ")
_INDENT = frozenset(" \t-*+>#`\"'")
_WRITTEN, _INSTRUCTIVE = 2, 4
"""Number of headings, sentences and items above which a document is one; of instructions that suffice alone."""
_EXAMPLES, _SHORT = 3, 3
"""Maximum number of other paragraphs between two of a document, and of the lines of one outside a fence."""


def is_written_for_others(lines: Sequence[str]) -> bool:
    """True if the text has two headings or comments, or an instruction: a person in need writes to the point."""
    headed = sum(_HEADED.match(line) is not None for line in lines)
    return headed >= _HEADINGS or any(map(_TYPESET.match, lines)) or _instructs(tuple(lines))


@functools.lru_cache(maxsize=1)
def _instructs(lines: tuple[str, ...]) -> bool:
    """True if a line instructs; the answer is kept, as it is asked for twice for each text."""
    return any(map(is_instruction, lines))


def is_instruction(line: str) -> bool:
    """True if the line says to its reader what to do, or what may happen."""
    if _INSTRUCTS.search(without_quotations(line)):
        return True
    return kind_of(line) == "prose" and "instructs" in roles(line)


class _Paragraph:
    """Consecutive lines; ``sort``: what most of them are."""

    def __init__(self, first: int, last: int, sort: str, weight: tuple[int, int, int, int]) -> None:
        self.first, self.last, self.sort = first, last, sort
        self.titles, self.instructions, self.sentences, self.items = weight


def documents(lines: Sequence[str], other: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """The documents in a text, without the lines that are ``other`` blocks: first and last line of each."""
    if len(_ARTICLE.findall("\n".join(lines))) >= _HEADINGS:
        yield from stretches(index for index, line in enumerate(lines) if line.strip() and not other[index])
        return
    if not _instructs(tuple(lines)):
        return  # each other document instructs
    held: list[_Paragraph] = []
    gap = 0
    for paragraph in [*_paragraphs(lines, other), None]:
        if paragraph is not None and paragraph.sort == "written":
            held.append(paragraph)
            gap = 0
        elif paragraph is not None and held and paragraph.sort == "example":
            held.append(paragraph)
        elif (
            paragraph is not None
            and paragraph.sort == "other"
            and held
            and gap < _EXAMPLES
            and paragraph.last - paragraph.first < _SHORT
        ):
            held.append(paragraph)
            gap += 1
        else:
            for each in _document(held):
                yield from _told(lines, each)
            held, gap = [], 0


def _told(lines: Sequence[str], paragraph: _Paragraph) -> Iterator[tuple[int, int]]:
    """An example as a whole; of other paragraphs what somebody wrote, but no line that a program may have printed."""
    if paragraph.sort == "example":
        yield paragraph.first, paragraph.last
        return
    for index in range(paragraph.first, paragraph.last + 1):
        line = lines[index][:_LONGEST]
        bare = without_quotations(line)
        goes_on = index > paragraph.first and line[:1].islower()
        if bare != line or line[:1] in _INDENT or goes_on or _is_written(bare):
            yield index, index


def _is_written(line: str) -> bool:
    """True if a person wrote the line: a sentence, an item, a heading, an instruction."""
    return is_sentence(line) or is_item(line) or is_title(line) or any(f.search(line) for f in (_INSTRUCTS, _UNDERLINE))


def _document(held: list[_Paragraph]) -> Iterator[_Paragraph]:
    """The paragraphs, without others at the end, if they have a structure, and instruct or say what may happen."""
    while held and held[-1].sort == "other":
        held.pop()
    titles, instructions = sum(each.titles for each in held[:-1]), sum(each.instructions for each in held)
    sentences, items = sum(each.sentences for each in held), sum(each.items for each in held)
    is_structured = titles or items >= _LIST or any(each.sort == "example" for each in held)
    if not is_structured and instructions < _INSTRUCTIVE:
        return
    instructs = instructions > 1 or (instructions and titles > 1 and sentences > 1)
    if instructs and (titles + sentences + items > _WRITTEN or instructions >= _INSTRUCTIVE):
        yield from held


def _paragraphs(lines: Sequence[str], other: Sequence[bool]) -> Iterator[_Paragraph]:
    index = 0
    examples = dict(fenced(lines))
    while index < len(lines):
        if not lines[index].strip() or other[index]:
            index += 1
            continue
        end = index
        if index in examples:
            end = examples[index]
            yield _Paragraph(index, end, "example", _NOTHING)
        else:
            while end + 1 < len(lines) and lines[end + 1].strip() and not other[end + 1] and end + 1 not in examples:
                end += 1
            yield _judged(lines, index, end)
        index = end + 1


def _judged(lines: Sequence[str], first: int, last: int) -> _Paragraph:
    block = [without_quotations(line) for line in lines[first : last + 1]]
    indented = all(line[:1] in {" ", "\t"} and not is_item(line) for line in block)
    if (indented and 2 * sum(map(is_sentence, block)) < len(block)) or _is_table(block):
        return _Paragraph(first, last, "example", _NOTHING)
    kinds = list(map(kind_of, block))
    sentence, item, title = list(map(is_sentence, block)), list(map(is_item, block)), list(map(is_title, block))
    line_below = [_UNDERLINE.match(line) is not None for line in block]
    found = [len(_INSTRUCTS.findall(line)) + ("instructs" in roles(line)) for line in block]
    titles = sum(each and (line.startswith("#") or line.isupper()) for line, each in zip(block, title, strict=True))
    titles += any(line_below) or (len(block) == 1 and title[0])
    sentences, items = sum(sentence), sum(item)
    instructions = sum(number for kind, number in zip(kinds, found, strict=True) if kind in _INSTRUCTING)
    written = sum(map(any, zip(sentence, item, title, line_below, found, strict=True)))
    instructs = instructions if sentences or items or titles else 0
    sort = "written" if 2 * written >= len(block) else "other"
    if any(is_printed(line) or _PRINTED.match(line) for line in block if line[:1] not in _INDENT):
        introduced = any(line.rstrip().endswith((":", "::", "\uff1a")) for line in _above(lines, first))
        sort = "example" if introduced and sort == "other" and last - first < _SHORT else "printed"
    return _Paragraph(first, last, sort, (int(titles), instructs, sentences, items))


def _above(lines: Sequence[str], index: int) -> Sequence[str]:
    """The line with text above an index, if any."""
    while index > 0 and not lines[index - 1].strip():
        index -= 1
    return lines[max(0, index - 1) : index]


def _is_table(block: Sequence[str]) -> bool:
    """True if people wrote the lines as a table of at least three columns, as in Markdown."""
    if len(block) < _ROWS or any(line.count("|") < _BARS for line in block):
        return False
    return any(map(_MARKDOWN.match, block)) or all(line.count(" | ") >= _BARS and line[0] != "|" for line in block)
