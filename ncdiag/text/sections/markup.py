"""Undo what web pages, chats and programs do to characters: typography, HTML, Markdown's escapes, links, line ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.text.sections.line import Line, block_ends

_BLANKS = "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_NOTHING = "\u200b\u200c\u200d\u200e\u200f\u2060\u00ad\u061c\ufffd"
_DIRECTED = lazy_regex(r"^[\u202a-\u202e\u2066-\u2068](.*)[\u202c\u2069]$", re.MULTILINE)
"""A line that a program set in a direction. Such marks within a line stay: they are shown as escapes."""
_DASHES = "\u2010\u2011\u2012\u2013\u2212"
_TYPOGRAPHY = str.maketrans(
    {**dict.fromkeys(_BLANKS, " "), **dict.fromkeys(_NOTHING, None), **dict.fromkeys("\u201c\u201d\u201e\u2033", '"'),
     **dict.fromkeys("\u2018\u2019\u201a\u2032", "'"), **dict.fromkeys(_DASHES, "-")}
)  # fmt: skip
_WIDE = lazy_regex(r"(?<![\u3000-\u9fff])[\uff0d-\uff1a\uff1d\uff21-\uff5a](?![\u3000-\u9fff])")
"""A full-width letter, digit, colon, or sign of a path or a value, that is not part of Chinese or Japanese text."""
_TO_NARROW = 0xFEE0
_ENDS_ALL = 5
"""Lines that all end with the same sign, from which on a program added it."""
_ENTITY = lazy_regex(r"&(?:lt|gt|quot|nbsp|amp|apos|#39|#x27|#34);")
_TAG = lazy_regex(r"<[a-z/?!]")
_ELEMENT = lazy_regex(
    r"</?(?:a|b|big|blockquote|body|br|code|dd|details|div|dl|dt|em|font|h[1-6]|hr|html|i|kbd|li|ol|p|pre|s|samp|small|span"
    r"|strong|summary|table|tbody|td|th|thead|tr|tt|u|ul)(?:\s[^<>]{0,300})?/?>",
    re.IGNORECASE,
)
_LINE_NUMBER = lazy_regex(
    r"(?P<before>^(?:<[^<>]{0,300}>){0,6})<(?P<name>span|a|div)\s[^<>]{0,300}>\s*\d{1,7}\s*</(?P=name)>(?=.*\S)",
    re.IGNORECASE,
)
"""The number of a line that a page shows before it, in an element with a class."""
_ENDS_LINE = lazy_regex(r"<(?:br\s?/?|/p|/div|/li|/tr|/h[1-6]|/pre|/dd|/dt)>", re.IGNORECASE)
_ESCAPED = lazy_regex(r"\\([\\`*_{}\[\]()#+.!<>|~&$-])")
_WRITTEN_END = lazy_regex(r"(?:\\r)?\\n")
_WRITTEN = lazy_regex(r"\\([\"'\\])|\\t")
_NAMED_ADDRESS = lazy_regex(r"<(?:https?://|mailto:|ssh://)[^<>|\s]{1,200}\|([^<>|]{1,200})>")
_LINK = lazy_regex(r"\[([^\[\]]{1,200})\]\(https?://[^()\s]{1,200}\)")
_ADDRESS_BEHIND = lazy_regex(r"(?<=[\w.-])<(?:https?://|mailto:)[^<>|\s]{1,200}>")
_FENCE = lazy_regex(
    r"(?!\s*```+[\w.+#/:-]{0,30}\s*(?:\{.*|(?:\s*[a-z][\w-]*=\S*)*)$)"  # alone, or with a language and its attributes
    r"(?P<above>(?:(?!```).)*)(?P<fence>```(?:[\w+#-]{1,20}(?=\s+[$#>]\s))?)(?P<text>(?:(?!```).)*)(?P<end>```)?\s*$"
)
"""A fence of Markdown on the line of a text: above it, below it, or both; a text between two is code in a sentence."""


def tidied(text: str) -> str:
    """The text with plain quotation marks, dashes and blanks, and without a sign that ends every line.

    HTML entities are decoded, unless the text has HTML elements.
    """
    if not text.isascii():
        text = _DIRECTED.sub(r"\1", text.translate(_TYPOGRAPHY))
        text = _WIDE.sub(lambda found: chr(ord(found[0]) - _TO_NARROW), text)
    if text.rstrip("\n").endswith(("\\", "$")):
        text = _without_last(text)
    if "&" in text and not _TAG.search(text):
        text = _without_entities(text)
    return text


def _without_last(text: str) -> str:
    """The text without the backslash, or the ``$`` of ``cat -A``, if every line ends with it; ``^I`` is then a tab."""
    lines = text.rstrip("\n").split("\n")
    sign = lines[-1][-1]
    if len(lines) < _ENDS_ALL or not all(line.endswith(sign) for line in lines):
        return text
    bare = "".join(f"{line[:-1].rstrip() if sign != '$' else line[:-1]}\n" for line in lines)
    return bare if sign != "$" else bare.replace("^I", "\t")


def _without_entities(text: str) -> str:
    import html  # it loads the names of all entities, which few texts need

    return _ENTITY.sub(lambda found: " " if found[0] == "&nbsp;" else html.unescape(found[0]), text)


class Markup(msgspec.Struct, frozen=True):
    """A change of single characters anywhere in a text; ``literal`` occurs in every match of its pattern."""

    literal: str
    sign: re.Pattern[str]
    change: Callable[[str], list[str]]
    doubtful: bool = False
    sure: bool = False

    def blocks(self, lines: Sequence[Line]) -> list[tuple[int, int]]:
        """(start, end) of blocks of lines of which at least every other one matches."""
        carries = [self.literal in line.text and self.sign.search(line.text) is not None for line in lines]
        return block_ends(lines, carries, 1) if any(carries) else []

    def removed(self, lines: Sequence[Line]) -> list[Line]:
        """The lines with the change undone; one line may become several with the same number."""
        return [
            msgspec.structs.replace(line, text=text)
            for line in lines
            for text in (self.change(line.text) if self.sign.search(line.text) else [line.text])
        ]


def _without_elements(text: str) -> list[str]:
    text = _LINE_NUMBER.sub(lambda found: found["before"], text)
    parts = [_without_entities(_ELEMENT.sub("", part)) for part in _ENDS_LINE.split(text)]
    while len(parts) > 1 and not parts[-1].strip():  # the line ends there anyway
        parts.pop()
    return parts


def _unescaped(text: str) -> list[str]:
    return [_ESCAPED.sub(r"\1", text)]


def _split(text: str) -> list[str]:
    return [_WRITTEN.sub(lambda found: found[1] or "\t", part) for part in _WRITTEN_END.split(text)]


def _without_links(text: str) -> list[str]:
    return [_ADDRESS_BEHIND.sub("", _LINK.sub(r"\1", _NAMED_ADDRESS.sub(r"\1", text)))]


def _apart(text: str) -> list[str]:
    """A fence and the texts on its line, each on a line of its own."""
    found = _FENCE.match(text)
    if found is None or (found["end"] and found["above"].strip()):
        return [text]
    parts = (found["above"].rstrip(), found["fence"], found["text"].strip(), found["end"])
    return [part for part in parts if part]


MARKUP = (
    Markup("```", _FENCE, _apart, sure=True),
    Markup("<", _ELEMENT, _without_elements),
    Markup("&", _ENTITY, lambda text: [_without_entities(text)]),
    Markup("<", _NAMED_ADDRESS, _without_links),
    Markup("](", _LINK, _without_links),
    Markup("<", _ADDRESS_BEHIND, _without_links),
    Markup("\\n", _WRITTEN_END, _split),
    Markup("\\", _ESCAPED, _unescaped),
)
