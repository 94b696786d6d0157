"""Types of sources: a text, a packed machine, something that cannot be read."""

from __future__ import annotations

import abc
from collections.abc import Iterator

import msgspec

from ncdiag.text.sources import archives


class Text(abc.ABC):
    """A text: its ``name`` as the user gave it, and its content.

    ``notes`` has one sentence for each kind of change or omission; they are complete once `buffers` has ended.
    """

    name: str
    notes: list[str]
    first_line = 1
    """The number of the first line that `buffers` yielded: those above it were left out."""

    @abc.abstractmethod
    def buffers(self) -> Iterator[bytes]:
        """Clean UTF-8 with LF line ends, in buffers of about 1 MiB that end at a line end. Bad input raises nothing."""


class Unreadable(msgspec.Struct, frozen=True):
    """Something requested or found that cannot be read: its ``name``, and the ``reason`` as part of a sentence."""

    name: str
    reason: str


class Packed:
    """Machines in an archive, a folder or a text, to be read as a whole (`ncdiag.machine.host.of_packed`).

    ``form`` is ``bundle`` (of ``ncdiag collect``), ``sos`` (a report of sos), ``tree`` (files at their usual paths),
    ``script`` (the output of the program of ``ncdiag collect --script``) or ``partial`` (the output of ``--partial``:
    readings of machines and texts, `ncdiag.text.reading.partial`). ``members`` are those of its archive, None for a
    folder; they can be read once, and only before the next source is opened.
    """

    def __init__(self, name: str, form: str, members: Iterator[archives.Member] | None = None) -> None:
        """Store the parts."""
        self.name, self.form, self.members = name, form, members


Source = Text | Unreadable | Packed
