"""What can be found to read: a text, a machine that was packed, something that cannot be read."""

from __future__ import annotations

import abc
from collections.abc import Iterator

import msgspec

from ncdiag.text.sources import archives


class Text(abc.ABC):
    """One text: its ``name`` as the user gave it, and its content.

    ``notes`` has one sentence for everything that was changed or left out; they are complete when `buffers` has ended.
    """

    name: str
    notes: list[str]

    @abc.abstractmethod
    def buffers(self) -> Iterator[bytes]:
        """Clean UTF-8 with LF line ends, in buffers of about 1 MiB that end at a line end. Bad input raises nothing."""


class Unreadable(msgspec.Struct, frozen=True):
    """Something that was asked for or found and is not read: its ``name`` and the ``reason``, a part of a sentence."""

    name: str
    reason: str


class Packed:
    """Machines in an archive, a folder or a text, to be taken as a whole (`ncdiag.machine.host.of_packed`).

    ``form`` is ``bundle`` (of ``ncdiag collect``), ``sos`` (a report of sos), ``tree`` (files at their usual paths),
    ``script`` (what the program of ``ncdiag collect --script`` prints) or ``partial`` (what ``--partial`` writes:
    machines and texts as they were read, `ncdiag.text.reading.partial`). ``members`` are those of its archive, None for
    a folder; they can be read once, and only before the next source is taken.
    """

    def __init__(self, name: str, form: str, members: Iterator[archives.Member] | None = None) -> None:
        """Keep the parts."""
        self.name, self.form, self.members = name, form, members


Source = Text | Unreadable | Packed
