"""Messages that are named in the middle of a sentence: words of a person and an opening mark come before them.

A program's message begins its line, or follows a head (a time, a process, a level), another message and a colon, or
words of the program, without a quotation mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.observe import Observation
from ncdiag.formats.line_kinds import is_printed, printed_by
from ncdiag.parsers._events import find

_LONGEST, _LINES, _PLACES = 600, 60, 40
"""Maximum number of characters of a line, of lines, and of words of a line that are checked."""
_WORD = lazy_regex(r"(?<!\S)\S|(?<=[\"'`\u201c\u300c{<])\S")
"""The beginning of a word, also after a mark that opens a quotation."""
_NAMED = lazy_regex(r"[^\W\d_]{2,}[^\w:]{1,3}[^\W\d_]|[\u3400-\u9fff]{2}|\\[a-z]+\{")
"""Two words of a person in a row, or a command of LaTeX."""
_OPENS = lazy_regex(r"[\"'`\u201c\u300c{<]$|^\s*(?:#|//|/\*|--|;|%)\s")
"""A mark that opens a quotation before the message, or a comment that it is in."""
_ENDS = lazy_regex(r"(?::|[\])>]|->|\s[-|])[\s\"'`\u201c(\[{]*$")
"""The end of a head, or of a message that passes another one on."""
_PRINTED = lazy_regex(
    r"(?i:\S:\d+:\d+ \[|\[rank ?\d|\bpid=\d|\b\d\d:\d\d:\d\d\b|\w\[\d+\]: |\.(?:cc|cpp|cu|h|py|go):\d)"
)
"""A process, a time or a place in a source, as a program prints them: also after words that ran into the line."""
_FAILS = lazy_regex(
    r"(?i:error|exception|fail|fatal|warn|cannot|could\snot|unable|denied|refused|abort|kill|tim(?:ed|es)\sout|\bg[eo]t|hang|hung"
    r"|stuck|crash|die[sd]|wrong|trouble|problem|issue|broken|slow|\u62a5|\u9519|\u5361|\u5931\u8d25)"
)
"""Words of somebody who reports a trouble, whose message then follows."""


def in_sentences(observations: Iterable[Observation], lines: Sequence[str]) -> Iterator[int]:
    """The indexes of the lines whose events come after words that no program prints and that report nothing."""
    events: dict[int, str] = {}
    for found in observations:
        if found.entity == "Event" and 0 < found.span.line <= len(lines):
            events.setdefault(found.span.line - 1, str(found.fields.get("event")))
    for index, event in list(events.items())[:_LINES]:
        line = lines[index][:_LONGEST]
        if not (is_printed(line) or printed_by(line)) and _is_of_a_sentence(_head(line, event)):
            yield index


def _is_of_a_sentence(head: str) -> bool:
    begins = _NAMED.search(head) is not None and _OPENS.search(head) is not None
    return begins and not any(form.search(head) for form in (_ENDS, _PRINTED, _FAILS))


def _head(line: str, event: str) -> str:
    """What is before the message of the event, with an opening mark; empty if the line does not have it."""
    begin = None
    for word in list(_WORD.finditer(line))[:_PLACES]:
        if not any(found.event == event for found in find(line[word.start() :])):
            break
        begin = word.start()
    return line[:begin] if begin is not None else ""
