"""The part of YAML that manifests are written in, read line by line and tolerantly.

Block mappings and sequences, flow ones on a line, quoted and plain scalars, block scalars (``|``, ``>``), comments.
No anchors, tags, multi-line plain scalars or types: every scalar is the text as written. What does not fit is left
out and told in ``unread``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

DEPTH = 60
LINES = 20_000

_KEY = re.compile(
    r"""(?P<key>"[^"]{0,300}"|'[^']{0,300}'|[^\s:#\[\]{},&*!|>'"%@`-][^:#]{0,300}?|-[^\s:#][^:#]{0,300}?)\s*:(?:\s+|$)"""
)
_BLOCK = re.compile(r"[|>][+-]?\d?[+-]?\s*(?:#.*)?$")
_COMMENT = re.compile(r"(?:^|\s)#.*$")


class Node:
    """A value with the place (index of the line) at which it stands."""

    __slots__ = ("line", "value")

    def __init__(self, line: int, value: str | dict[str, Node] | list[Node]) -> None:
        """``value``: text, a mapping or a list of nodes."""
        self.line, self.value = line, value

    def get(self, *path: str) -> Node | None:
        """The node that the keys lead to; None where there is none."""
        node: Node | None = self
        for key in path:
            node = node.value.get(key) if node is not None and isinstance(node.value, dict) else None
        return node

    def text(self, *path: str) -> str | None:
        """The text that the keys lead to."""
        node = self.get(*path)
        return node.value if node is not None and isinstance(node.value, str) else None

    def items(self, *path: str) -> list[Node]:
        """The list that the keys lead to; empty where there is none."""
        node = self.get(*path)
        return node.value if node is not None and isinstance(node.value, list) else []

    def pairs(self, *path: str) -> dict[str, Node]:
        """The mapping that the keys lead to; empty where there is none."""
        node = self.get(*path)
        return node.value if node is not None and isinstance(node.value, dict) else {}


class _Row:
    __slots__ = ("indent", "line", "text")

    def __init__(self, indent: int, line: int, text: str) -> None:
        self.indent, self.line, self.text = indent, line, text


def load(lines: Sequence[str]) -> tuple[Node, list[int]]:
    """The document of these lines, and the indices of the lines that were not understood."""
    reader = _Reader(lines)
    root = reader.block(-1, 0)
    while reader.place < len(reader.rows):
        reader.unread.append(reader.rows[reader.place].line)
        reader.place += 1
    return root or Node(0, {}), sorted(reader.unread)


class _Reader:
    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.rows = list(_rows(lines))
        self.place = 0
        self.unread: list[int] = []

    def block(self, above: int, depth: int) -> Node | None:
        """The block that is indented deeper than ``above`` (a sequence may be at the same depth as its key)."""
        if self.place >= len(self.rows) or depth > DEPTH:
            return None
        first = self.rows[self.place]
        if first.indent < above or (first.indent == above and not _is_item(first.text)):
            return None
        if _is_item(first.text):
            return self.sequence(first.indent, depth)
        return self.mapping(first.indent, depth) if first.indent > above else None

    def sequence(self, indent: int, depth: int) -> Node:
        """The items at this indentation; what is behind a dash is a block of its own."""
        found = Node(self.rows[self.place].line, [])
        items: list[Node] = []
        found.value = items
        while self.place < len(self.rows):
            row = self.rows[self.place]
            if row.indent != indent or not _is_item(row.text):
                break
            rest = row.text[1:].lstrip()
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
        """The keys at this indentation; the first value of a key counts."""
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
            rest = row.text[key.end() :]
            value = self.scalar(rest, row, depth) if rest else self.block(indent, depth + 1) or Node(row.line, "")
            pairs.setdefault(_plain(key["key"]), value)
        return found

    def skipped(self, row: _Row) -> Node:
        """A block too deep to be read."""
        self.place += 1
        self.unread.append(row.line)
        return Node(row.line, "")

    def scalar(self, text: str, row: _Row, depth: int) -> Node:
        """A value on the line of its key or dash; the lines of a block scalar belong to it."""
        if _BLOCK.match(text):
            start = row.line + 1
            while self.place < len(self.rows) and self.rows[self.place].indent > _indent(self.lines[row.line]):
                self.place += 1
            end = self.rows[self.place].line if self.place < len(self.rows) else len(self.lines)
            body = self.lines[start:end]
            width = min((_indent(line) for line in body if line.strip()), default=0)
            return Node(start, "\n".join(line[width:] for line in body))
        return _flow(text, row.line, depth)


def _rows(lines: Sequence[str]) -> Iterator[_Row]:
    """The lines that say something."""
    for number, line in enumerate(lines[:LINES]):
        text = line.strip()
        if text and not text.startswith(("#", "---", "...", "%YAML")):
            yield _Row(_indent(line), number, text)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _is_item(text: str) -> bool:
    return text == "-" or text.startswith("- ")


def _flow(text: str, line: int, depth: int) -> Node:
    """A scalar, or a list or mapping on one line."""
    text = text.strip()
    if text[:1] not in {"[", "{"}:
        return Node(line, _plain(text))
    text = _COMMENT.sub("", text).rstrip() if text[-1:] not in {"]", "}"} else text
    inner = text[1:-1] if text[-1:] in {"]", "}"} else text[1:]
    parts = [] if depth > DEPTH else _split(inner)
    if text[0] == "[":
        return Node(line, [_flow(part, line, depth + 1) for part in parts])
    pairs: dict[str, Node] = {}
    for part in parts:
        key = _KEY.match(part) or re.match(r"(?P<key>\"[^\"]{0,300}\"|'[^']{0,300}')\s*:", part)
        if key:
            pairs.setdefault(_plain(key["key"]), _flow(part[key.end() :], line, depth + 1))
    return Node(line, pairs)


def _split(text: str) -> list[str]:
    """The parts between the commas that are in no quotes and no inner brackets."""
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
            parts.append(text[start:place].strip())
            start = place + 1
    return [part for part in [*parts, text[start:].strip()] if part]


def _plain(text: str) -> str:
    """The scalar without its quotes; a plain one without a comment behind it."""
    text = text.strip()
    if text[:1] == '"':
        end = re.match(r'"(?:[^"\\]|\\.)*"', text)
        try:
            return str(json.loads(end[0])) if end else text.strip('"')
        except ValueError:
            return end[0].strip('"') if end else text
    if text[:1] == "'":
        end = re.match(r"'(?:[^']|'')*'", text)
        return end[0][1:-1].replace("''", "'") if end else text.strip("'")
    return _COMMENT.sub("", text).strip()
