"""A tolerant parser for NCCL's XML files: cut off, with lost line breaks, or escaped by a ticket system.

Only tags, attributes and comments are parsed. Declarations, entities and text are skipped: nothing outside the text is
opened, and only the five characters that XML itself escapes are expanded. One pass, no recursion.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.formats import basics

LESS = r"(?:<|&lt;)"
"""The start of a tag, escaped or not."""
QUOTE = r"""(?:\\?["']|&quot;|&#3[49];|[\u201c\u201d])"""
"""The start of an attribute's value."""

_TOKEN = lazy_regex(
    r"<!--.*?(?:-->|\Z)|<(?P<close>/?)(?P<name>[A-Za-z_][\w.-]{0,60})(?P<attributes>[^<>]*)>", re.DOTALL
)
_ATTRIBUTE = lazy_regex(r"""([A-Za-z_][\w.-]{0,60})\s{0,40}=\s{0,40}(?:"([^"<>]{0,400})"|'([^'<>]{0,400})')""")
_ESCAPES = {
    "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#34;": '"', "&#39;": "'", "&apos;": "'", "&amp;": "&",
    '\\"': '"', "\u201c": '"', "\u201d": '"',
}  # fmt: skip
_ESCAPED = lazy_regex("|".join(map(re.escape, _ESCAPES)))
_INSIDE = lazy_regex(rf"\s*(?:$|{LESS}|[A-Za-z_][\w.-]{{0,60}}={QUOTE})")
_COMMENT_LINES = 40


class Element(msgspec.Struct, frozen=True):
    """The start of an element: ``parent`` is the index of the enclosing one, ``line`` an index into the section."""

    name: str
    attributes: Mapping[str, str]
    parent: int | None
    line: int


class Document(msgspec.Struct, frozen=True):
    """Elements in order of the text; ``closed`` has the names of closed top-level elements."""

    elements: tuple[Element, ...]
    closed: frozenset[str]


def continues(lines: Sequence[str], line: str, end: str) -> bool:
    """True if the line continues the file, which ends after the closing tag ``end`` (``system``)."""
    if _closing(end).search(lines[-1]):
        return False
    return bool(_INSIDE.match(line)) or basics.is_elision(line) or _in_comment(lines)


@cache
def _closing(name: str) -> re.Pattern[str]:
    return re.compile(rf"{LESS}/{name}\s{{0,8}}(?:>|&gt;)")


def _in_comment(lines: Sequence[str]) -> bool:
    """True if one of the last lines opened a comment that is not closed."""
    for line in reversed(lines[-_COMMENT_LINES:]):
        if "-->" in line:
            return line.rfind("<!--") > line.rfind("-->")
        if "<!--" in line:
            return True
    return False


def read(section: Section) -> Document:
    """All elements of the section."""
    text = section.text
    if _ESCAPED.search(text):
        text = _plain(text)
    elements: list[Element] = []
    closed: set[str] = set()
    stack: list[tuple[int, str]] = []
    inside: Counter[str] = Counter()
    for line, found in _tokens(text):
        name = found["name"]
        if found["close"]:
            # a closing tag without an open one is skipped: searching the stack each time would be quadratic
            while inside[name]:
                index, opened = stack.pop()
                inside[opened] -= 1
                if opened == name:
                    if elements[index].parent is None:
                        closed.add(name)
                    break
            continue
        attributes = {key: _value(a or b) for key, a, b in _ATTRIBUTE.findall(found["attributes"])}
        elements.append(Element(name, attributes, stack[-1][0] if stack else None, min(line, len(section.lines) - 1)))
        if not found["attributes"].rstrip().endswith("/"):
            stack.append((len(elements) - 1, name))
            inside[name] += 1
    return Document(tuple(elements), frozenset(closed))


def _tokens(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Tags with the index of the line on which they begin."""
    line = at = 0
    for found in _TOKEN.finditer(text):
        line += text.count("\n", at, found.start())
        at = found.start()
        if found["name"]:
            yield line, found


def _plain(text: str) -> str:
    """Undo one escaping of the whole text; if tags are not escaped, only quotation marks are restored."""
    if "&lt;" in text:
        return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], text)
    return text.replace('\\"', '"').replace("\u201c", '"').replace("\u201d", '"')


def _value(text: str) -> str:
    value = text.replace("\n", "")
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], value) if "&" in value else value


def integer(text: str | None) -> int | None:
    """A number as strtol with base 0 parses it, including hexadecimal and negative ones; None for anything else."""
    return None if text is None else basics.number(text.strip())


def real(text: str | None) -> float | None:
    """The number at the start of a value (``16.0 GT/s PCIe``); None if there is none."""
    return None if text is None else basics.quantity(text)
