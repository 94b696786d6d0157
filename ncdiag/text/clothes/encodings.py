"""Decode what mailers, browsers and programs encode: base64, quoted-printable, URLs, JSON, literals, CDATA, diffs."""

from __future__ import annotations

import ast
import base64
import binascii
import itertools
import quopri
import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote

import msgspec

from ncdiag.base.patterns import lazy_regex

_PART = lazy_regex(
    r"^Content-Transfer-Encoding:[ \t]*(?P<name>base64|quoted-printable)[ \t]*\n"
    r"(?:[^\n]{1,998}\n){0,40}?[ \t]*\n(?P<body>.*?)(?=\n--[^\s]{1,72}[ \t]*(?:\n|\Z)|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
"""A part of a mail: its header up to an empty line, and its body up to a boundary."""
_SOFT_END = lazy_regex(r"^[^\n]{71,75}=\n", re.MULTILINE)
"""A long line goes on in the next."""
_QUOTED_WIDTH = 76
"""Maximum length of a line of quoted-printable text (RFC 2045)."""
_UNESCAPED = lazy_regex(r"=(?![0-9A-F]{2}|\n)")
_BASE64 = lazy_regex(r"(?P<name>[\w.-]{1,60}: )?(?P<code>[A-Za-z0-9+/]{16,}={0,2})")
_WIDE, _ALONE = 40, 100
"""Characters of base64 in each of several lines, and in a single line."""
_ENCODED_END = lazy_regex(r"%(?:25){0,3}0A", re.IGNORECASE)
_BLANKS = 4
"""Encoded blanks of a text in one word."""
_WORD = lazy_regex(r"\S+")
_FORM_FIELD = lazy_regex(r"[a-z_]{1,20}=(?!=)")
_LITERAL = lazy_regex(
    r"\b[bru]?'(?:[^'\\\n]|\\.)*'|\b[bru]?\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""
)
_OPENS = lazy_regex(r"(?:\b[bru])?(?P<mark>['\"])")
_AROUND = lazy_regex(r"[\s\[\](){},:b]*")
_CDATA = lazy_regex(
    r"(?:<[\w:.-]{1,60}(?:\s[^<>]{0,200})?>\s{0,40})?<!\[CDATA\[|\]\]>(?:\s{0,40}</[\w:.-]{1,60}>)?",
)
_ADDED = lazy_regex(
    r"^--- [^\n]*\n\+\+\+ [^\n]*\n@@ -0,0 \+1(?:,\d{1,7})? @@[^\n]*\n(?P<lines>(?:\+[^\n]*\n?)+)", re.MULTILINE
)
NAMES = frozenset(
    {"message", "log", "line", "logentry", "text", "msg", "textpayload", "content", "body", "log_s", "logmessage",
     "@message", "raw", "_raw", "rawdata"}
)  # fmt: skip
"""Names under which services store a line of a log, in lower case."""
_ENDS = 2
"""Line ends that a text in a string has at least."""
_WIDEST = 8000
"""Characters of a line in a Python literal, at most."""
_LAYERS = 4
_ITEMS = 3
"""Strings of a list that are its lines."""
_SHORT = 12
"""Average length of a line of output, at least; names and numbers of a list are shorter."""


def decoded(text: str) -> str | None:
    """The text without one encoding; None if it has none.

    Parts of a mail and lines of base64 are decoded wherever they are, anything else only if it is most of the text.
    """
    for decoder in (_mail, _base64_lines, _quoted_printable, _url, _json, _literals, _cdata, _diff):
        bare = decoder(text)
        if bare is not None and bare != text:
            return bare
    return None


def without_base64(text: str) -> str:
    """The text with its parts of a mail and its lines of base64 decoded, within each other too."""
    for _ in range(_LAYERS):
        bare = _mail(text) or text
        bare = _base64_lines(bare) or bare
        if bare == text:
            break
        text = bare
    return text


def _mail(text: str) -> str | None:
    if "-transfer-encoding:" not in text.lower():
        return None
    return _PART.sub(_body, text)


def _body(part: re.Match[str]) -> str:
    body = part["body"]
    plain = _of_base64("".join(body.split())) if part["name"].lower() == "base64" else _of_quoted(body)
    return part[0] if plain is None else f"\n{plain}"


def _quoted_printable(text: str) -> str | None:
    soft = len(_SOFT_END.findall(text))
    if (soft < _ENDS and "=3D" not in text) or _UNESCAPED.search(text):
        return None
    return _of_quoted(text) if max(map(len, text.split("\n"))) <= _QUOTED_WIDTH else None


def _of_quoted(text: str) -> str:
    return quopri.decodestring(text.encode()).decode("utf-8", "replace")


def _base64_lines(text: str) -> str | None:
    """The text with each block of lines that are the base64 of a text decoded."""
    lines = text.split("\n")
    found = [_BASE64.fullmatch(line.strip()) for line in lines]
    if not any(found):
        return None
    result, at, changed = list[str](), 0, False
    for start, end in _code_blocks(found):
        plain = _of_base64("".join(each["code"] for each in found[start:end] if each))
        if plain is not None:
            result += [*lines[at:start], *plain.removesuffix("\n").split("\n")]
            at, changed = end, True
    return "\n".join([*result, *lines[at:]]) if changed else None


def _code_blocks(found: Sequence[re.Match[str] | None]) -> Iterator[tuple[int, int]]:
    """(start, end) of runs of lines of base64, all of one width but for the last."""
    at = 0
    while at < len(found):
        first = found[at]
        if first is None:
            at += 1
            continue
        end, width = at + 1, len(first["code"])
        while end < len(found):
            following, last = found[end], found[end - 1]
            if (
                not following
                or following["name"]
                or not last
                or len(last["code"]) != width
                or len(following["code"]) > width
            ):
                break
            end += 1
        if width >= (_WIDE if end > at + 1 else _ALONE):
            yield at, end
        at = end


def _of_base64(code: str) -> str | None:
    """The text that was encoded, be it cut; None if it was neither a text of several lines nor JSON."""
    if not code.isascii():
        return None
    code = code.rstrip("=")
    code = code[:-1] if len(code) % 4 == 1 else code
    try:
        text = base64.b64decode(code + "=" * (-len(code) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    is_text = ("\n" in text or text.startswith("{")) and all(
        sign.isprintable() or sign in "\n\t\r\x1b" for sign in text
    )
    return text if is_text else None


def _url(text: str) -> str | None:
    """The text, if most of it is words with encoded blanks and line ends."""
    words = text.split()
    if len(words) == 1 and text.count("%20") >= _BLANKS and "://" not in text:
        return unquote(text)
    if len(_ENCODED_END.findall(text)) < _ENDS:
        return None
    if 2 * sum(map(len, filter(_is_encoded, words))) < sum(map(len, words)):
        return None
    return _WORD.sub(lambda word: _unquoted(word[0]) if _is_encoded(word[0]) else word[0], text)


def _is_encoded(word: str) -> bool:
    return len(_ENCODED_END.findall(word)) >= _ENDS


def _unquoted(word: str) -> str:
    field = _FORM_FIELD.match(word)
    bare = word[field.end() :] if field else word
    return unquote(bare if "%20" in bare or "%2520" in bare else bare.replace("+", "%20"))


def _json(text: str) -> str | None:
    """The strings of several lines, and the lists of lines, in a JSON value that is the whole text."""
    whole = text.strip()
    if not whole.startswith(("{", "[", '"')):
        return None
    try:
        value = msgspec.json.decode(whole)
    except (msgspec.MsgspecError, RecursionError):
        return None
    if isinstance(value, dict) and "apiVersion" in value:
        return None
    found = list(_texts(value))
    if 2 * sum(map(len, found)) < len("".join(whole.split())):
        return None
    return "\n".join(part.removesuffix("\n") for part in found) + "\n"


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401
    if isinstance(value, str):
        if value.count("\n") >= _ENDS or value.count("\\n") >= _ENDS or (len(value) >= _ALONE and _of_base64(value)):
            yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            is_line = (
                name.lower() in NAMES and isinstance(inner, str) and len(inner) >= _ITEMS * _SHORT and " " in inner
            )
            yield from (inner,) if is_line else _texts(inner)
    elif isinstance(value, list):
        lines = [item for item in value if isinstance(item, str)]
        if lines and len(lines) == len(value) and _are_lines(lines):
            yield "\n".join(line.removesuffix("\n") for line in lines)
        else:
            yield from itertools.chain.from_iterable(map(_texts, value))


def _are_lines(items: Sequence[str]) -> bool:
    """True if strings are the lines of an output: they end as lines, or are long and hold several words."""
    if all(item.endswith("\n") for item in items[:-1]) and any("\n" in item for item in items):
        return True
    written = [item for item in items if item.strip()]
    words = sum(" " in item.strip() for item in written)
    return len(items) >= _ITEMS and 2 * words >= len(written) and sum(map(len, written)) >= _SHORT * len(written)


def _literals(text: str) -> str | None:
    """The strings of a printed Python value that is most of the text, and what is around them."""
    if _LITERAL.fullmatch(text.strip()) and " " in text.strip():
        return _value(text.strip())
    ends, lines = text.count("\\n"), text.rstrip("\n").count("\n") + 1
    if ends < _ITEMS or ends < _ENDS * lines:
        return None
    if max(map(len, text.split("\\n"))) > _WIDEST:
        return None
    strings = [found for found in _strings(text) if "\\n" in found[0]]
    if 2 * sum(len(found[0]) for found in strings) < len(text):
        return None
    parts, at = list[str](), 0
    for found in strings:
        plain = _value(found[0])
        if plain is None:
            return None
        between = text[at : found.start()]
        parts += [between.strip() + "\n"] if not _AROUND.fullmatch(between) else []
        parts.append(plain if plain.endswith("\n") else f"{plain}\n")
        at = found.end()
    rest = text[at:].strip()
    return "".join(parts) + (f"{rest}\n" if not _AROUND.fullmatch(rest) else "")


def _strings(text: str) -> Iterator[re.Match[str]]:
    """All literals, as ``_LITERAL.finditer`` gives them; each line is read at most twice for each of the two marks.

    Where one that begins with a mark does not end on its line, a later mark of that line is behind a backslash in it,
    and so does not begin one that ends.
    """
    at, open_until = 0, {"'": 0, '"': 0}
    while (opens := _OPENS.search(text, at)) is not None:
        at = opens.end()
        if at <= open_until[opens["mark"]]:
            continue
        literal = _LITERAL.match(text, opens.start())
        if literal is not None:
            yield literal
            at = literal.end()
        else:
            end = text.find("\n", at)
            open_until[opens["mark"]] = end if end >= 0 else len(text)


def _value(literal: str) -> str | None:
    try:
        value = ast.literal_eval(literal)
    except (ValueError, SyntaxError, MemoryError):
        return None
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _cdata(text: str) -> str | None:
    return _CDATA.sub("", text) if "<![CDATA[" in text and "]]>" in text else None


def _diff(text: str) -> str | None:
    """The lines of files that a diff adds whole; those around them are left empty."""
    if "@@ -0,0 +1" not in text:
        return None
    return _ADDED.sub(lambda found: "\n\n\n" + re.sub(r"^\+", "", found["lines"], flags=re.MULTILINE), text)
