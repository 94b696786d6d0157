"""Parse JSON (with comments and trailing commas) and TOML into nodes with positions; types are not distinguished.

Invalid text ends the value that contains it; nothing is raised. Sources: RFC 8259; code.visualstudio.com,
"JSON with Comments"; toml.io, TOML 1.0.0.
"""

from __future__ import annotations

import bisect
import json
import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.yaml import DEPTH, Node

_PLAIN = lazy_regex(r"[^\s,\[\]{}\"'#=]+")
_STRINGS = {'"': lazy_regex(r'"(?:[^"\\\n]|\\.)*"'), "'": lazy_regex(r"'[^'\n]*'")}
_LONG = lazy_regex(r'"""(?:[^"\\]|\\.|"(?!""))*"""|\'\'\'(?:[^\']|\'(?!\'\'))*\'\'\'', re.DOTALL)
_KEY = lazy_regex(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[\w-]+")
_JSON_BLANK = lazy_regex(r"(?:\s|//[^\n]*|/\*(?s:.*?)(?:\*/|\Z))+")
_TOML_BLANK = lazy_regex(r"(?:\s|#[^\n]*)+")
_INDENT = lazy_regex(r"[ \t]+")
_HEADER = lazy_regex(r"\[{1,2}[ \t]*")
_UNCLOSED = 20
"""Maximum number of unclosed multi-line strings; each requires a search to the end of the text."""


def read_json(text: str) -> Node:
    """The value of the text; an empty mapping if there is none."""
    return _Reader(text, _JSON_BLANK, ":").value(0) or Node(0, {})


def read_toml(text: str) -> Node:
    """The tables of the text; each of an array of tables is a separate key."""
    reader = _Reader(text, _TOML_BLANK, "=")
    root: dict[str, Node] = {}
    table = root
    while reader.more():
        begin = reader.at
        if text[begin] == "[":
            header = _HEADER.match(text, begin)
            reader.at = header.end() if header else begin + 1
            path = reader.path()
            table = _below(root, path, reader.spot(begin)[0])
            if header and header[0].startswith("[["):
                line = reader.spot(begin)[0]
                table = _below(table, [f"table on line {line + 1}"], line)
        else:
            reader.entry(table, 0)
        stop = text.find("\n", reader.at)
        reader.at = len(text) if stop < 0 else stop
    return Node(0, root)


def _below(pairs: dict[str, Node], path: list[str], line: int) -> dict[str, Node]:
    """The mapping at the path of keys, created if missing."""
    for key in path[:DEPTH]:
        node = pairs.setdefault(key, Node(line, {}))
        if not isinstance(node.value, dict):
            return {}
        pairs = node.value
    return pairs


class _Reader:
    def __init__(self, text: str, blank: re.Pattern[str], equals: str) -> None:
        self.text, self.blank, self.equals = text, blank, equals
        self.at = self.unclosed = 0
        self.starts = [0, *(found.end() for found in re.finditer("\n", text))]

    def spot(self, offset: int) -> tuple[int, int]:
        """Index of the line, and column."""
        line = bisect.bisect_right(self.starts, offset) - 1
        return line, offset - self.starts[line]

    def more(self) -> bool:
        """Skip blanks and comments; False at the end."""
        found = self.blank.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.at < len(self.text)

    def value(self, depth: int) -> Node | None:
        """Parse the next value; None if there is none."""
        if not self.more() or depth > DEPTH:
            return None
        line, column = self.spot(self.at)
        letter = self.text[self.at]
        if letter == "{":
            return self.mapping(Node(line, {}, column), depth)
        if letter == "[":
            return self.sequence(Node(line, [], column), depth)
        if self.equals == "=" and self.text.startswith(('"""', "'''"), self.at) and self.unclosed < _UNCLOSED:
            long = _LONG.match(self.text, self.at)
            if long:
                return self.long(long)
            self.unclosed += 1
        found = (_STRINGS.get(letter) or _PLAIN).match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return Node(line, _content(found[0]), column, letter if letter in _STRINGS else "")

    def long(self, found: re.Match[str]) -> Node:
        """Parse a multi-line string, as a block that begins on the line after its quotes."""
        self.at = found.end()
        inside = found[0][3:-3]
        first, column = self.spot(found.start())
        last = self.spot(found.end() - 1)[0]
        if not inside.startswith(("\n", "\r\n")):
            return Node(first, inside, column if first == last else -1, "", last)
        closing = self.text[self.starts[last] : found.end() - 3].strip()
        return Node(first + 1, inside.partition("\n")[2], 0, "|", max(last if closing else last - 1, first + 1))

    def mapping(self, node: Node, depth: int) -> Node:
        """Parse the content of braces."""
        pairs: dict[str, Node] = {}
        node.value = pairs
        self.at += 1
        while self.more() and self.text[self.at] != "}":
            if self.text[self.at] == ",":
                self.at += 1
            elif not self.entry(pairs, depth + 1):
                return node
        self.at += 1
        return node

    def entry(self, pairs: dict[str, Node], depth: int) -> bool:
        """Parse a key with its value; False if there is none."""
        path = self.path()
        if not path or not self.more() or self.text[self.at] != self.equals:
            return False
        line = self.spot(self.at)[0]
        self.at += 1
        value = self.value(depth)
        if value is None:
            return False
        _below(pairs, path[:-1], line).setdefault(path[-1], value)
        return True

    def path(self) -> list[str]:
        """The parts of a key, which TOML separates by dots."""
        keys: list[str] = []
        while found := _KEY.match(self.text, self.at):
            keys.append(_content(found[0]))
            inset = _INDENT.match(self.text, found.end())
            self.at = inset.end() if inset else found.end()
            if self.equals != "=" or self.text[self.at : self.at + 1] != ".":
                break
            inset = _INDENT.match(self.text, self.at + 1)
            self.at = inset.end() if inset else self.at + 1
        return keys

    def sequence(self, node: Node, depth: int) -> Node:
        """Parse the content of brackets."""
        items: list[Node] = []
        node.value = items
        self.at += 1
        while self.more() and self.text[self.at] != "]":
            if self.text[self.at] == ",":
                self.at += 1
                continue
            item = self.value(depth + 1)
            if item is None:
                return node
            items.append(item)
        self.at += 1
        return node


def _content(text: str) -> str:
    """A scalar without its quotes and escapes."""
    if text[:1] == "'":
        return text[1:-1]
    if text[:1] != '"':
        return text
    try:
        return str(json.loads(text))
    except ValueError:
        return text[1:-1]
