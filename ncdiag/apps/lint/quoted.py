"""Variables in quotes within scripts: the JSON of a runtime environment, a mapping of Python in a here-document."""

from __future__ import annotations

from collections.abc import Container

from ncdiag.apps.lint.model import Document, Place, Setting
from ncdiag.apps.lint.vocabulary import is_for_ranks
from ncdiag.base.patterns import lazy_regex

GROUP = 2_000_000
"""The environment of all these variables; scripts and containers have lower numbers."""

_PAIR = lazy_regex(
    r"(?P<quote>\\?[\"'])(?P<name>[A-Z][A-Z0-9]{1,12}_[A-Z0-9_]{1,80})(?P=quote)"
    r"[ \t]{0,8}(?:\][ \t]{0,8}=(?!=)|:)[ \t]{0,8}"
    r"(?:(?P<other>\\?[\"'])(?P<value>[^\"'\\\n]{0,400})(?P=other)|(?P<number>-?\d{1,18})(?![\w.])|(?P<rest>\S))"
)
_REMARK = lazy_regex(r"[ \t]*(?:#|//)")


def read(document: Document, known: Container[int]) -> None:
    """Add the pairs to the document's settings; ``known`` are the offsets of names that were already read."""
    text = document.text
    for found in _PAIR.finditer(text):
        start = found.start("name")
        line = text.rfind("\n", max(0, start - 300), start) + 1
        if start in known or _REMARK.match(text, line) or not is_for_ranks(found["name"]):
            continue
        part = next(name for name in ("value", "number", "rest") if found[name] is not None)
        value = None if part == "rest" or "$" in found[part] or "{" in found[part] else found[part]
        document.settings.append(
            Setting(
                name=found["name"], value=value, name_at=Place(start, found.end("name")), group=GROUP, reaches="all",
                value_at=Place(found.start(part), found.end(part)), quoting="bare" if value is not None else "none",
            )
        )  # fmt: skip
