"""The text of a message with typed holes: ``Call to connect returned {error:text}, retrying``.

A hole is ``{name:type}``; a literal ``{`` is written ``{{`` and ``}`` stands for itself. `HOLES` lists the types.
Templates are written from a program's format strings, one for each release that worded them differently.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

Value = int | float | str
"""What a hole can hold once it is converted."""

LIMIT = 4096
"""Characters of a text that are looked at: NCCL cut its messages at 1 kB until 2.28, longer ones are hostile."""


class HoleType(msgspec.Struct, frozen=True):
    """A type of hole: the pattern of its text, an example, its conversion, and what is around it, but not kept."""

    pattern: str
    example: str
    convert: Callable[[str], Value] = str
    around: str = ""


def _hex(text: str) -> int:
    return int(text, 16)


def _float(text: str) -> float:
    return float(text)


HOLES: dict[str, HoleType] = {
    "int": HoleType(r"[-+]?\d{1,20}", "3", int),
    "hex": HoleType(r"(?:0x)?[0-9a-fA-F]{1,32}", "1f", _hex),
    "float": HoleType(r"[-+]?\d{1,20}(?:\.\d{1,20})?(?:[eE][-+]?\d{1,3})?", "1.5", _float),
    "word": HoleType(r"\S{1,300}", "word"),
    "text": HoleType(r".{0,4096}", "some text"),
    "addr": HoleType(
        r"(?:[^\s<>,]{1,128}<[^\s<>]{0,32}>|[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,8}(?:%[\w.-]{1,32})?(?![\w<:])"
        r"|[^\s<>,]{1,128}:\d{1,5}|[xX*#.?:-]{2,45}|<[\w .:-]{1,40}>)",
        "10.0.0.1<45678>",
    ),
    "ip": HoleType(r"[0-9a-fA-F:.]{2,45}(?:%[\w.-]{1,32})?", "10.0.0.1"),
    "gid": HoleType(r"[0-9a-fA-F:.]{2,45}", "fe80::1"),
    "name": HoleType(r"[^\s,;:'\"()\[\]{}<>]{1,128}", "name"),
    "quoted": HoleType(r"""[^'"]{0,512}""", "some text", around=r"""['"]"""),
}
"""int (optional sign), hex (``0x`` optional), float, word (no blanks), text (anything, as short as possible), addr
(``10.0.0.1<45678>``, ``host<port>``, ``10.0.0.1:45678``, ``fe80::1%eth0`` of a page that lost the port, or what a
person put in its place: ``xxx``, ``<address>``), ip,
gid, name (of a device, interface or file, without blanks and punctuation), quoted (the quotes are not kept)."""


class Hole(msgspec.Struct, frozen=True):
    """A hole of a template."""

    name: str
    type: str


Part = str | Hole

_PIECE = re.compile(r"\{\{|\{([^{}]*)\}|\{|[^{]+")
_HOLE = re.compile(r"([a-z][a-z0-9_]*):([a-z]+)$")


def parse(text: str) -> tuple[Part, ...]:
    """Split a template into literal texts and holes; ValueError with a sentence when it is malformed."""
    parts: list[Part] = []
    names: set[str] = set()
    for found in _PIECE.finditer(text):
        if found[1] is None:
            if found[0] == "{":
                msg = "a '{' opens a hole that is not closed; a literal one is written '{{'"
                raise ValueError(msg)
            literal = "{" if found[0] == "{{" else found[0]
            if parts and isinstance(parts[-1], str):
                literal = parts.pop() + literal  # type: ignore[operator]
            parts.append(literal)
            continue
        hole = _HOLE.match(found[1])
        if hole is None or hole[2] not in HOLES:
            msg = f"{found[0]} is not a hole; write {{name:type}} with one of the types {', '.join(HOLES)}"
            raise ValueError(msg)
        if hole[1] in names:
            msg = f"the hole {hole[1]!r} occurs twice"
            raise ValueError(msg)
        names.add(hole[1])
        parts.append(Hole(hole[1], hole[2]))
    return tuple(parts)


_COLON = re.compile(r"(?<=\w)(?:\\s\+)?:\\s\+")
"""A colon behind a word and before a blank, in the pattern of a literal; behind a hole, the blank ends the hole."""


def compile_parts(parts: tuple[Part, ...]) -> re.Pattern[str]:
    """The pattern of a template, anchored at its start; blanks may vary in number, and before a colon be missing.

    A ``text`` hole ends at the first place where what follows it (up to the next ``text`` hole) fits, the last one at
    the last such place, and never looks for another: written as a lookahead with a back reference, so a hostile line
    costs at most the square of `LIMIT`, not a higher power.
    """
    segments: list[tuple[Hole | None, list[str]]] = [(None, [])]
    for part in parts:
        if isinstance(part, str):
            literal = r"\s+".join(re.escape(word) for word in re.split(r"\s+", part))
            segments[-1][1].append(_COLON.sub(r"\\s*:\\s+", literal))
        elif part.type == "text":
            segments.append((part, []))
        else:
            hole = HOLES[part.type]
            segments[-1][1].append(f"{hole.around}(?P<{part.name}>{hole.pattern}){hole.around}")
    pieces = []
    for position, (text_hole, rest) in enumerate(segments):
        follows = "".join(rest)
        if text_hole is None:
            pieces.append(follows)
        elif not follows and position == len(segments) - 1:
            pieces.append(f"(?P<{text_hole.name}>.*)")
        else:
            bare = re.sub(r"\(\?P<\w+>", "(?:", follows)
            reach = ".*" if position == len(segments) - 1 else ".*?"
            pieces.append(f"(?=(?P<{text_hole.name}>{reach}){bare})(?P={text_hole.name}){follows}")
    return re.compile("".join(pieces), re.DOTALL)


def gave_up(parts: tuple[Part, ...], text: str) -> tuple[int, str]:
    """Where a text that does not match leaves the template: the column, and what the template has from there on."""
    for beginning, rest in _beginnings(parts):
        found = compile_parts(beginning).match(text)
        if found is not None:
            return found.end(), written(rest)
    return 0, written(parts)


def _beginnings(parts: tuple[Part, ...]) -> Iterator[tuple[tuple[Part, ...], tuple[Part, ...]]]:
    """A template cut in two, the longest beginning first; none ends in a ``text`` hole, which would take all."""
    for index, part in reversed(list(enumerate(parts))):
        before, behind = parts[:index], parts[index + 1 :]
        if isinstance(part, str):
            for length in range(len(part), 0, -1):
                rest = (part[length:],) if length < len(part) else ()
                yield (*before, part[:length]), (*rest, *behind)
        elif part.type != "text":
            yield (*before, part), behind


def written(parts: tuple[Part, ...]) -> str:
    """The text of a template from its parts, as `parse` reads it."""
    return "".join(p.replace("{", "{{") if isinstance(p, str) else f"{{{p.name}:{p.type}}}" for p in parts)


def example(parts: tuple[Part, ...]) -> str:
    """A line of this template: in each hole the example of its type, in quotes where the type asks for them."""
    return "".join(part if isinstance(part, str) else _shown(HOLES[part.type]) for part in parts)


def _shown(hole: HoleType) -> str:
    quote = "'" if hole.around else ""
    return f"{quote}{hole.example}{quote}"


def literal_length(parts: tuple[Part, ...]) -> int:
    """How many literal characters a template has: the measure of how much it says."""
    return sum(len(part) for part in parts if isinstance(part, str))


_WORD = re.compile(r"[A-Za-z0-9_]+")


def words(text: str) -> list[str]:
    """The words of a text as the index knows them."""
    return _WORD.findall(text)


def whole_words(parts: tuple[Part, ...]) -> list[str]:
    """Words that every matching text holds as whole words: those of the literals that touch no hole."""
    found: list[str] = []
    for position, part in enumerate(parts):
        if not isinstance(part, str):
            continue
        for match in _WORD.finditer(part):
            touches_left = match.start() == 0 and position > 0
            touches_right = match.end() == len(part) and position < len(parts) - 1
            if not touches_left and not touches_right:
                found.append(match[0])
    return found
