"""Masks that convert text to its inner form with the same length, so that each place is valid in the file.

Templates (``{{ }}`` of Helm and Jinja, ``{% %}``) become variables with unknown values; the escapes, line ends and
separators of YAML around a command become what they mean to the shell.

Sources: Go text/template, Jinja template designer documentation, YAML 1.2.2 sections 6.5 and 7.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ncdiag.base.patterns import lazy_regex

FILLER = "\ue000"
"""A character without meaning that fills the rest of an escape (from Unicode's private use area)."""

_OPENING = lazy_regex(r"\{\{|\{%")
_COMMENT = lazy_regex(r"\{\{-?\s{0,8}/\*")
_CLOSING = {"{{": "}}", "{%": "%}"}
_LINE = 300
"""Characters on each side of a template that are searched for the ends of its line."""
_ESCAPE = lazy_regex(r"\\(?P<letter>[^\n]|\n[ \t]*)")
_WRITTEN = {"n": " \n", "r": " \n", "t": "  "}
_CONTINUED = lazy_regex(r"\\\r?\n|\r?\n")


def without_templates(text: str) -> str:
    """The text with templates as variables; lines that contain nothing else, and comments, are blank."""
    if "{{" not in text and "{%" not in text:
        return text
    pieces: list[str] = []
    position = start = 0
    ends = dict.fromkeys(_CLOSING, 0)
    while found := _OPENING.search(text, position):
        sign = found[0]
        if ends[sign] < found.end():
            closing = text.find(_CLOSING[sign], found.end())
            ends[sign] = closing if closing >= 0 else len(text)
        if ends[sign] == len(text):
            position = found.end()
            continue
        end = ends[sign] + 2
        within = text[found.start() : end]
        if "\n" in within and not _COMMENT.match(within):
            position = found.end()
            continue
        blank = "\n" in within or sign == "{%" or _is_alone(text, found.start(), end)
        pieces += [text[start : found.start()], re.sub(r"[^\n]", " ", within) if blank else _variable(len(within))]
        start = position = end
    return "".join([*pieces, text[start:]])


def _variable(length: int) -> str:
    return "${" + "_" * (length - 3) + "}"


def _is_alone(text: str, start: int, end: int) -> bool:
    """True if the line contains only templates (the last of which ends on it)."""
    before = text[max(0, start - _LINE) : start].rpartition("\n")
    after = text[end : end + _LINE].partition("\n")
    if not (before[1] or start <= _LINE) or not (after[1] or end + _LINE >= len(text)):
        return False
    rest = after[0].strip()
    return not before[2].strip() and (not rest or (rest[:2] == "{{" and rest[-2:] == "}}"))


def applied(text: str, masks: Iterable[tuple[int, str]]) -> str:
    """The text with each mask applied at its place; of two that overlap, the first is used."""
    pieces: list[str] = []
    position = 0
    for start, mask in sorted(masks):
        if start >= position:
            pieces += [text[position:start], mask]
            position = start + len(mask)
    return "".join([*pieces, text[position:]])


def quoted(text: str, quote: str) -> str:
    """The content of a quoted YAML scalar with its escapes resolved; line ends become blanks."""
    if quote == '"':
        return one_line(_ESCAPE.sub(_unescaped, text))
    return one_line(text.replace("''", FILLER + "'"))


def quoted_in_shell(text: str) -> str:
    """The content of double quotes in the shell with escapes resolved (POSIX.1-2017, Shell, section 2.2.3)."""
    return re.sub(r'\\(?=["\\])', FILLER, text)


def _unescaped(found: re.Match[str]) -> str:
    letter = found["letter"]
    if letter[0] == "\n":
        return FILLER * len(found[0])
    return _WRITTEN.get(letter, FILLER + letter)


def one_line(text: str) -> str:
    """The lines of a scalar joined to one line, without backslashes at line ends."""
    return _CONTINUED.sub(lambda found: " " * len(found[0]), text)


def folded(text: str) -> str:
    """The lines of a ``>`` scalar: a line end becomes a blank, except next to an empty or deeper line."""
    lines = text.split("\n")
    width = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    kept = [not line.strip() or line[width : width + 1] in {" ", "\t"} for line in lines]
    pieces = []
    for number, line in enumerate(lines):
        last = number + 1 == len(lines)
        joined = not last and not kept[number] and not kept[number + 1]
        body = f"{line[:-1]} " if joined and line.endswith("\\") else line
        pieces.append(body + ("" if last else " " if joined else "\n"))
    return "".join(pieces)
