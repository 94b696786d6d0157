"""What the paths of a command line hold: texts, and machines that were packed on the way to here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ncdiag.errors import InputError
from ncdiag.sources.files import Packed, TextSource, Unreadable, open_sources

if TYPE_CHECKING:
    from ncdiag.facts.model import Job
    from ncdiag.facts.observe import Observation
    from ncdiag.machine.host import Machine
    from ncdiag.reading.model import Reading


class Inputs:
    """Walk over the texts; afterwards ``nodes`` are the machines that were among them.

    Raises InputError, while it is walked, when the only thing asked for cannot be read.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        """``paths`` as `ncdiag.sources.files.open_sources` takes them."""
        self._paths, self._texts = paths, 0
        self.machines: list[Machine] = []

    def __iter__(self) -> Iterator[TextSource | Unreadable]:
        """The texts, and what cannot be read; machines are kept for later."""
        for source in open_sources(self._paths):
            if not isinstance(source, Packed):
                self._texts += 1
                yield source
                continue
            from ncdiag.machine.host import of_packed  # most commands never need it

            try:
                self.machines += of_packed(source)
            except InputError as error:
                if [source.name] == list(self._paths):
                    raise
                yield Unreadable(source.name, str(error).removeprefix(f"cannot read {source.name}: "))

    def readings(self) -> Iterator[Reading]:
        """What the machines printed, parsed."""
        alone = len(self.machines) == 1 and not self._texts
        return (reading for machine in self.machines for reading in machine.readings(alone=alone))

    def followed(self, texts: Iterable[Any]) -> Iterator[Any]:
        """The texts, then what the machines printed: they are known when the texts have been walked."""
        yield from texts
        yield from self.readings()

    def looks(self) -> Iterator[Machine]:
        """The machines, to be asked for when all inputs have been read."""
        yield from self.machines

    def read(self, sources: Iterable[Any]) -> list[Reading]:
        """What all of it gave; ``sources`` are the texts, as they come from here."""
        from ncdiag.reading.one import read_source

        return [*(read_source(source) for source in sources if hasattr(source, "buffers")), *self.readings()]

    def job(self, sources: Iterable[Any]) -> Job:
        """The facts of all of it."""
        from ncdiag.reading.job import job_of

        return job_of(self.read(sources), self.observations())

    def observations(self) -> Iterator[Observation]:
        """What the nodes told without text."""
        return (observation for machine in self.machines for observation in machine.observations())
