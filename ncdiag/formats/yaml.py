"""A tolerant parser for the subset of YAML used in manifests, line by line.

Block and flow mappings and sequences, quoted and plain scalars, of one line or several, block scalars (``|``, ``>``),
comments. Anchors and tags are skipped, aliases are not followed, and there are no types: every scalar is its text as
written. Lines that do not fit are left out and listed in ``unread``.
"""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Iterator, Sequence

from ncdiag.base.patterns import lazy_regex

DEPTH = 60
LINES = 20_000

_KEY = lazy_regex(
    r"""(?P<key>"[^"]{0,300}"|'[^']{0,300}'|[^\s:#\[\]{},&*!|>'"%@`-][^:#]{0,300}?|-[^\s:#][^:#]{0,300}?)\s*:(?:\s+|$)"""
)
_BLOCK = lazy_regex(r"[|>][+-]?\d?[+-]?\s*(?:#.*)?$")
_COMMENT = lazy_regex(r"(?:^|\s)#.*$")
_PROPERTIES = lazy_regex(r"(?:[&!]\S*(?:\s+|$))+")
"""An anchor or a tag before a value."""
_CLOSED = {
    '"': lazy_regex(r'"(?:[^"\\]|\\.)*"', re.DOTALL),
    "'": lazy_regex(r"'(?:[^']|'')*'(?!')", re.DOTALL),
}
_QUOTED = lazy_regex(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'")
_CONTINUED = 2000
"""Maximum number of lines of one scalar."""


class Node:
    """A value with its position (``line``: index of the line).

    ``column`` is where a scalar begins in its line, -1 if unknown; ``last`` is the index of the last line of a scalar.
    ``style``: the quote or the sign (``|``, ``>``) before a scalar, empty for a plain one.
    """

    __slots__ = ("column", "last", "line", "style", "value")

    def __init__(
        self, line: int, value: str | dict[str, Node] | list[Node], column: int = -1, style: str = "", last: int = -1
    ) -> None:
        """``value``: text, a mapping or a list of nodes."""
        self.line, self.value, self.column, self.style = line, value, column, style
        self.last = max(last, line)

    def get(self, *path: str) -> Node | None:
        """The node at the path of keys; None if there is none."""
        node: Node | None = self
        for key in path:
            node = node.value.get(key) if node is not None and isinstance(node.value, dict) else None
        return node

    def text(self, *path: str) -> str | None:
        """The text at the path of keys; None if there is none."""
        node = self.get(*path)
        return node.value if node is not None and isinstance(node.value, str) else None

    def items(self, *path: str) -> list[Node]:
        """The list at the path of keys; empty if there is none."""
        node = self.get(*path)
        return node.value if node is not None and isinstance(node.value, list) else []

    def pairs(self, *path: str) -> dict[str, Node]:
        """The mapping at the path of keys; empty if there is none."""
        node = self.get(*path)
        return node.value if node is not None and isinstance(node.value, dict) else {}


class _Row:
    __slots__ = ("indent", "line", "text")

    def __init__(self, indent: int, line: int, text: str) -> None:
        self.indent, self.line, self.text = indent, line, text


def load(lines: Sequence[str]) -> tuple[Node, list[int]]:
    """The document of these lines, and the indexes of the lines that were not understood."""
    reader = _Reader(lines)
    root = reader.block(-1, 0)
    while reader.place < len(reader.rows):
        reader.unread.append(reader.rows[reader.place].line)
        reader.place += 1
    return root or Node(0, {}), sorted(reader.unread)


class _Spot:
    """Maps offsets of a text that was joined from several lines to their lines and columns."""

    __slots__ = ("places", "starts")

    def __init__(self, starts: list[int], places: list[tuple[int, int]]) -> None:
        self.starts, self.places = starts, places

    def of(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        number = bisect.bisect_right(self.starts, offset) - 1
        line, column = self.places[number]
        return line, column + offset - self.starts[number]


class _Reader:
    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.rows = list(_rows(lines))
        self.place = 0
        self.unread: list[int] = []

    def block(self, above: int, depth: int) -> Node | None:
        """Parse the block that is indented deeper than ``above`` (a sequence may be at the same depth as its key)."""
        if self.place >= len(self.rows) or depth > DEPTH:
            return None
        first = self.rows[self.place]
        if first.indent < above or (first.indent == above and not _is_item(first.text)):
            return None
        if _is_item(first.text):
            return self.sequence(first.indent, depth)
        return self.mapping(first.indent, depth) if first.indent > above else None

    def sequence(self, indent: int, depth: int) -> Node:
        """Parse the items at this indentation; the text after a dash is a block."""
        found = Node(self.rows[self.place].line, [])
        items: list[Node] = []
        found.value = items
        while self.place < len(self.rows):
            row = self.rows[self.place]
            if row.indent != indent or not _is_item(row.text):
                break
            rest = _bare(row.text[1:].lstrip())
            if not rest:
                self.place += 1
                items.append(self.block(indent, depth + 1) or Node(row.line, ""))
            elif _KEY.match(rest) or _is_item(rest):
                self.rows[self.place] = _Row(indent + len(row.text) - len(rest), row.line, rest)
                items.append(self.block(indent, depth + 1) or self.skipped(row))
            else:
                self.place += 1
                items.append(self.scalar(rest, row, depth))
        return found

    def mapping(self, indent: int, depth: int) -> Node:
        """Parse the keys at this indentation; of a repeated key, the first value counts."""
        pairs: dict[str, Node] = {}
        found = Node(self.rows[self.place].line, pairs)
        while self.place < len(self.rows):
            row = self.rows[self.place]
            if row.indent < indent or (row.indent == indent and _is_item(row.text)):
                break
            key = _KEY.match(row.text) if row.indent == indent else None
            self.place += 1
            if key is None:
                self.unread.append(row.line)
                continue
            rest = _bare(row.text[key.end() :])
            value = self.scalar(rest, row, depth) if rest else self.block(indent, depth + 1) or Node(row.line, "")
            pairs.setdefault(_plain(key["key"]), value)
        return found

    def skipped(self, row: _Row) -> Node:
        """Skip a block that is nested too deeply."""
        self.place += 1
        self.unread.append(row.line)
        return Node(row.line, "")

    def scalar(self, text: str, row: _Row, depth: int) -> Node:
        """Parse a value on the line of its key or dash; deeper lines of a scalar belong to it."""
        if _BLOCK.match(text):
            start = row.line + 1
            while self.place < len(self.rows) and self.rows[self.place].indent > _indent(self.lines[row.line]):
                self.place += 1
            end = self.rows[self.place].line if self.place < len(self.rows) else len(self.lines)
            body = self.lines[start:end]
            width = min((_indent(line) for line in body if line.strip()), default=0)
            return Node(start, "\n".join(line[width:] for line in body), 0, text[0], end - 1)
        column = len(self.lines[row.line].rstrip()) - len(text)
        if text[0] in "[{":
            return self.flow(text, row, column, depth)
        several = self.several(text, row, column)
        return several or _flow(text, _Spot([0], [(row.line, column)]), 0, depth)

    def flow(self, text: str, row: _Row, column: int, depth: int) -> Node:
        """Parse a list or mapping in brackets, on one line or several."""
        text = _COMMENT.sub("", text).rstrip() if text[-1:] not in {"]", "}"} else text
        parts, starts, places, size = [text], [0], [(row.line, column)], len(text) + 1
        missing, place = _open(text), self.place
        while missing > 0 and place < min(len(self.rows), self.place + _CONTINUED):
            below = self.rows[place]
            if below.indent <= row.indent and below.text[0] not in "]}":
                break
            part = _COMMENT.sub("", below.text).rstrip() if "#" in below.text else below.text
            parts.append(part)
            starts.append(size)
            places.append((below.line, below.indent))
            size += len(part) + 1
            missing += _open(part)
            place += 1
        if missing > 0 or len(parts) == 1:
            return _flow(text, _Spot([0], [(row.line, column)]), 0, depth)
        self.place = place
        found = _flow(" ".join(parts), _Spot(starts, places), 0, depth)
        found.last = places[-1][0]
        return found

    def several(self, text: str, row: _Row, column: int) -> Node | None:
        """Parse a scalar whose further lines are indented deeper than its key or dash; None if it has a single line."""
        quote = _CLOSED.get(text[0])
        if quote is not None:
            return None if quote.match(text) else self.quoted(text, row, column)
        if self.place >= len(self.rows) or _COMMENT.search(text):
            return None
        parts, place = [text], self.place
        while place < min(len(self.rows), self.place + _CONTINUED) and self.rows[place].indent > row.indent:
            below = self.rows[place].text
            if _KEY.match(below) or _is_item(below):
                break
            parts.append(below)
            place += 1
        if len(parts) == 1:
            return None
        self.place = place
        return Node(row.line, _plain(" ".join(parts)), column, "", self.rows[place - 1].line)

    def quoted(self, text: str, row: _Row, column: int) -> Node | None:
        """Parse a quoted scalar that ends on a later line; ``#`` is no comment in it."""
        parts, number = [text], row.line + 1
        while number < min(len(self.lines), row.line + _CONTINUED):
            line = self.lines[number]
            if line.strip() and _indent(line) <= row.indent:
                return None
            parts.append(line.strip())
            if _ends(line, text[0]):
                break
            number += 1
        whole = " ".join(parts)
        closed = _CLOSED[text[0]].match(whole)
        if closed is None:
            return None
        while self.place < len(self.rows) and self.rows[self.place].line <= number:
            self.place += 1
        return Node(row.line, _plain(whole), column, text[0], number)


def _ends(line: str, quote: str) -> bool:
    """True if a line contains the closing quote of a scalar of several lines."""
    if quote == "'":
        return line.count("'") % 2 == 1
    return any(found[0] == '"' for found in re.finditer(r'\\.|"', line))


def _bare(text: str) -> str:
    """A value without the anchor or tag before it."""
    return text[found.end() :] if text[:1] in {"&", "!"} and (found := _PROPERTIES.match(text)) else text


def _rows(lines: Sequence[str]) -> Iterator[_Row]:
    """The lines that are neither blank nor comments."""
    for number, line in enumerate(lines[:LINES]):
        text = line.strip()
        if text and not text.startswith(("#", "---", "...", "%YAML")):
            yield _Row(_indent(line), number, text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_item(text: str) -> bool:
    return text == "-" or text.startswith("- ")


def _flow(text: str, spot: _Spot, offset: int, depth: int) -> Node:
    """Parse a scalar, or a list or mapping in brackets; ``offset`` is its start in the text that ``spot`` maps."""
    offset += len(text) - len(text.lstrip())
    text = text.strip()
    line, column = spot.of(offset)
    if text[:1] not in {"[", "{"}:
        return Node(line, _plain(text), column, text[0] if text[:1] in {'"', "'"} else "")
    inner = text[1:-1] if text[-1:] in {"]", "}"} else text[1:]
    parts = [] if depth > DEPTH else _split(inner)
    if text[0] == "[":
        return Node(line, [_flow(part, spot, offset + 1 + at, depth + 1) for at, part in parts], column)
    pairs: dict[str, Node] = {}
    for at, part in parts:
        key = _KEY.match(part) or re.match(r"(?P<key>\"[^\"]{0,300}\"|'[^']{0,300}')\s*:", part)
        if key:
            value = _flow(part[key.end() :], spot, offset + 1 + at + key.end(), depth + 1)
            pairs.setdefault(_plain(key["key"]), value)
    return Node(line, pairs, column)


def _open(text: str) -> int:
    """The number of brackets opened minus closed on a line, outside of quotes."""
    bare = _QUOTED.sub("", text) if '"' in text or "'" in text else text
    return sum(map(bare.count, "[{")) - sum(map(bare.count, "]}"))


def _split(text: str) -> list[tuple[int, str]]:
    """The parts between commas outside of quotes and inner brackets, each with its offset."""
    parts, start, inside, quote = [], 0, 0, ""
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{":
            inside += 1
        elif letter in "]}":
            inside -= 1
        elif letter == "," and inside == 0:
            parts.append((start, text[start:place]))
            start = place + 1
    parts.append((start, text[start:]))
    return [(at + len(part) - len(part.lstrip()), part.strip()) for at, part in parts if part.strip()]


def _plain(text: str) -> str:
    """The scalar without its quotes; a plain one without a trailing comment."""
    text = text.strip()
    if text[:1] == '"':
        end = _CLOSED['"'].match(text)
        try:
            return str(json.loads(end[0])) if end else text.strip('"')
        except ValueError:
            return end[0].strip('"') if end else text
    if text[:1] == "'":
        end = _CLOSED["'"].match(text)
        return end[0][1:-1].replace("''", "'") if end else text.strip("'")
    return _COMMENT.sub("", text).strip()
