"""Insert a key into a YAML mapping, next to its first key and with the same indentation."""

from __future__ import annotations

import re

from ncdiag.apps.lint.model import Document, Edit
from ncdiag.base.patterns import lazy_regex

_FIRST = lazy_regex(r"(?P<indent>[ ]*)(?P<dash>-[ ]+)?(?P<key>[\w.-]+):(?P<rest>[^\n]*)")
_LINES = 2000


def with_key(document: Document, line: int, key: str, value: str) -> tuple[Edit, ...]:
    """The edit that adds ``key: value`` to the mapping whose first key is on ``line`` (from 1).

    Empty if the mapping already has the key, or if its form has no place for a line.
    """
    at = document.line_place(line)
    found = _FIRST.fullmatch(document.text, at.start, at.end)
    if found is None:
        return ()
    indent = len(found["indent"]) + len(found["dash"] or "")
    if any(name == key for name in _keys(document, line, indent)):
        return ()
    entry = f"{' ' * indent}{key}: {value}\n"
    if found["dash"] is None:
        return (Edit(at.start, at.start, entry),)
    inline = found["rest"].split("#")[0].strip()
    if not inline or inline[0] in "|>&" or at.end >= len(document.text):
        return ()
    return (Edit(at.end + 1, at.end + 1, entry),)


def _keys(document: Document, line: int, indent: int) -> list[str]:
    """The keys of the mapping that begins on a line, at this indentation."""
    names: list[str] = []
    for number in range(line, line + _LINES):
        at = document.line_place(number)
        text = document.text[at.start : at.end]
        if number > line and (at.start == 0 or (text.strip() and len(text) - len(text.lstrip()) < indent)):
            break
        found = re.match(r"([\w.-]+):", text[indent:])
        if found:
            names.append(found[1])
    return names
