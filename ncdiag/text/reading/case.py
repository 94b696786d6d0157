"""A case: everything that was read of an input, in the order in which it is judged."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import msgspec

from ncdiag.base.spans import Span
from ncdiag.facts.model import Job
from ncdiag.facts.observe import Observation
from ncdiag.text.reading.job import job_of
from ncdiag.text.reading.model import Look, Reading
from ncdiag.text.sources.model import Unreadable

if TYPE_CHECKING:
    from ncdiag.text.window.bounds import Windowed


class Case(msgspec.Struct, frozen=True):
    """``texts`` in the order of the input, the machines (``looks``) in it, and the readings that these ``printed``.

    ``window``: the window of time that was read (`ncdiag.text.window.apply.Windowed`), None for all of it.
    """

    texts: tuple[Reading | Unreadable, ...]
    looks: tuple[Look, ...] = ()
    printed: tuple[Reading, ...] = ()
    window: Windowed | None = None

    @property
    def readings(self) -> list[Reading]:
        """The readings of the texts, then of the machines."""
        return [*(text for text in self.texts if isinstance(text, Reading)), *self.printed]

    @property
    def observations(self) -> list[Observation]:
        """Observations of the machines that do not come from text."""
        return [observation for look in self.looks for observation in look.observations()]

    def written(self) -> Iterator[Span]:
        """The lines in which signs search for words: all lines of a short paste, informative ones of a long source."""
        for reading in self.readings:
            if reading.written:
                yield from reading.written
            else:
                yield from (found.span for found in reading.observations if found.entity == "Event")
                yield from reading.unread

    @property
    def mentioned(self) -> frozenset[tuple[str, int]]:
        """The places (source and number) of lines that report nothing: they only mention what they name."""
        return frozenset((reading.source, line) for reading in self.readings for line in reading.mentioned)

    def lines(self, places: Collection[tuple[str, int]]) -> dict[tuple[str, int], str]:
        """The lines at these places (source and number), as far as they were kept: all of a short paste.

        Of a long paste or source, informative lines and the first lines that were not understood.
        """
        sources = {source for source, _ in places}
        found: dict[tuple[str, int], str] = {}
        for reading in self.readings:
            if reading.source in sources:
                seen = (observation.span for observation in reading.observations)
                for span in itertools.chain(seen, reading.unread, reading.written, reading.announcing):
                    if (span.source, span.line) in places:
                        found[span.source, span.line] = span.text
        return found

    def job(self) -> Job:
        """The facts of the whole case."""
        return job_of(self.readings, self.observations)
