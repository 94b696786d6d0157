r"""The one sanitiser that every text from the input passes on its way out.

A log can hold terminal escapes (retitle, clear, paste back), control characters of the C1 range, bidirectional controls
that show text in another order than it is, invisible characters, and line ends that forge lines of a report. They are
shown as escapes: ``\x1b``, ``\u202e``.
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex

_CONTROLS = (
    "\x00-\x08\x0b-\x1f"  # C0 but tab and newline
    "\x7f-\x9f"  # DEL and C1
    "\u00ad\u180e\u200b-\u200d\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # invisible
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidirectional
    "\u2028\u2029"  # line ends of Unicode
    "\ud800-\udfff"  # lone surrogates cannot be encoded
)
_UNSAFE = lazy_regex(f"[{_CONTROLS}]")
_UNSAFE_IN_LINE = lazy_regex(f"[{_CONTROLS}\n]")
_LINE_BREAK = {"\n": "\\n", "\r": "\\r"}


def clean(text: str) -> str:
    """Text of several lines: everything unsafe but tab and newline becomes visible."""
    return _UNSAFE.sub(_escape, text)


def one_line(text: str) -> str:
    """Text that has to stay on one line: newlines become visible too, a tab becomes a space."""
    return _UNSAFE_IN_LINE.sub(_escape, text.replace("\t", " "))


def json_escapes(encoded: str) -> str:
    """Escape what is unsafe on a terminal inside of JSON text; the value that a JSON reader sees stays the same."""
    return _UNSAFE.sub(lambda found: json_escape(found[0]), encoded)


def json_escape(character: str) -> str:
    r"""One character as ``\uXXXX``, as two of them (a surrogate pair) beyond U+FFFF."""
    code = ord(character)
    if code > 0xFFFF:  # noqa: PLR2004  (the end of the basic plane)
        code -= 0x10000
        return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
    return f"\\u{code:04x}"


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    if code > 0xFFFF:  # noqa: PLR2004  (the end of the basic plane)
        return f"\\U{code:08x}"
    return _LINE_BREAK.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")  # noqa: PLR2004
