"""What programs, terminals and mailers put around the characters of a line, taken off with the way back.

A secret is looked for in each view of a line, and hidden in the line as it is.
"""

from __future__ import annotations

import base64
import binascii
import functools
import html
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ncdiag.base.patterns import lazy_regex
from ncdiag.formats.secrets.tokens import Span

__all__ = ["CELL", "View", "as_text", "views"]

CELL = "\t"
"""What a view has in place of the tags between two texts."""
_TAG = (
    r"<(?:/|!--)?(?:t[drh]|table|tbody|thead|b|i|em|strong|code|pre|span|div|p|br|li|ul|ol|dl|dt|dd|a|font|kbd|tt|var"
    r"|samp|small|u|h\d|name|value|property|entry|string|key|param|item|input)(?:\s[^<>]{0,300})?/?>"
)
"""A tag of HTML, or of XML around a name or a value; a placeholder such as ``<secret>`` is none."""
_ROUNDS = 2
"""Number of times that a line may be encoded."""


class View(NamedTuple):
    """A line without a layer: its ``text``, and for each character (begin, end) of what it is in the line."""

    text: str
    begins: Sequence[int]
    ends: Sequence[int]

    def span(self, span: Span) -> Span:
        """The place in the line of a place in the text."""
        begin, end = span
        return (self.begins[begin], self.ends[end - 1]) if begin < end else (0, 0)


class _Layer(NamedTuple):
    """``marks``: one of them is in a line with this layer. ``made`` is what stands for a match of ``form``.

    ``where``: what the line must have besides.
    """

    marks: tuple[str, ...]
    form: re.Pattern[str]
    made: Callable[[re.Match[str]], str]
    where: re.Pattern[str] | None = None


def _character(found: re.Match[str]) -> str:
    code = int(found["code"], 16)
    return chr(code) if 0x20 <= code < 0x7F else found[0]  # noqa: PLR2004  (printable ASCII)


def _entity(found: re.Match[str]) -> str:
    made = html.unescape(found[0])
    return made if len(made) == 1 and made.isprintable() else " "


_LAYERS = (
    _Layer(
        ("\x1b", "^[", "m"),
        lazy_regex(r"(?:\x1b|\^\[|\\(?:e|033|x1b|u001b))\[[0-9;?]{0,20}[A-Za-z]|(?<!\w)\[[0-9;]{1,8}m"),
        lambda _: "",
    ),
    _Layer(("%",), lazy_regex(r"%(?P<code>[2-7][0-9A-Fa-f])"), _character),
    _Layer(("=3D",), lazy_regex(r"=(?P<code>3D)"), _character),
    _Layer(("\\u00", "\\x"), lazy_regex(r"\\(?:u00|x)(?P<code>[2-7][0-9A-Fa-f])"), _character),
    _Layer(("\\",), lazy_regex(r"\\{1,7}(?P<quote>[\"'/])"), lambda found: found["quote"]),
    _Layer(
        ('""',),
        lazy_regex('""'),
        lambda _: '"',
        lazy_regex(
            r'(?:^|,)"(?:[^"]|""){0,4000}[^",]""[^,"](?:[^"]|""){0,4000}"(?:,|\s*$)|(?:^|,)"""(?:[^"]|""){0,4000}"(?:,|\s*$)'
        ),
    ),
    _Layer(("&",), lazy_regex(r"&(?:amp|lt|gt|quot|apos|nbsp|#\d{2,5}|#x[0-9a-fA-F]{2,4});"), _entity),
    _Layer(("</", "/>"), lazy_regex(rf"{_TAG}(?:\s{{0,80}}{_TAG}){{0,20}}", re.IGNORECASE), lambda _: CELL),
)


def views(line: str) -> Iterator[View]:
    """The line with one layer after the other taken off, as far as it has any; not the line itself."""
    view: View | None = None
    for _ in range(_ROUNDS):
        before = view
        for layer in _LAYERS:
            text = line if view is None else view.text
            if any(mark in text for mark in layer.marks) and (layer.where is None or layer.where.search(text)):
                made = _without(layer, text, view)
                if made is not None:
                    view = made
                    yield view
        if view is before:
            return


def _without(layer: _Layer, text: str, view: View | None) -> View | None:
    """A view without the layer; None if the text has none."""
    pieces: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    place = 0
    for found in layer.form.finditer(text):
        made = layer.made(found)
        if made == found[0]:
            continue
        begin, end = found.span()
        pieces += [text[place:begin], made]
        begins += [*range(place, begin), *([begin] * len(made))]
        ends += [*range(place + 1, begin + 1), *([end] * len(made))]
        place = end
    if not pieces:
        return None
    pieces.append(text[place:])
    begins += range(place, len(text))
    ends += range(place + 1, len(text) + 1)
    if view is not None:
        begins, ends = [view.begins[at] for at in begins], [view.ends[at - 1] for at in ends]
    return View("".join(pieces), begins, ends)


@functools.lru_cache(maxsize=1 << 12)
def as_text(word: str) -> str:
    """The text that a word in base64 encodes; empty if it encodes none."""
    try:
        made = base64.b64decode(word + "=" * (-len(word) % 4), validate=True).decode("ascii")
    except (ValueError, binascii.Error):
        return ""
    return made if made.replace("\n", "").replace("\t", "").isprintable() else ""
