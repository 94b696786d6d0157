"""HTML as elements, written in one place: text is always escaped, whatever it contains.

Nothing else in this package writes markup. A child that is a string is text, and every attribute is quoted. Active
content cannot be built: scripts, handlers, embedded content, and addresses other than a place in the page or a web
page.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TypeAlias

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.report.sanitize import one_line

Child: TypeAlias = "Element | str | None"
Value: TypeAlias = str | float | bool | None

_NAME = lazy_regex(r"[a-z][a-zA-Z0-9-]*")
_VOID = frozenset({"br", "hr", "input", "meta"})
_REFUSED = frozenset({
    "applet", "audio", "base", "embed", "foreignObject", "form", "frame", "iframe", "image", "img", "link", "math",
    "object", "picture", "script", "source", "template", "use", "video",
})  # fmt: skip
"""Elements that are active or load something."""
_ACTING = frozenset({"action", "data", "formaction", "ping", "poster", "src", "srcdoc", "srcset", "style"})
"""Attributes that load something; ``style`` would require a page that allows styles everywhere."""
_LOCAL = lazy_regex(r"#[A-Za-z][A-Za-z0-9_.-]*")
_WEB = lazy_regex(r"https?://[A-Za-z0-9.-]+(?::\d{1,5})?(?:[/?#][!#-;=?-\[\]_a-z~]*)?")
"""A web address in ASCII without blanks, quotes or angle brackets."""


class Element(msgspec.Struct, frozen=True):
    """An element; with an empty ``tag`` only its children."""

    tag: str
    attributes: tuple[tuple[str, str | None], ...] = ()
    children: tuple[Child, ...] = ()


def element(tag: str, *children: Child, **attributes: Value) -> Element:
    """Build an element. ``aria_label`` is written ``aria-label``, ``class_`` ``class``; None and False are left out.

    Raises ValueError for an active element or attribute.
    """
    if not _NAME.fullmatch(tag) or tag in _REFUSED:
        msg = f"an element {tag!r} is not allowed in a report"
        raise ValueError(msg)
    return Element(tag, tuple(_attributes(attributes)), children)


def group(*children: Child) -> Element:
    """Several elements in place of one."""
    return Element("", (), children)


def is_address(text: str) -> bool:
    """True if the text is a web address that a page may link to."""
    return _WEB.fullmatch(text) is not None


def link(text: str, address: str | None) -> Child:
    """A link to a place in the page (``#id``) or to a web page; only the text if the address is neither."""
    if address is None or not (_LOCAL.fullmatch(address) or is_address(address)):
        return text
    return element("a", text, href=address, rel=None if address.startswith("#") else "noopener noreferrer")


def write(built: Child) -> str:
    """The element as HTML."""
    return "".join(_written(built))


def _attributes(given: dict[str, Value]) -> Iterator[tuple[str, str | None]]:
    for key, value in given.items():
        name = key.removesuffix("_").replace("_", "-")
        if not _NAME.fullmatch(name) or name.startswith("on") or name in _ACTING:
            msg = f"an attribute {name!r} is not allowed in a report"
            raise ValueError(msg)
        if value is None or value is False:
            continue
        text = None if value is True else value if isinstance(value, str) else f"{value:g}"
        if name == "href" and not (text and (_LOCAL.fullmatch(text) or is_address(text))):
            msg = f"a link to {text!r} is not allowed in a report"
            raise ValueError(msg)
        yield name, text


def _written(built: Child) -> Iterator[str]:
    if built is None:
        return
    if isinstance(built, str):
        yield escape(one_line(built))
        return
    if built.tag:
        yield f"<{built.tag}"
        for name, value in built.attributes:
            yield f" {name}" if value is None else f' {name}="{escape(one_line(value))}"'
        yield ">"
    if built.tag == "style":
        yield _styles(built)
    else:
        for child in built.children:
            yield from _written(child)
    if built.tag and built.tag not in _VOID:
        yield f"</{built.tag}>"


def _styles(built: Element) -> str:
    """The text of a style sheet, which HTML does not unescape. Raises ValueError if it would end the element early."""
    text = "".join(child for child in built.children if isinstance(child, str))
    if "</" in text or "<!" in text:
        msg = "a style sheet must not hold markup"
        raise ValueError(msg)
    return text
