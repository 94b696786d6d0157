"""Templates of messages with typed holes: ``Call to connect returned {error:text}, retrying``.

A hole is ``{name:type}``. A literal ``{`` is written ``{{``; a single ``}`` is literal. `HOLES` lists the types.
Templates are written from the format strings of programs, one for each release with a different wording.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

from ncdiag.base.patterns import lazy_regex

Value = int | float | str
"""The value of a hole after conversion."""

LIMIT = 4096
"""The number of characters of a text that are matched.

NCCL cut messages at 1 kB until 2.28, longer ones are hostile.
"""


class HoleType(msgspec.Struct, frozen=True):
    """A type of hole: the pattern of its text, an example, its conversion, and the text around it to be dropped."""

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
"""The types of holes, by name.

int (optional sign), hex (``0x`` optional), float, word (no blanks), text (anything, as short as possible), addr
(``10.0.0.1<45678>``, ``host<port>``, ``10.0.0.1:45678``, ``fe80::1%eth0`` of a page that lost the port, or a person's
placeholder: ``xxx``, ``<address>``), ip, gid, name (of a device, interface or file, without blanks and punctuation),
quoted (the quotes are not kept).
"""


class Hole(msgspec.Struct, frozen=True):
    """A hole of a template."""

    name: str
    type: str


Part = str | Hole

_PIECE = lazy_regex(r"\{\{|\{([^{}]*)\}|\{|[^{]+")
_HOLE = lazy_regex(r"([a-z][a-z0-9_]*):([a-z]+)$")


def parse(text: str) -> tuple[Part, ...]:
    """Split a template into literal texts and holes; raises ValueError with a sentence when it is malformed."""
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


_COLON = lazy_regex(r"(?<=\w)(?:\\s\+)?:\\s\+")
"""A colon after a word and before a blank, in the pattern of a literal; after a hole, the blank ends the hole."""


def compile_parts(parts: tuple[Part, ...]) -> re.Pattern[str]:
    """Return the pattern of a template, anchored at its start; blanks may vary in number, or be missing before a colon.

    A ``text`` hole ends at the first position where the text after it (up to the next ``text`` hole) matches, the last
    one at the last such position, and there is no backtracking: it is a lookahead with a back reference. A hostile line
    therefore costs at most the square of `LIMIT`, not a higher power.
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
    """Return where a text that does not match differs from the template: the column, and the rest of the template."""
    for beginning, rest in _beginnings(parts):
        found = compile_parts(beginning).match(text)
        if found is not None:
            return found.end(), written(rest)
    return 0, written(parts)


def _beginnings(parts: tuple[Part, ...]) -> Iterator[tuple[tuple[Part, ...], tuple[Part, ...]]]:
    """Split a template in two in every way, the longest first part first; no first part ends in a ``text`` hole."""
    for index, part in reversed(list(enumerate(parts))):
        before, behind = parts[:index], parts[index + 1 :]
        if isinstance(part, str):
            for length in range(len(part), 0, -1):
                rest = (part[length:],) if length < len(part) else ()
                yield (*before, part[:length]), (*rest, *behind)
        elif part.type != "text":
            yield (*before, part), behind


def written(parts: tuple[Part, ...]) -> str:
    """Return the text of a template from its parts; the inverse of `parse`."""
    return "".join(p.replace("{", "{{") if isinstance(p, str) else f"{{{p.name}:{p.type}}}" for p in parts)


def example(parts: tuple[Part, ...]) -> str:
    """Return a line of this template with an example value in each hole, in quotes where the type requires them."""
    return "".join(part if isinstance(part, str) else _shown(HOLES[part.type]) for part in parts)


def _shown(hole: HoleType) -> str:
    quote = "'" if hole.around else ""
    return f"{quote}{hole.example}{quote}"


def literal_length(parts: tuple[Part, ...]) -> int:
    """Return the number of literal characters of a template, a measure of how specific it is."""
    return sum(len(part) for part in parts if isinstance(part, str))


_WORD = lazy_regex(r"[A-Za-z0-9_]+")


def words(text: str) -> list[str]:
    """Return the words of a text, as the index splits them."""
    return _WORD.findall(text)


def whole_words(parts: tuple[Part, ...]) -> list[str]:
    """Return words that every matching text contains as whole words: those of literals that touch no hole."""
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
