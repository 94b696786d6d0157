"""What is read, and what a reading gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import msgspec

from ncdiag.facts.observe import Observation
from ncdiag.spans import Span


class Readable(Protocol):
    """A source: line-aligned buffers of clean UTF-8 with LF line ends (`ncdiag.sources.files.TextSource`)."""

    name: str
    notes: list[str]

    def buffers(self) -> Iterator[bytes]:
        """The content, in order."""


class Piece(msgspec.Struct, frozen=True):
    """A section that was recognised: its kind and lines, for the report."""

    kind: str
    first_line: int
    last_line: int
    host: str | None


class Reading(msgspec.Struct, frozen=True):
    """What one source gave. ``unread`` are the first of the lines that nobody understood.

    ``faults``: sections that a fault of ncdiag left unread.
    """

    source: str
    lines: int
    unread_lines: int
    pieces: tuple[Piece, ...]
    notes: tuple[str, ...]
    observations: tuple[Observation, ...]
    unread: tuple[Span, ...] = ()
    faults: tuple[str, ...] = ()
