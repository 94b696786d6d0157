"""Lines that mention a message without reporting it: source code, search patterns, denials, explanations.

``it fails with "Connection refused"`` is a report. A sentence that this is *not* that message, a list of what is
absent, what it means, or what to search for is not, and a line of source code prints nothing by itself.
"""

from __future__ import annotations

import functools
import re

from ncdiag.base.patterns import lazy_regex

_SHORT = 2000
"""Maximum number of characters of a line that are checked."""
_QUOTE = r"[\"'`\u201c\u2018]"
_WHAT = (
    r"(?:the|a|an|any|this|that|our|my|same|known|old|usual|famous|infamous|classic|error|warning|message|case|about|of"
    r"|here)"
)
_DENIED = lazy_regex(
    rf"\b(?:(?:is|was|are|were|'s)(?:n't|\s(?:not|no\slonger|never|neither))|rather\sthan|instead\sof|unlike"
    rf"|nothing\sof|(?:do|does|did|have|has)(?:n't|\s(?:not|never))\s(?:see|saw|seen|get|got|have|had|print\w*|show\w*"
    rf"|log(?:ged)?|contain\w*|mention\w*)|(?:no\slonger|never)\s(?:see|sees|saw|get|gets|got|prints?|shows?|logs?))"
    rf"\s(?:{_WHAT}\s){{0,6}}{_QUOTE}",
    re.IGNORECASE,
)
"""Phrases that deny a message, such as that it is not seen or not this one."""
_LISTED = lazy_regex(
    rf"\s*(?:[-*+\u2022]|\d{{1,2}}[.)])\s+(?:there\s(?:is|are|was|were)\s)?(?:no|not\sa(?:ny|\ssingle)?|never|zero|without)"
    rf"\s(?:(?:more|such|sign\sof|signs\sof|trace\sof|{_WHAT})\s){{0,3}}{_QUOTE}"
    r"|\s*(?:[-*+\u2022]\s+)?(?:[\w ]{1,40}:\s)?(?:no|zero|without)\s(?!longer\b)[^,;.\n]{1,60}[,;]\s(?:and\s|or\s)?"
    r"(?:no|zero|without)\s",
    re.IGNORECASE,
)
"""An item of a list of what is absent: ``* No "GPU has fallen off the bus"``, ``no Xid, no segfault``."""
_GONE = lazy_regex(
    r"[\"'`\u201d\u2019]\s(?:\w+\s){0,3}(?:is|are|was|were|got)\s(?:now\s)?(?:gone|solved|fixed|history|not\s(?:it|seen|there|printed|in))\b"
    r"|[\"'`\u201d\u2019]\s(?:any\s?more|any\slonger)\b",
    re.IGNORECASE,
)
_EXPLAINED = lazy_regex(
    r"[\"'`\u201d\u2019]\s(?:usually\s|often\s|just\s|only\s|always\s)?(?:means|indicates|stands\sfor|refers\sto"
    r"|(?:is|are|gets?)\s(?:printed|shown|raised|thrown|logged|reported)\s(?:when|if|where|by)|appears\s(?:when|if|where))\b"
    r"|\b(?:docs?|documentation|manual|guide|readme|faq|wiki|troubleshooting\w*)\s(?:page\s)?(?:says?|state[sd]?|describe[sd]?"
    r"|mentions?|explains?|lists?)\b",
    re.IGNORECASE,
)
_SEARCH = lazy_regex(
    r"(?:[\w@.~:/-]{0,64}[$#>]\s{0,4})?(?:sudo\s)?(?:[ez]?grep|rg|ag|ack|awk|sed|findstr|journalctl|dmesg|cat|tail|zcat)\s"
    r"[^\n]{0,400}?(?:grep|rg|ag|ack|awk|sed|findstr)?\s?(?:-[\w-]{1,20}(?:[= ]\d{1,4})?\s){0,6}[\"'/]",
)
"""A command that searches for a pattern in quotation marks."""
_CODE = lazy_regex(
    r"\b(?:WARN|INFO|ERROR|TRACE|VERSION|LOG|CHECK|printf|[fs]n?printf|ncclDebugLog|print|fail|(?:log|logger|logging)\.\w{1,12}"
    r"|raise\s[\w.]{1,60}|throw\s[\w:]{1,60}|TORCH_CHECK|NCCL_OFI_WARN)\s?\((?:[^\"'()]{0,80},\s?)?[frbuL]{0,2}[\"']"
)
_PRINTED = lazy_regex(r"\s*(?:\[|\w*(?:Error|Exception|Warning)\b|(?:ERROR|WARN|FATAL|CRITICAL|E\d{4})\b|\S+:\d)")
"""The start of a line printed by a program, which may report that something quoted is missing."""
_HOLE = lazy_regex(r"(?<![\w/])%-?\d{0,3}(?:l{1,2}|z|h)?[sdxupif](?![A-Za-z0-9])|%l[xud]\b")
"""A printf placeholder: in a printed line it would be filled in."""
_STRING = lazy_regex(r"[\"'].{8,}[\"']|[\"'][^\"']{0,20}%|;\s*$|^\s*(?://|/\*|\*\s)")

_CLUES = (
    "n't", "not", "longer", "never", "neither", "rather", "instead", "unlike", "gone", "solved", "fixed", "history",
    "any", "means", "indicates", "stands", "refers", "printed", "shown", "raised", "thrown", "logged", "reported",
    "appears", "doc", "manual", "guide", "readme", "faq", "wiki", "troubleshooting",
)  # fmt: skip
"""One of these is in each line, in lower case, that `_DENIED`, `_GONE` or `_EXPLAINED` matches."""


def is_mention(text: str) -> bool:
    """True if the line only mentions a message and reports nothing."""
    return _is_mention(text[:_SHORT])


@functools.lru_cache(1 << 12)
def _is_mention(text: str) -> bool:
    """The answer for the beginning of a line, remembered because several steps ask for the same lines."""
    quoted = any(mark in text for mark in "\"'`\u201c\u2018")
    if quoted and _SEARCH.match(text):
        return True
    if quoted and any(map(text.lower().__contains__, _CLUES)) and not _PRINTED.match(text) and _is_said_of(text):
        return True
    if _LISTED.match(text) and not _PRINTED.match(text):
        return True
    return (quoted and _CODE.search(text) is not None) or (
        "%" in text and _HOLE.search(text) is not None and _STRING.search(text) is not None
    )


def _is_said_of(text: str) -> bool:
    """True if a sentence says of what it quotes that it is not there, is over, or what it means."""
    return any(said.search(text) for said in (_DENIED, _GONE, _EXPLAINED))
