"""Data shared by the parts of an answer: the report, the place of cited lines, the lines around them, unique ids."""

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

    ``cited`` returns the place in the page (``#L12``) that shows a line of evidence, None if it is not shown.
    ``lines`` may hold any lines of the input; those around a cited one are shown with it.
    """

    def __init__(self, report: Report, cited: Cited | None = None, lines: Lines | None = None) -> None:
        self.report = report
        self.lines: Lines = lines or {}
        self._cited = cited
        self._given: Counter[str] = Counter()
        self._linked: set[str] = set()

    def fresh(self, word: str) -> str:
        """An id that is unique in the answer: ``answer-fix-1``."""
        self._given[word] += 1
        return f"answer-{word}-{self._given[word]}"

    @property
    def linked(self) -> AbstractSet[str]:
        """The addresses for which a link with an id was written so far."""
        return self._linked

    def place(self, text: str, item: Evidence) -> Child:
        """``text``, which names the place of a line, as a link to that line if it is shown.

        The first link to ``#L12`` has the id ``answer-L12``, so that the line can link back.
        """
        address = self._cited(item) if self._cited is not None else None
        if address is None or not address.startswith("#") or address in self._linked:
            return link(text, address)
        self._linked.add(address)
        return element("a", text, href=address, id=f"answer-{address[1:]}")
