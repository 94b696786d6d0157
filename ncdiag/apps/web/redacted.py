"""Redact an upload before it is judged, so that the answer contains no names, addresses and secrets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ncdiag.apps.redact import Redactor, Spooled, bundle_cleaned, cleaned
from ncdiag.apps.web.uploads import harmless
from ncdiag.base.errors import InputError, UsageError
from ncdiag.machine import bundle
from ncdiag.machine.host import bundles_of
from ncdiag.machine.inputs import inputs
from ncdiag.text import Item, Packed, Text, Unreadable, open_sources


class Redacted:
    """The redacted sources, in files that can be read repeatedly, with common stand-ins."""

    def __init__(self, names: Sequence[str]) -> None:
        """Read the files of the working directory; machines are written next to them. Raises InputError, UsageError."""
        texts: list[Text] = []
        packed: list[bundle.Bundle] = []
        unreadable: list[Unreadable] = []
        for name in names:
            try:
                for source in open_sources([name]):
                    if isinstance(source, Packed):
                        packed += _machines(source)
                    elif isinstance(source, Unreadable):
                        unreadable.append(source)
                    else:
                        texts.append(Spooled(source))
            except InputError as error:  # noqa: PERF203  (one bad file does not stop the others)
                if len(names) == 1:
                    raise
                unreadable.append(Unreadable(name, str(error)))
        made, redactor = cleaned(texts)
        self._machines = [_written(each, redactor, names) for each in packed]
        self.texts: Sequence[Text] = made
        self._unreadable = [Unreadable(redactor.text(u.name), redactor.text(u.reason)) for u in unreadable]

    def items(self) -> Iterator[Item]:
        """The items to judge."""
        yield from self.texts
        yield from self._unreadable
        if self._machines:
            yield from inputs(self._machines)


def _machines(source: Packed) -> list[bundle.Bundle]:
    if source.form == "partial":
        msg = f"{source.name} contains facts without their texts and cannot be redacted"
        raise UsageError(msg)
    return bundles_of(source)


def _written(machine: bundle.Bundle, redactor: Redactor, taken: Sequence[str]) -> str:
    made = bundle_cleaned(machine, redactor)
    name = harmless(f"{made.recorded.host}.tar.gz", [*taken, *(path.name for path in Path().iterdir())])
    bundle.write(made, Path(name))
    return name
