"""Reports on what was done: closed tickets, all-clears, post-mortems, minutes, and items that say how a trouble ended.

A field, a subject or a heading says so for the text below it. That text ends where it last says how the trouble ended,
and before a line that a program printed or a trouble that somebody has, unless such a sentence is below these.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.blocks.examples import fenced
from ncdiag.formats.blocks.over import (
    ENDED,
    ends_well,
    goes_on,
    has_outcome,
    is_new,
    is_of_another_time,
    is_open,
    is_over_now,
    says_failure,
)
from ncdiag.formats.blocks.own_trouble import is_personal, is_present
from ncdiag.formats.blocks.stretches import end_of_paragraph, stretches
from ncdiag.formats.guarded import guarded_regex
from ncdiag.formats.line_kinds import is_item, is_printed, is_sentence, is_title, kind_of, without_quotations
from ncdiag.language.speech import is_in_another, roles_in

_LONGEST = 2000
_FIELD = lazy_regex(
    r"(?:.{0,80}(?:\s{2}|[*|\u00b7]\s?))?\W{0,4}"
    rf"(?:status|state|resolution|\u72b6\u6001)\W{{1,20}}(?:successfully |erfolgreich )?{ENDED}\W*"
    r"(?:\s{2}.*|[|\u00b7].*|[.;,]\s(?:[^\W\d_]{3,20}(?: \d{1,3}|\s?[:\uff1a]\s).*))?$"
    r"|\W{0,4}closed\W{1,6}(?:opened|by|as|on)\b"
    rf"|\W{{0,4}}(?:(?:ticket|case|incident|issue|bug|vorgang)\W{{1,3}}|#)\w*\d.{{0,200}}[\[(]{ENDED}\b[^\])]{{0,40}}[\])]",
    re.IGNORECASE,
)
"""The field of a ticket or a report that says it is closed."""
_DATED = lazy_regex(
    r"\W{0,4}(?:resolved|closed|solved|fixed|completed|geschlossen|gel\u00f6st|erledigt|behoben|\u5df2?(?:\u5173\u95ed|\u89e3\u51b3))"
    r"(?: (?:at|on|am|date))?\s?[:=\uff1a]\s*\D{0,12}\d"
    rf"|.{{1,240}}[\[(]{ENDED}[^\d\])]{{1,12}}\d[^\])]{{1,30}}[\])]",
    re.IGNORECASE,
)
"""The field with the time at which a ticket was closed."""
_COMMENT = lazy_regex(
    r"\W{0,4}\d{4}[-/.]\d\d?[-/.]\d\d?[ T]\d\d:\d\d(?::\d\d)?\W{1,4}(?![A-Z]+:)[^\W\d][\w .-]{1,40}:\s"
)
"""A dated comment on a ticket: time, author, text. A word in capitals after the time is the level of a log."""
_LABEL = lazy_regex(r"\W{0,4}(?P<label>[^\W\d_][^:\n]{1,30}?)\s?[:\uff1a]\s{0,4}(?P<value>\S.*)")
_STATE = lazy_regex(r"[\[(\u3010](?P<state>[^\])\u3011]{2,30})[\])\u3011]")
"""A label with its value, and what stands in brackets."""
_REOPENED = lazy_regex(r"re-?open|wieder\s?er\u00f6ffnet|\u91cd\u65b0\u6253\u5f00", re.IGNORECASE)
_OF_OVER = (
    r"(?:\ball[- ]clear\b|(?<!be )(?<!not )\bresolved\b|\bsolved\b|\bpost-?mortem\b|\bback in service\b"
    r"|\bentwarnung\b|\bbehoben\b|\bgel\u00f6st\b|\bwieder (?:in ordnung|verf\u00fcgbar)\b"
    r"|\u590d\u76d8|(?:\u5df2|\u6062\u590d)(?:\u5904\u7406|\u4fee\u590d|\u89e3\u51b3|\u6062\u590d|\u901a\u77e5|\u6b63\u5e38)"
    r"|(?:\u5904\u7406|\u4fee\u590d)(?:\u5b8c\u6bd5|\u5b8c\u6210))"
)
_SAYS_SO = guarded_regex(rf"{ENDED}|{_OF_OVER}|\bdone\b", re.IGNORECASE)
"""What each of these heads has, unless it is in another language."""
_SUBJECT = lazy_regex(
    rf"(?:Subject|Betreff|\u4e3b\u9898)\s?[:\uff1a].*{_OF_OVER}"
    rf"|(?:(?:re|fwd?|aw|wg|antw|\u56de\u590d|\u7b54\u590d|\u8f6c\u53d1)\s?[:\uff1a]\s{{0,4}}){{1,4}}.*[\[(\u3010]{_OF_OVER}[\])\u3011]",
    re.IGNORECASE,
)
"""The subject of a mail; without its label, the state is in brackets."""
_HEADING = lazy_regex(
    rf"(?:#{{1,6}} |[\u3010\[]|[\u4e00-\u5341]\u3001).{{0,80}}{_OF_OVER}"
    r"|(?:resolved|behoben)\s[-\u2013]\s",
    re.IGNORECASE,
)
_TROUBLE = guarded_regex(
    r"\b(?:my|our|hangs?|hung|stuck|crash\w*|fail(?:s|ed|ing|ures?)?|dies|died|slow\w*|cannot|can't|could|unable|errors?"
    r"|time-?\s?outs?|timed\sout|deadlock\w*|stall\w*|freez\w*|broken|wrong|nan|again|still|since|after|despite|until"
    r"|h\u00e4ng\w*|seit|wieder)\b|\u6211|\u5361\u4f4f|\u5361\u6b7b|\u5d29\u6e83|\u62a5\u9519|\u8d85\u65f6",
    re.IGNORECASE,
)
"""Words of a person who has a trouble, whatever else the title says: ``it hangs after the problem was resolved``."""
_LIST = lazy_regex(r"(?:done|resolved|closed|fixed|erledigt|behoben)\s*:?$", re.IGNORECASE)
"""The heading of a list of what is over."""
_TITLE = lazy_regex(rf"(?:[^\W\d].{{0,100}})?{_OF_OVER}(?!\s(?:it|this|that|the|my|our|by|with|for)\b)", re.IGNORECASE)
"""A title without a mark: a paragraph of one line, and no sentence about what solved something."""
_PRESENT = lazy_regex(
    r"\W{0,4}(?:present|attendees|participants|anwesend\w*|teilnehm\w+|[\u53c2\u4e0e]\u4f1a\u4eba?\u5458?|\u51fa\u5e2d)"
    r"\W{0,4}[:\uff1a][^\d:]*[,;\u3001]\s?[^\W\d]",
    re.IGNORECASE,
)
"""The line of minutes that lists who took part."""
_LEVELS = tuple(lazy_regex(form) for form in (r"#(?!#)", r"#{1,2}(?!#)", r"#{1,3}(?!#)", r"#{1,6} "))
_ORDINAL = lazy_regex(r"[\u4e00-\u5341]\u3001")
_MAIL = lazy_regex(r"(?:From|Von|Subject|Betreff): ")
_LEADS = lazy_regex(r"\d{1,2}:\d\d\s|[A-Z]{2,6}-\d{1,6}\s")
"""The time or the number of a ticket with which an item of a report may begin."""
_ROW = lazy_regex(r"\|(?:[^|]{1,400}\|){2,8}\s*$")
"""A row of a table in Markdown."""
_FAILED = guarded_regex(
    r"\[?[Rr]ank ?\d+\]?: |NVRM: |NCCL (?:WARN|INFO|error)|(?:Error|Exception): |CUDA error|\bXid\b"
)
"""A failure as a program prints it."""
_WEAK = lazy_regex(r"\b(?:gone|cleaned|clean|done|closed|closing|quiet|passed)\b", re.IGNORECASE)
"""Words that may as well be the effect of a failure (``the process is gone``) as its end."""
_UNDERLINE = lazy_regex(r"\s*([=~^*-])\1{3,}\s*$")
_SHORT, _WIDE = 30, 120
_STOPS = frozenset(".!?,;:\u3002\uff01\uff1f")
_INDENT = frozenset(" \t")
_CHINESE = lazy_regex(r"[\u3400-\u9fff]{2}")
_MARKS = ("#", ">", "|")


def over(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and last index of each text on what is over: by a head that says so, or by what it tells."""
    yield from settled(lines)
    yield from past(lines)


def settled(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """What a field, a subject or a heading says is over: the first and last index of each such text."""
    named = frozenset(index for index, line in enumerate(lines) if _SAYS_SO.search(line))
    titles, examples = frozenset(_titles(lines, sorted(named))), dict(fenced(lines))
    for index, end in _heads(lines, lambda at, line: at in titles or _is_head(line, named=at in named)):
        if (index in titles or _HEADING.match(lines[index])) and not _SUBJECT.match(lines[index]):
            if not (is_open(lines[index]) or _TROUBLE.search(lines[index])):
                yield index, _last(lines, index, _end_of_section(lines, index, end), examples)
            continue
        first, last = _paragraph(lines, index)
        head = lines[first : last + 1]
        if any(map(_REOPENED.search, head)):
            continue
        is_ticket = _is_field(lines[index])
        below = _last(lines, last, end, examples, in_short=is_ticket)
        if is_ticket and any(map(_DATED.match, head)) and not any(map(_goes_on_after, lines[last + 1 : end])):
            comments = (at for at in range(end - 1, last, -1) if _COMMENT.match(lines[at]))
            below = max(below, *(end_of_paragraph(lines, at) for at in itertools.islice(comments, 1)), last)
        yield _above(lines, first), below


def _is_head(line: str, *, named: bool) -> bool:
    """True for a field, a subject or a heading that says that something is over; ``named``: in English or German."""
    if named and any(form.match(line) for form in (_FIELD, _SUBJECT, _HEADING)):
        return True
    if not (_LABEL.match(line) or _STATE.search(line[:_WIDE])):
        return False
    return is_in_another(line) and kind_of(line) != "log" and (_has_state(line) or _has_subject(line))


def _is_field(line: str) -> bool:
    """True for a field that says of a ticket or a report that it is closed, or for its state in brackets."""
    return _FIELD.match(line) is not None or (kind_of(line) != "log" and _has_state(line))


def _has_state(line: str) -> bool:
    """True for such a field in another language."""
    label = _LABEL.match(line)
    if label and "status" in roles_in(label["label"], line) and _is_state(label["value"], line):
        return True
    return any(_is_state(each["state"], line) for each in _STATE.finditer(line[:_WIDE]))


def _is_state(text: str, line: str) -> bool:
    """True if a few words of a line in another language say that something is over."""
    return len(text) <= _SHORT and "done" in (said := roles_in(text, line)) and said.isdisjoint({"not", "yet"})


def _has_subject(line: str) -> bool:
    """True for a subject in another language that says so."""
    label = _LABEL.match(line)
    if label is None or "subject" not in roles_in(label["label"], line):
        return False
    said = roles_in(label["value"], line)
    return "done" in said and said.isdisjoint({"not", "yet"})


def _goes_on_after(line: str) -> bool:
    """True for a line below the head of a closed ticket after which it is open again, or another text."""
    is_comment = line[:1].isdigit() or line[:1] in _INDENT
    is_open_again = any(form.search(line) for form in (_REOPENED, _MAIL)) or is_present(line)
    return is_open_again or (not is_comment and is_personal(line))


def minutes(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The lines of the minutes of a meeting, without those that say of something that it is not over."""
    examples = dict(fenced(lines))
    for index, end in _heads(lines, lambda _, line: _PRESENT.match(line) is not None):
        first, last = _paragraph(lines, index)
        block = range(_above(lines, first), _last(lines, last, end, examples) + 1)
        yield from stretches(at for at in block if not goes_on(lines[at]))


def past(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """A text about another time that says at its end that the trouble is over, and in which nobody has one now."""
    held = list(_paragraphs(lines, 0, len(lines), dict(fenced(lines))))
    texts = [" ".join(lines[first : last + 1])[:_LONGEST] for first, last in held]

    def is_told(at: int) -> bool:
        return any(map(is_sentence, lines[held[at][0] : held[at][1] + 1]))

    begins = [at for at, text in enumerate(texts) if is_of_another_time(text) and is_told(at)]
    ends = [at for at, text in enumerate(texts) if is_over_now(text) and is_told(at)] if begins else []
    if not begins or not ends or begins[0] > ends[-1]:
        return
    said = [lines[at] for first, last in held for at in range(first, last + 1) if not is_printed(lines[at])]
    over_at = max(at for at in range(held[ends[-1]][0], held[ends[-1]][1] + 1) if is_sentence(lines[at]))
    after = lines[held[ends[-1]][1] + 1 :]
    if any(is_personal(line) or is_present(line) or is_new(line) for line in said):
        return
    if any(map(is_printed, lines[over_at + 1 :])):
        return
    if not any(map(says_failure, after)):
        yield _above(lines, held[begins[0]][0]), held[ends[-1]][1]


def _titles(lines: Sequence[str], named: Iterable[int]) -> Iterator[int]:
    """The indexes of titles that say that something is over: alone in their paragraph, or above a list.

    ``named``: the indexes of lines with a word that says so.
    """
    for index in named:
        line = lines[index]
        if _LIST.match(line) and any(map(is_item, lines[index + 1 : index + 3])):
            yield index
        elif len(line) < _WIDE and _TITLE.match(line) and line.rstrip()[-1:] not in _STOPS and not is_printed(line):
            around = [*lines[max(0, index - 1) : index], *lines[index + 1 : index + 2]]
            if not "".join(around).strip():
                yield index


def _heads(lines: Sequence[str], is_head: Callable[[int, str], bool]) -> Iterator[tuple[int, int]]:
    """The index of the first head in each paragraph that has one, and that of the next such head or of the end."""
    heads = [index for index, line in enumerate(lines) if is_head(index, line[:_LONGEST])]
    alone = [
        at for before, at in itertools.pairwise([-1, *heads]) if before < 0 or "" in map(str.strip, lines[before:at])
    ]
    yield from itertools.pairwise([*alone, len(lines)])


def outcomes(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Items of a report that name a trouble and say how it ended: the first and last index of each."""
    index = 0
    while index < len(lines):
        last = index
        if any(form(lines[index]) for form in (is_item, _LEADS.match, _ROW.match)):
            while last + 1 < len(lines) and _continues(lines[last + 1]):
                last += 1
            item = " ".join(line.strip()[:_LONGEST] for line in lines[index : last + 1])
            if has_outcome(_WEAK.sub(" ", item) if _FAILED.search(item) else item):
                yield index, last
        index = last + 1


def _continues(line: str) -> bool:
    return bool(line.strip()) and line[:1] in _INDENT and not (is_item(line) or _LEADS.match(line.lstrip()))


def _paragraph(lines: Sequence[str], index: int) -> tuple[int, int]:
    """The first and last line of the paragraph of a head, without what a program printed below it."""
    first = last = index
    while first > 0 and lines[first - 1].strip() and not is_printed(lines[first - 1]):
        first -= 1
    while last + 1 < len(lines) and lines[last + 1].strip() and not is_printed(lines[last + 1]):
        last += 1
    return first, last


def _above(lines: Sequence[str], first: int) -> int:
    """The index of the title above a paragraph or its underline, or that of the paragraph."""
    if first > 0 and _UNDERLINE.match(lines[first]):
        return first - 1
    title = first - 2
    is_alone = title >= 0 and not lines[first - 1].strip() and (title == 0 or not lines[title - 1].strip())
    return title if is_alone and is_title(lines[title]) else first


def _end_of_section(lines: Sequence[str], index: int, end: int) -> int:
    """The index of the next heading of the same form, at most ``end``."""
    head = lines[index]
    same = next((form for form in (*_LEVELS, _ORDINAL) if form.match(head)), None)
    for at in range(index + 1, end):
        line = lines[at]
        if same is None:
            is_next = head[:1].isalpha() and is_title(line) and len(line) < _SHORT and not lines[at - 1].strip()
        else:
            is_next = same.match(line) is not None
        if is_next:
            return at
    return end


def _last(lines: Sequence[str], index: int, end: int, examples: Mapping[int, int], *, in_short: bool = False) -> int:
    """The last line of what is over, whose head ends at an index, before the ``end`` of its section.

    ``examples``: the ends of code blocks, by their first lines. ``in_short``: a few words may say that it ended; else a
    sentence, since programs print "done" as well.
    """
    last, is_known, has_ended = index, True, False
    for first, below in _paragraphs(lines, index + 1, end, examples):
        block = lines[first : below + 1]
        if _MAIL.match(block[0]):
            break
        is_example = first in examples
        if not is_example and (in_short or any(map(is_sentence, block))) and _says_that_it_ended(block):
            last, is_known, has_ended = below, True, True
        elif not is_example and any(map(is_personal, (line for line in block if not line.startswith(">")))):
            if has_ended:
                break
            is_known = False
        elif not is_example and any(map(is_printed, block)):
            is_known = False
        elif is_known and (is_example or _has_structure(block)):
            last = below
    return last


def _says_that_it_ended(block: Sequence[str]) -> bool:
    return ends_well(" ".join(block)[-_LONGEST:]) and not any(map(is_present, block))


def _has_structure(block: Sequence[str]) -> bool:
    """True if each line has a structure, or is a short title above one that has."""
    return all(
        _is_structured(line) or (len(line) < _SHORT and is_title(line) and _is_structured(below))
        for line, below in itertools.pairwise([*block, "."])
    )


def _is_structured(line: str) -> bool:
    """True for an item, a heading, an indented or quoting line, and Chinese: a program may have printed another one."""
    if _CHINESE.search(line):
        return True
    return line[:1] in _INDENT or line.startswith(_MARKS) or is_item(line) or without_quotations(line) != line


def _paragraphs(lines: Sequence[str], begin: int, end: int, examples: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """The paragraphs and ``examples`` between two indexes: the first and last index of each."""
    index = begin
    while index < end:
        if not lines[index].strip():
            index += 1
            continue
        last = min(end_of_paragraph(lines, index), end - 1)
        last = min(examples.get(index, last), end - 1)
        yield index, last
        index = last + 1
