"""The title of a ticket, which says what goes wrong in a few words; and what a person writes behind a command.

Both are short and often no sentence, so that `ncdiag.parsers._prose` does not take them for one.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex

LAST = 2
"""The number of the last line of a text that may be its title."""
_FEWEST, _MOST = 3, 40
"""Numbers of words that a title has."""
_HEADING = lazy_regex(
    r"(?:#{1,3}\s|\*\*|title:\s)?\s*(?:\[[A-Za-z /-]{2,20}\]:?\s?|(?:bug|question|issue|problem)(?:\sreport)?:\s){0,2}"
    r"(?P<text>.+?)(?:\*\*)?",
    re.IGNORECASE,
)
_CODE = lazy_regex(r"`{1,3}(?:(?P<word>[A-Za-z]{2,20})|[^`]{1,80})`{1,3}|\b[A-Z][A-Z0-9_]{3,40}=\S+")
_PRINTED = lazy_regex(
    r"\w\.\w{1,4}:\d|\b(?-i:INFO|WARN|ERROR|DEBUG)\b|\b(?:fatal|error|warning):\s|[{}<>|]|::"
    r"|^\S*(?:Error|Exception|Warning)\b|^[$/.\[]|^\w+:\S|\s-{1,2}\w|\bnot\sfound$",
    re.IGNORECASE,
)
"""Signs of a program's line or a command."""
_CLAIMS = lazy_regex(
    r"\b(?:cannot|can't|unable|impossible|refuses?|rid\sof|fails?\s(?:to|on|with|when|in)|failing|not|n't|abnormal|issues?"
    r"|(?:raises?|throws?|gets?|got|gives?)\s(?:\w+\s){0,3}(?:error|exception)s?)\b",
    re.IGNORECASE,
)
_BEHIND = lazy_regex(
    r"\s(?P<text>(?:(?:it|this|which|is|are|gets?|always|just|still|does|do|did|will)\s){0,3}"
    r"(?:stuck|hangs?|hung|freezes|frozen|crash(?:es|ed)?|fails?|failed|slow|(?:not|doesn't)\swork(?:ing|s)?"
    r"|(?:has|have|with)\sno\seffect|is\signored)(?![\w=.-])[^/|]{0,80})$",
    re.IGNORECASE,
)
_NEAR = 120


def title_of(line: str) -> str:
    """The title as a sentence, without its marks and with ``it`` for code; empty if the line is not a title."""
    found = _HEADING.fullmatch(line)
    if found is None:
        return ""
    title = _CODE.sub(lambda code: code["word"] or "it", found["text"])
    return title if _FEWEST <= len(title.split()) <= _MOST and not _PRINTED.search(title) else ""


def is_claim(what: str, title: str) -> bool:
    """True if a title that complains of ``what`` says that something is not as it should be, not only that it fails."""
    return what != "fails" or _CLAIMS.search(title) is not None


def behind(command: str) -> str:
    """What a person wrote behind a command on its line, ``stuck, but it is normal with -g 2``; empty for nothing."""
    found = _BEHIND.search(command, max(0, len(command) - _NEAR))
    return f"it {found['text']}" if found else ""
