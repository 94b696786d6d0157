"""Results of NCCL calls that a program prints in its own words.

The text of a result is NCCL's (ncclGetErrorString, src/init.cc); frameworks, their checks and old releases put it after
the call (``Check failed: ncclCommInitRank(...) : unhandled system error (2)``), after an exception, in quotation marks,
or before the place in their source.
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.guarded import guarded_regex
from ncdiag.parsers._signs import Signs

EVENT = "framework-nccl-error"
_SIGNS = Signs("unhandled system", "unhandled cuda", "remote process exited", "unknown result code", "nccl")
"""One of these is in every line that the patterns know: they are tried on few others."""
_RESULT = lazy_regex(
    r"\b(?:(unhandled (?:system|cuda) error|remote process exited or there was a network error|unknown result code)"
    r"|internal error(?! \w)|invalid (?:usage|argument))\b"
)
"""The texts; the first group is those that no other library prints."""
_FRAME = guarded_regex(
    r"\b[A-Za-z_][\w.:]{0,80}(?:Error|Exception|EnforceNotMet)\b|\b[Cc]heck failed\b|\b[Aa]ssertion\b|\bwhat\(\):"
    r"|(?i:\b[nr]ccl\w{0,40}\b.{0,160}?\b(?:fail(?:ed|ure)?|error|returned)\b)|\bnccl[A-Z]\w{2,40}\("
    r"|\bnccl[A-Za-z]{1,60}\.\w{1,4}:\d|\bFailed: "
)
"""What programs print before an error; ahead of the text, with quotation marks or a colon directly before it."""
_INTRODUCED = lazy_regex(r"(?:[:,'\"(\[`]|-{1,2}>|=)\s{0,3}$")
_PLACED = lazy_regex(r"\W{0,3}(?:at|in|from) \W?[\w./-]{1,200}\.(?:c|cc|cpp|cu|cuh|h|hpp|py):\d{1,6}\b")
_LIMIT = 1000


def failure(text: str) -> str | None:
    """Return the text of the result (``unhandled system error``) with which an NCCL call failed; None for others."""
    if not _SIGNS.stand_in(text):
        return None
    text = text[:_LIMIT]
    for found in _RESULT.finditer(text):
        before, after = text[: found.start()], text[found.end() :]
        if found[1] is None and "nccl" not in before.lower():
            continue
        if _INTRODUCED.search(before) and (_FRAME.search(before) or _PLACED.match(after)):
            return found[0]
    return None
