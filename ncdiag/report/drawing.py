"""Parts of SVG: boxes and words at absolute positions. Every text is escaped, and cut to fit."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.language import cells
from ncdiag.report.sanitize import one_line

LETTER = 6.6
"""Width of a letter in pixels, a little more than a monospaced one of size 11 has."""
_NOT_XML = lazy_regex(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|\ufffe|\uffff")


class Box(msgspec.Struct, frozen=True):
    """Position and size, in pixels."""

    x: float
    y: float
    width: float
    height: float


_STYLE = "text{font:11px monospace;fill:#1b1f24}.title{font-size:15px;font-weight:bold}.head{font-weight:bold}"
_ON_WHITE = "@media (prefers-color-scheme:dark){svg{background:#fff}}"


def document(size: tuple[float, float], title: str, about: str, style: str, parts: Iterable[str]) -> str:
    """A whole SVG document of this width and height; ``about``, if given, describes it in words."""
    wide, high = (f"{pixels:g}" for pixels in size)
    place = f'width="{wide}" height="{high}" viewBox="0 0 {wide} {high}" role="img"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {place}>'
    told = [f"<title>{xml(title)}</title>"]
    if about:
        head = head.removesuffix(">") + ' aria-labelledby="title about">'
        told = [f'<title id="title">{xml(title)}</title>', f'<desc id="about">{xml(about)}</desc>']
    return "\n".join([head, *told, f"<style>{_STYLE}{style}{_ON_WHITE}</style>", *parts, "</svg>", ""])


def rect(box: Box, style: str, about: str | None) -> str:
    """A box; ``about`` is its tooltip and is read by screen readers."""
    title = f"<title>{xml(about)}</title>" if about else ""
    place = f'x="{box.x:g}" y="{box.y:g}" width="{box.width:g}" height="{box.height:g}"'
    return f'<rect class="{style}" {place}>{title}</rect>'


def write(x: float, y: float, text: str, style: str) -> str:
    """A line of text."""
    kind = f' class="{style}"' if style else ""
    return f'<text{kind} x="{x:g}" y="{y:g}">{xml(text)}</text>'


def cut(text: str, width: float) -> str:
    """The text as far as it fits into ``width`` pixels."""
    room = max(1, int(width / LETTER))
    return text if cells.width(text) <= room else text[: max(1, cells.fit(text, room - 1))] + "\u2026"


def xml(text: str) -> str:
    """Text of the input as XML: markup is escaped, characters that XML does not allow are removed."""
    return escape(_NOT_XML.sub("", one_line(text)))
