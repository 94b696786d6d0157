"""Types of the inputs, and of the results of reading them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec

from ncdiag.base.spans import Span
from ncdiag.facts.observe import Observation
from ncdiag.text.sources.model import Text, Unreadable

T = TypeVar("T")


class Piece(msgspec.Struct, frozen=True):
    """A section whose kind was recognised, with its lines, for the report."""

    kind: str
    first_line: int
    last_line: int
    host: str | None


class Reading(msgspec.Struct, frozen=True):
    """The result of reading one source. ``unread`` are the first of the lines that were not understood.

    ``faults``: sections not parsed because of a fault of ncdiag. ``written``: the lines of a paste, for signs that
    search for words, without those that a long one repeats; empty for a long source. ``announcing``: lines that only
    name a command, at a prompt or in a heading, whose words are no complaint. ``read_on``: the host on which it was
    read, if it was read elsewhere. ``mentioned``: the numbers of lines that report nothing
    (`ncdiag.formats.blocks.kinds`).
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
    mentioned: tuple[int, ...] = ()

    def renamed(self, name: str) -> Reading:
        """The same reading with another name of its source."""

        def under(span: Span) -> Span:
            return Span(name, span.line, span.text) if span.source == self.source else span

        return msgspec.structs.replace(self._with(under), source=name)

    def moved(self, lines: int) -> Reading:
        """The same reading of a text that has so many lines above its first one."""

        def below(span: Span) -> Span:
            return Span(span.source, span.line + lines, span.text) if span.source == self.source else span

        return msgspec.structs.replace(
            self._with(below), mentioned=tuple(line + lines for line in self.mentioned),
            pieces=tuple(
                msgspec.structs.replace(each, first_line=each.first_line + lines, last_line=each.last_line + lines)
                for each in self.pieces
            ),
        )  # fmt: skip

    def quoting(self, texts: Mapping[int, str]) -> Reading:
        """The same reading with the original texts of some lines, by their numbers."""

        def quoted(span: Span) -> Span:
            is_own = span.source == self.source and span.line in texts
            return Span(span.source, span.line, texts[span.line]) if is_own else span

        return self._with(quoted)

    def _with(self, change: Callable[[Span], Span]) -> Reading:
        """The same reading with other places of its lines."""
        replace = msgspec.structs.replace
        observations = tuple(replace(found, span=change(found.span)) for found in self.observations)
        lines = {field: tuple(map(change, getattr(self, field))) for field in ("unread", "written", "announcing")}
        return replace(self, observations=observations, **lines)


def told_apart(texts: Iterable[T | Reading]) -> list[T | Reading]:
    """The texts, with the host added to names that were read on several hosts (``n1:/var/log/a``)."""
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
    """An inspected host (`ncdiag.machine.host.Machine`); ``name``: ``this host``, an archive, a folder."""

    @property
    def name(self) -> str:
        """The name of what was inspected."""

    def readings(self, *, alone: bool) -> Sequence[Reading]:
        """The parsed outputs of its programs. ``alone``: it is judged without other hosts and logs."""

    def observations(self) -> Sequence[Observation]:
        """Observations that do not come from text."""

    def not_seen(self) -> Sequence[str]:
        """A phrase for each thing that could not be observed."""


Item = Text | Unreadable | Reading | Look
"""One part of the input; a `Reading` was made elsewhere."""
