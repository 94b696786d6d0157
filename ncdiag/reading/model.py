"""What is read, and what a reading gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from ncdiag.facts.observe import Observation
from ncdiag.sources.model import Text, Unreadable
from ncdiag.spans import Span


class Piece(msgspec.Struct, frozen=True):
    """A section that was recognised: its kind and lines, for the report."""

    kind: str
    first_line: int
    last_line: int
    host: str | None


class Reading(msgspec.Struct, frozen=True):
    """What one source gave. ``unread`` are the first of the lines that nobody understood.

    ``faults``: sections that a fault of ncdiag left unread. ``written``: all lines of a paste, for the signs that look
    for words; of a long source none.
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
