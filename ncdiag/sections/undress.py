"""Take off what an editor, a chat or a web page put on every line of a paste; the numbers of lines stay.

Line numbers (``cat -n``, ``grep -n``, ``less -N``), bars at the left edge, escaped ``&lt;`` of HTML, typographic quotes
and blanks. Only a run of lines that agree is undressed: numbers that count up by one, a bar before each line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

LIMIT = 1 << 18
"""Bytes; what was not pasted by hand is longer, and has no such marks."""
ENOUGH = 5
"""Lines that must count up before their numbers are line numbers; fewer when they begin with 1."""
_FROM_ONE = 3
_WITH_TABS = 2
_BARS = 3

_BLANKS = "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_NOTHING = "\u200b\u200c\u200d\u200e\u200f\u2060\u00ad"
_TYPOGRAPHY = str.maketrans(
    {**dict.fromkeys(_BLANKS, " "), **dict.fromkeys(_NOTHING, None), **dict.fromkeys("\u201c\u201d\u201e\u2033", '"'),
     **dict.fromkeys("\u2018\u2019\u201a\u2032", "'")}
)  # fmt: skip
_ENTITY = re.compile(rb"&(?:lt|gt|quot|nbsp|amp|apos|#39|#x27|#34);")
_CHARACTERS = {
    b"&lt;": b"<", b"&gt;": b">", b"&quot;": b'"', b"&nbsp;": b" ", b"&amp;": b"&", b"&apos;": b"'", b"&#39;": b"'",
    b"&#x27;": b"'", b"&#34;": b'"',
}  # fmt: skip
_TAG = re.compile(rb"<[a-z/?!]")
_BAR = re.compile(rb"\s{0,4}(?:\||\xe2\x94\x82|\xe2\x94\x83)(?: |$)")
_TABLE = (b"|", b"\xe2\x94\x82", b"\xe2\x94\x83")
_NUMBER = rb"(?P<number>[1-9]\d{0,6})"
_LAYOUTS = (
    re.compile(rb"(?P<mark> {0,8})" + _NUMBER + rb"(?:\t|$)"),  # cat -n, nl
    re.compile(
        rb"(?P<mark>) {1,8}" + _NUMBER + rb"(?: (?!\||\xe2\x94\x82)|$)"
    ),  # less -N, editors: numbers end in one column
    re.compile(rb"(?P<mark>) {0,8}" + _NUMBER + rb" ?(?:\||\xe2\x94\x82)(?: |$)"),  # bat
    re.compile(rb"(?P<mark>)" + _NUMBER + rb"[:-]"),  # grep -n
    re.compile(rb"(?P<mark>[\w./~+-]{0,120}[./][\w.-]{1,60})[:-]" + _NUMBER + rb"[:-](?!\d{1,9} \[)"),  # grep -Hn
)
_TABBED, _ALIGNED, _, _GREP, _NAMED = _LAYOUTS
_GREP_BREAK = b"--"
_ROW_ZERO = re.compile(rb" {0,8}0[ \t]")
_OTHER = re.compile(rb" ?\Z| \S|[0-9a-fA-F]{2}[:.]")
"""What stands behind a rank's label, an interface's index or in a PCI address, in place of behind a line number."""


def joined(buffers: Iterable[bytes]) -> Iterator[bytes]:
    """The buffers, those of a short text as one: a paste without a line end comes in two."""
    held = b""
    for buffer in buffers:
        if held and len(held) + len(buffer) > LIMIT:
            yield held
            held = b""
        held += buffer
    if held:
        yield held


def undressed(buffer: bytes) -> bytes:
    """The buffer without such marks; the same buffer when there are none."""
    if len(buffer) > LIMIT:
        return buffer
    if not buffer.isascii():
        buffer = buffer.decode("utf-8", "replace").translate(_TYPOGRAPHY).encode()
    if _ENTITY.search(buffer) and not _TAG.search(buffer):
        buffer = _ENTITY.sub(lambda found: _CHARACTERS[found[0]], buffer)
    lines = buffer.split(b"\n")
    if not _strip(lines):
        return buffer
    return b"\n".join(lines)


def _strip(lines: list[bytes]) -> bool:
    """Undress the runs of lines in place; False when there was none."""
    at, changed = 0, False
    while at < len(lines):
        end, rest = max((run(lines, at) for run in _RUNS), key=lambda found: found[0])
        if rest:
            lines[at:end] = rest
            changed = True
        at = max(end, at + 1)
    return changed


def _barred(lines: Sequence[bytes], start: int) -> tuple[int, list[bytes]]:
    """A bar before each line; lines that end with one as well are the rows of a table."""
    rest: list[bytes] = []
    for line in lines[start:]:
        bar = _BAR.match(line)
        if not bar:
            break
        rest.append(line[bar.end() :])
    rows = sum(line.rstrip().endswith(_TABLE) and not line.startswith((*_TABLE, b"+")) for line in rest)
    return start + len(rest), rest if len(rest) >= _BARS and 2 * rows < len(rest) else []


def _numbered(layout: re.Pattern[bytes]) -> Callable[[Sequence[bytes], int], tuple[int, list[bytes]]]:
    def run(lines: Sequence[bytes], start: int) -> tuple[int, list[bytes]]:
        first = layout.match(lines[start])
        if first is None:
            return start, []
        rest: list[bytes] = []
        number, counted = int(first["number"]) - 1, 0
        for line in lines[start:]:
            found = layout.match(line)
            if found and _follows(layout, first, found, number):
                number, counted = int(found["number"]), counted + 1
                rest.append(line[found.end() :])
            elif line.strip() in {b"", _GREP_BREAK} and rest:
                rest.append(b"")
            else:
                break
        if start and _ROW_ZERO.match(lines[start - 1]):
            return start + len(rest), []  # the rows of a matrix of GPUs, which count from 0
        if counted < _enough(layout, first) or (layout is _GREP and all(map(_OTHER.match, rest))):
            return start, []
        return start + len(rest), _dedented(layout, rest)

    return run


def _enough(layout: re.Pattern[bytes], first: re.Match[bytes]) -> int:
    if layout is _TABBED:
        return _WITH_TABS
    return _FROM_ONE if first["number"] == b"1" else ENOUGH


def _follows(layout: re.Pattern[bytes], first: re.Match[bytes], found: re.Match[bytes], number: int) -> bool:
    """Is it the number of the next line (behind a grep of a named file: of a later one), in the same layout?"""
    following = int(found["number"])
    if layout is _NAMED:
        return found["mark"] == first["mark"] and following > number
    return following == number + 1 and (layout is not _ALIGNED or found.end("number") == first.end("number"))


def _dedented(layout: re.Pattern[bytes], rest: list[bytes]) -> list[bytes]:
    """A tab behind the number may have become two blanks."""
    more = layout is _ALIGNED and all(line.startswith(b" ") for line in rest if line.strip())
    return [line[1:] for line in rest] if more else rest


_RUNS = (*map(_numbered, _LAYOUTS), _barred)
