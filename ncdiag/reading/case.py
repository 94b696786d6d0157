"""A case: all that was read of an input, complete and in the order in which it is judged."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ncdiag.facts.model import Job
from ncdiag.facts.observe import Observation
from ncdiag.reading.job import job_of
from ncdiag.reading.model import Look, Reading
from ncdiag.sources.model import Unreadable
from ncdiag.spans import Span


class Case(msgspec.Struct, frozen=True):
    """``texts`` in the order of the input, the machines (``looks``) in it, and what these ``printed``."""

    texts: tuple[Reading | Unreadable, ...]
    looks: tuple[Look, ...] = ()
    printed: tuple[Reading, ...] = ()

    @property
    def readings(self) -> list[Reading]:
        """Of the texts, then of the machines."""
        return [*(text for text in self.texts if isinstance(text, Reading)), *self.printed]

    @property
    def observations(self) -> list[Observation]:
        """What was seen of the machines without any text."""
        return [observation for look in self.looks for observation in look.observations()]

    def written(self) -> Iterator[Span]:
        """The lines in which signs look for words: all of a paste; of a long source those that tell of something."""
        for reading in self.readings:
            if reading.written:
                yield from reading.written
            else:
                yield from (found.span for found in reading.observations if found.entity == "Event")
                yield from reading.unread

    def job(self) -> Job:
        """The facts of all of it."""
        return job_of(self.readings, self.observations)
