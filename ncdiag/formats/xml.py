"""The elements of an XML file of NCCL, read tolerantly: cut off, with lost line breaks, or escaped by a ticket system.

Only tags, attributes and comments are looked at. Declarations, entities and text are passed over: nothing outside the
text is opened, nothing is expanded but the five characters that XML itself escapes. One pass, no recursion.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import msgspec

from ncdiag.base.spans import Section
from ncdiag.formats import basics

LESS = r"(?:<|&lt;)"
"""How a tag begins, escaped or not."""
QUOTE = r"""(?:\\?["']|&quot;|&#3[49];|[\u201c\u201d])"""
"""How an attribute's value begins."""

_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)|<(?P<close>/?)(?P<name>[A-Za-z_][\w.-]{0,60})(?P<attributes>[^<>]*)>", re.DOTALL
)
_ATTRIBUTE = re.compile(r"""([A-Za-z_][\w.-]{0,60})\s{0,40}=\s{0,40}(?:"([^"<>]{0,400})"|'([^'<>]{0,400})')""")
_ESCAPES = {
    "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#34;": '"', "&#39;": "'", "&apos;": "'", "&amp;": "&",
    '\\"': '"', "\u201c": '"', "\u201d": '"',
}  # fmt: skip
_ESCAPED = re.compile("|".join(map(re.escape, _ESCAPES)))
_INSIDE = re.compile(rf"\s*(?:$|{LESS}|[A-Za-z_][\w.-]{{0,60}}={QUOTE})")
_COMMENT_LINES = 40


class Element(msgspec.Struct, frozen=True):
    """An element as it begins: ``parent`` is the index of the one around it, ``line`` an index into the section."""

    name: str
    attributes: Mapping[str, str]
    parent: int | None
    line: int


class Document(msgspec.Struct, frozen=True):
    """Elements in order of the text; ``closed`` names those top-level elements that were closed."""

    elements: tuple[Element, ...]
    closed: frozenset[str]


def continues(lines: Sequence[str], line: str, end: str) -> bool:
    """Does the line go on with the file? It ends behind the closing tag ``end`` (``system``)."""
    if _closing(end).search(lines[-1]):
        return False
    return bool(_INSIDE.match(line)) or basics.is_elision(line) or _in_comment(lines)


@cache
def _closing(name: str) -> re.Pattern[str]:
    return re.compile(rf"{LESS}/{name}\s{{0,8}}(?:>|&gt;)")


def _in_comment(lines: Sequence[str]) -> bool:
    """Did one of the last lines open a comment that none closed?"""
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
            # a closing tag without an open one is passed over: looking through the stack each time would be quadratic
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
    """Tags with the lines on which they begin."""
    line = at = 0
    for found in _TOKEN.finditer(text):
        line += text.count("\n", at, found.start())
        at = found.start()
        if found["name"]:
            yield line, found


def _plain(text: str) -> str:
    """Undo one escaping of the whole text; where tags stand as they are, only quotation marks are restored."""
    if "&lt;" in text:
        return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], text)
    return text.replace('\\"', '"').replace("\u201c", '"').replace("\u201d", '"')


def _value(text: str) -> str:
    value = text.replace("\n", "")
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], value) if "&" in value else value


def integer(text: str | None) -> int | None:
    """A number as strtol with base 0 reads it, hexadecimal and negative ones too; None for anything else."""
    return None if text is None else basics.number(text.strip())


def real(text: str | None) -> float | None:
    """The number that a value begins with (``16.0 GT/s PCIe``); None when there is none."""
    return None if text is None else basics.quantity(text)
