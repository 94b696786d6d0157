"""Pieces of SVG: boxes and words at absolute places. Every text is escaped, and cut where it has to fit."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape

import msgspec

from ncdiag.report.sanitize import one_line

LETTER = 6.6
"""Width of a letter, a little more than a monospaced one has at 11 pixels."""
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\ufffe|\uffff")


class Box(msgspec.Struct, frozen=True):
    """A place, in pixels."""

    x: float
    y: float
    width: float
    height: float


def rect(box: Box, style: str, about: str | None) -> str:
    """A box; ``about`` is shown when one points at it, and read aloud."""
    title = f"<title>{xml(about)}</title>" if about else ""
    place = f'x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}"'
    return f'<rect class="{style}" {place}>{title}</rect>'


def write(x: float, y: float, text: str, style: str) -> str:
    """A line of text."""
    kind = f' class="{style}"' if style else ""
    return f'<text{kind} x="{x:g}" y="{y:g}">{xml(text)}</text>'


def cut(text: str, width: float) -> str:
    """The text as far as it fits into so many pixels."""
    room = max(1, int(width / LETTER))
    return text if len(text) <= room else text[: max(1, room - 1)] + "\u2026"


def xml(text: str) -> str:
    """Text of the input as XML: what would act is escaped, what XML does not allow is left out."""
    return escape(_NOT_XML.sub("", one_line(text)))
