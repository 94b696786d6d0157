"""What the parts of an answer share: the report, where a cited line leads, the lines around it, and fresh ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet

from ncdiag.report.html.element import Child, element, link
from ncdiag.report.model import Evidence, Report

Cited = Callable[[Evidence], str | None]
Lines = Mapping[tuple[str, int], str]
"""Lines of the input by source and number, which counts from 1."""


class Context:
    """The report being written.

    ``cited`` gives the place in the page (``#L12``) that shows a line of evidence, None for one that is not shown.
    ``lines`` may hold any lines of the input; those around a cited one are shown with it.
    """

    def __init__(self, report: Report, cited: Cited | None = None, lines: Lines | None = None) -> None:
        self.report = report
        self.lines: Lines = lines or {}
        self._cited = cited
        self._given: Counter[str] = Counter()
        self._linked: set[str] = set()

    def fresh(self, word: str) -> str:
        """An id that no other element of the answer has: ``answer-fix-1``."""
        self._given[word] += 1
        return f"answer-{word}-{self._given[word]}"

    @property
    def linked(self) -> AbstractSet[str]:
        """The addresses to which what is written so far has links with an id."""
        return self._linked

    def place(self, text: str, item: Evidence) -> Child:
        """``text``, which names the place of a line, as a link to that line where it can be shown.

        The first link to ``#L12`` has the id ``answer-L12``, so that the line can lead back.
        """
        address = self._cited(item) if self._cited is not None else None
        if address is None or not address.startswith("#") or address in self._linked:
            return link(text, address)
        self._linked.add(address)
        return element("a", text, href=address, id=f"answer-{address[1:]}")
