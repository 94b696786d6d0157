"""A page of HTML as a strict reader sees it: what the tests of reports and of the web page look at."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import NamedTuple

VOID = {"br", "hr", "input", "meta"}
BLOCKS = frozenset({
    "p", "li", "dt", "dd", "div", "pre", "h1", "h2", "h3", "h4", "td", "th", "summary", "figcaption", "label", "legend",
    "title", "desc", "text", "section", "article", "details",
})  # fmt: skip


class Tag(NamedTuple):
    """A start tag: its name, its attributes, and the names of the elements around it."""

    name: str
    attributes: dict[str, str | None]
    around: tuple[str, ...]


class Reader(HTMLParser):
    """Reads a page; an end tag that does not close the innermost element is a failure."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[Tag] = []
        self.texts: list[tuple[Tag, str]] = []
        self.text = ""
        """All text; a newline is between blocks."""
        self.styles = ""
        self._open: list[Tag] = []
        self.feed(page)
        self.close()
        assert not self._open, f"not closed: {[tag.name for tag in self._open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"an attribute twice: {attrs}"
        found = Tag(tag, dict(attrs), tuple(each.name for each in self._open))
        self.tags.append(found)
        if tag not in VOID:
            self._open.append(found)
        self._break(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, tag
        assert self._open.pop().name == tag
        self._break(tag)

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1].name == "style":
            self.styles += data
            return
        self.text += data
        if self._open:
            self.texts.append((self._open[-1], data))

    def handle_comment(self, data: str) -> None:
        raise AssertionError(data)

    def handle_pi(self, data: str) -> None:
        raise AssertionError(data)

    def _break(self, tag: str) -> None:
        if tag in BLOCKS and not self.text.endswith("\n"):
            self.text += "\n"

    def of(self, name: str) -> list[Tag]:
        return [tag for tag in self.tags if tag.name == name]

    def values(self, attribute: str) -> Iterator[str]:
        for tag in self.tags:
            if attribute in tag.attributes:
                yield tag.attributes[attribute] or ""


_ACTING = {"src", "srcset", "srcdoc", "style", "action", "formaction", "data", "poster", "ping", "xlink:href"}
_TAGS = {
    "a", "article", "body", "br", "caption", "circle", "code", "dd", "desc", "details", "div", "dl", "dt", "fieldset",
    "figcaption", "figure", "footer", "g", "h1", "h2", "h3", "h4", "head", "header", "html", "input", "label", "legend",
    "li", "line", "main", "mark", "meta", "nav", "ol", "p", "path", "polyline", "pre", "rect", "section", "span",
    "strong", "style", "summary", "svg", "table", "tbody", "td", "text", "th", "thead", "title", "tr", "ul",
}  # fmt: skip


def assert_harmless(page: Reader, addresses: set[str]) -> None:
    """Nothing in it acts or loads, and it links to nothing but its own places and these addresses."""
    assert {tag.name for tag in page.tags} <= _TAGS
    ids = list(page.values("id"))
    assert len(ids) == len(set(ids)), "an id twice"
    for tag in page.tags:
        assert not [name for name in tag.attributes if name.startswith("on") or name in _ACTING], tag
        if "href" in tag.attributes:
            address = tag.attributes["href"] or ""
            assert address in addresses or (address[:1] == "#" and address[1:] in ids), tag
            assert re.match(r"#|https?://", address), tag
    assert not re.search(r"url\s*\(|@import|expression|</", page.styles, re.IGNORECASE)


def assert_headings_in_order(page: Reader) -> None:
    """No heading is more than one level below the one before it."""
    levels = [int(tag.name[1]) for tag in page.tags if re.fullmatch(r"h[1-6]", tag.name)]
    steps = [(one, other) for one, other in itertools.pairwise(levels) if other > one + 1]
    assert levels
    assert not steps
