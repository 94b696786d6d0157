"""Explain a line of a log with the catalogue of messages."""

from __future__ import annotations

import re

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.messages.explained import full_matcher
from ncdiag.messages.match import Match
from ncdiag.messages.template import Value
from ncdiag.nccl import codes
from ncdiag.parsers.nccl_log.prefix import Prefix, parse_prefix

_MARK = lazy_regex(r"NCCL (INFO|WARN|ATTN|TRACE|DIAG|ABORT|CALL)\b ?")
_RETURN = lazy_regex(r"\s*(?P<file>[\w./-]{1,300}):(?P<line>\d{1,6})(?: \(\w{1,200}\))? -> (?P<code>\d{1,3})\b")
_CODED = {
    "status": "completion", "vendor_err": "vendor", "xid": "xid", "sxid": "sxid", "code": "result", "retcode": "result",
    "errno": "errno",
}  # fmt: skip
"""Fields whose numbers have a table, and which table."""


class Explanation(msgspec.Struct, frozen=True, kw_only=True):
    """The meaning of one line. ``event`` None: no message of the catalogue matches.

    ``versions`` are the NCCL releases that print this wording; ``fields`` the fields with their values, with a sentence
    under ``<name>_meaning`` if the number is a code; ``printed_by`` the contents of the line's prefix.
    """

    text: str
    event: str | None = None
    level: str | None = None
    kind: str | None = None
    meaning: str = ""
    next: str = ""
    fields: dict[str, Value] = {}
    versions: str = ""
    origin: str | None = None
    printed_by: Prefix | None = None


def line(text: str) -> Explanation:
    """Explain a line of a log, with or without its prefixes."""
    mark = _last_mark(text)
    prefix = parse_prefix(text[: mark.start()]) if mark else None
    message = text[mark.end() :] if mark else text
    level = mark[1] if mark else None
    returned = _RETURN.match(message) if mark else None
    if returned:
        return _of_return(text, returned, prefix)
    match = _match(message.strip(), level, prefix)
    if match is None:
        return Explanation(text=text, level=level, printed_by=prefix)
    found = match.message
    return Explanation(
        text=text,
        event=match.event,
        level=level or found.level,
        kind=found.kind,
        meaning=found.meaning,
        next=found.next,
        fields=_with_codes(match.fields),
        versions=_versions(match, message),
        origin=found.origin,
        printed_by=prefix,
    )


def _versions(match: Match, message: str) -> str:
    """The releases of all wordings that match, without repetitions."""
    return " or ".join(dict.fromkeys(m.versions for m in full_matcher().wordings(match, message) if m.versions))


def _last_mark(text: str) -> re.Match[str] | None:
    """The last ``NCCL INFO``: text before it may be another process's line that ended without a newline."""
    marks = list(_MARK.finditer(text[:8192]))
    return marks[-1] if marks else None


def _match(message: str, level: str | None, prefix: Prefix | None) -> Match | None:
    matcher = full_matcher()
    file = prefix.file if prefix else None
    libraries = ("nccl", "rccl", "plugin")
    found = matcher.match(message, libraries, level, file) or matcher.match(message, libraries, None, file)
    return found or matcher.find(message)


def _of_return(text: str, found: re.Match[str], prefix: Prefix | None) -> Explanation:
    """Explain ``init.cc:1234 -> 3``: a result code that is passed up through NCCL's functions."""
    result = codes.code("result", int(found["code"]))
    name = f"{result.name}: {result.meaning}" if result else "an unknown result"
    return Explanation(
        text=text,
        event="error-return",
        level="INFO",
        kind="echo",
        meaning=f"A result code passes through this line of NCCL on its way to the program. {name}",
        next="The first such line of a thread is the deepest; the WARN just before it is the cause.",
        fields={"source_file": found["file"], "source_line": int(found["line"]), "code": int(found["code"])},
        origin="nccl",
        printed_by=prefix,
    )


def _with_codes(fields: dict[str, Value]) -> dict[str, Value]:
    told = dict(fields)
    for hole, kind in _CODED.items():
        known = codes.code(kind, fields.get(hole))
        if known is not None:
            told[f"{hole}_meaning"] = f"{known.name}: {known.meaning}"
    return told
