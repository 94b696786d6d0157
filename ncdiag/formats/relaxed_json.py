"""Parse JSON as people paste it: with comments, Python tuples, or cut off. The complete elements are returned."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from ncdiag.base.patterns import lazy_regex

SIZE_LIMIT = 4 << 20
"""Maximum number of characters; a rank table of 10,000 devices has about a million."""
_TOKEN = lazy_regex(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.{0,2000}?\*/|[()\[\]{}]|[^"/()\[\]{}]+|.', re.DOTALL)
_CUT = lazy_regex(r"\s*(?:$|\.{3}|\u2026)")
_DEPTH = 100
_CLOSERS = {"{": "}", "[": "]", "(": ")"}


class Relaxed(msgspec.Struct, frozen=True):
    """``value`` is None if even repair fails; ``valid`` is true for correct JSON; ``complaint`` describes the error.

    ``cut`` is true if the first error is that the text ends too early or has an ellipsis: only a part was pasted.
    """

    value: Any
    valid: bool
    complaint: str | None = None
    cut: bool = False


def loads(text: str) -> Relaxed:
    """Parse JSON; if that fails, remove comments, convert tuples, and close brackets after the last whole element."""
    text = text[:SIZE_LIMIT]
    try:
        return Relaxed(json.loads(text), valid=True)
    except (ValueError, RecursionError) as error:
        complaint, cut = "it cannot be read", False
        if isinstance(error, json.JSONDecodeError):
            complaint = f"{error.msg} in line {error.lineno}"
            cut = error.msg.startswith("Unterminated string") or _CUT.match(text, error.pos) is not None
    try:
        return Relaxed(json.loads(_repaired(text)), valid=False, complaint=complaint, cut=cut)
    except (ValueError, RecursionError):
        return Relaxed(None, valid=False, complaint=complaint, cut=cut)


def _repaired(text: str) -> str:
    pieces: list[str] = []
    open_brackets: list[str] = []
    safe: tuple[int, tuple[str, ...]] = 0, ()  # number of pieces after which closing all brackets gives whole elements
    for found in _TOKEN.finditer(text):
        piece = found[0]
        if piece.startswith(("//", "/*")):
            continue
        if piece in _CLOSERS:
            if len(open_brackets) == _DEPTH:
                return ""
            open_brackets.append(_CLOSERS[piece])
            pieces.append("[" if piece == "(" else piece)
            continue
        if piece in {")", "]", "}"}:
            if not open_brackets or open_brackets.pop() != piece:
                break
            pieces.append("]" if piece == ")" else piece)
            safe = len(pieces), tuple(open_brackets)
            if not open_brackets:
                break
            continue
        value, comma, rest = piece.rpartition(",")
        if comma and not piece.startswith('"'):
            pieces.append(value)
            safe = len(pieces), tuple(open_brackets)
            piece = comma + rest
        pieces.append(piece)
    if not open_brackets:
        return "".join(pieces)
    kept, still_open = safe
    closing = "".join("]" if closer == ")" else closer for closer in reversed(still_open))
    return "".join(pieces[:kept]).rstrip(" \t\n,") + closing
