"""Releases that people say their hosts have, one each: ``on n0 NCCL 2.18.3, on n1 NCCL 2.19.3``."""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.user_text.moods import stated

_KIND = r"(?:node|host|machine|server|worker|box|vm|pc)"
_HOST = (
    rf"\b(?:(?:on|in|at)\s(?:the\s)?(?P<at>{_KIND}[\s_-]?(?:\d{{1,4}}|[a-z])|[a-z][a-z-]{{0,30}}\d{{1,4}})"
    rf"|(?P<of>{_KIND}[\s_-]?(?:\d{{1,4}}|[a-z])))\b"
)
_PRODUCTS = {
    "nccl_version": ("nccl", r"(?<![\d.])2\.\d{1,2}\.\d{1,2}(?!\.?\d)"),
    "driver": ("driver", r"(?<![\d.])[3-9]\d{2}\.\d{1,3}(?:\.\d{1,3})?(?!\.?\d)"),
}
"""The field of a host, the word that names the product, and the form of its releases."""
_SAID = {
    field: lazy_regex(rf"{_HOST}[^.;]{{0,40}}?\b(?P<release>{form})", re.IGNORECASE)
    for field, (_, form) in _PRODUCTS.items()
}


class Releases:
    """Gathers what is said of each host, and gives it once two hosts have different releases of one thing."""

    def __init__(self) -> None:
        """Nothing was said yet."""
        self._said: dict[str, dict[str, tuple[str, int]]] = {field: {} for field in _PRODUCTS}

    def read(self, sentence: str, place: int) -> None:
        """Remember the releases of a sentence, which is at this place; nothing of a question or a plan."""
        said = stated(sentence)
        for field, (word, _) in _PRODUCTS.items():
            if word in said.lower():
                for found in _SAID[field].finditer(said):
                    host = "-".join((found["at"] or found["of"]).lower().split())
                    self._said[field][host] = found["release"], place

    def differing(self) -> list[tuple[str, str, str, int]]:
        """Host, field, release and place of what two hosts or more have, and not alike; a host says each thing once."""
        return [
            (host, field, release, place)
            for field, of in self._said.items()
            if len({release for release, _ in of.values()}) > 1
            for host, (release, place) in of.items()
        ]
