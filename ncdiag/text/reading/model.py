"""What is read, and what a reading gives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

import msgspec

from ncdiag.base.spans import Span
from ncdiag.facts.observe import Observation
from ncdiag.text.sources.model import Text, Unreadable

T = TypeVar("T")


class Piece(msgspec.Struct, frozen=True):
    """A section that was recognised: its kind and lines, for the report."""

    kind: str
    first_line: int
    last_line: int
    host: str | None


class Reading(msgspec.Struct, frozen=True):
    """What one source gave. ``unread`` are the first of the lines that nobody understood.

    ``faults``: sections that a fault of ncdiag left unread. ``written``: the lines of a paste, for the signs that look
    for words; of a long source none. ``announcing``: those that only name a command, at a prompt or in a heading, whose
    words are nobody's complaint. ``read_on``: the host on which it was read, of what was read elsewhere.
    """

    source: str
    lines: int
    unread_lines: int
    pieces: tuple[Piece, ...]
    notes: tuple[str, ...]
    observations: tuple[Observation, ...]
    unread: tuple[Span, ...] = ()
    faults: tuple[str, ...] = ()
    written: tuple[Span, ...] = ()
    announcing: tuple[Span, ...] = ()
    read_on: str = ""

    def renamed(self, name: str) -> Reading:
        """The same reading of a source of another name."""

        def under(span: Span) -> Span:
            return Span(name, span.line, span.text) if span.source == self.source else span

        replace = msgspec.structs.replace
        observations = tuple(replace(found, span=under(found.span)) for found in self.observations)
        lines = {field: tuple(map(under, getattr(self, field))) for field in ("unread", "written", "announcing")}
        return replace(self, source=name, observations=observations, **lines)


def told_apart(texts: Iterable[T | Reading]) -> list[T | Reading]:
    """The texts, and in the names of those of one name that were read on several hosts the host (``n1:/var/log/a``)."""
    held, places = list(texts), defaultdict[str, set[str]](set)
    for text in held:
        if isinstance(text, Reading):
            places[text.source].add(text.read_on)

    def apart(text: T | Reading) -> T | Reading:
        if not isinstance(text, Reading) or not text.read_on or len(places[text.source]) == 1:
            return text
        return text.renamed(f"{text.read_on}:{text.source}")

    return list(map(apart, held))


class Look(Protocol):
    """What a collector saw of a host (`ncdiag.machine.host.Machine`); ``name``: ``this host``, an archive, a folder."""

    @property
    def name(self) -> str:
        """Which host was looked at."""

    def readings(self, *, alone: bool) -> Sequence[Reading]:
        """What it printed, parsed. ``alone``: it is judged without other hosts and logs."""

    def observations(self) -> Sequence[Observation]:
        """What was seen without any text."""

    def not_seen(self) -> Sequence[str]:
        """A phrase for everything that was not seen."""


Item = Text | Unreadable | Reading | Look
"""One part of the input; a reading was made elsewhere."""
