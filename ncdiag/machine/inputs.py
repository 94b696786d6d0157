"""Resolve the paths of a command line to texts, packed machines and partial readings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ncdiag.base.errors import InputError
from ncdiag.text import Item, Packed, Unreadable, open_sources

LIVE = "live"
"""The word for this host, used in place of a path."""


def inputs(paths: Sequence[str]) -> Iterator[Item]:
    """The texts and machines in ``paths``, as `ncdiag.text.sources.files.open_sources` opens them, in their order.

    A text must be read before the next one is requested. Raises InputError if the only path cannot be read.
    """
    for source in open_sources(paths):
        if not isinstance(source, Packed):
            yield source
            continue
        if source.form == "partial":
            from ncdiag.text import partial

            yield from partial.of_members(source.members or (), source.name)
            continue
        from ncdiag.machine.host import of_packed  # most commands do not need it

        try:
            yield from of_packed(source)
        except InputError as error:
            if [source.name] == list(paths):
                raise
            yield Unreadable(source.name, str(error).removeprefix(f"cannot read {source.name}: "))


def inputs_or_host(paths: Sequence[str], root: Path, *, ask_library: bool | None = None) -> Iterator[Item]:
    """The content of the paths; without paths, or for the word `LIVE`, this host or the recorded tree ``root``.

    ``ask_library`` and errors: see `ncdiag.machine.host.look`.
    """
    if paths and (list(paths) != [LIVE] or Path(LIVE).exists()):
        yield from inputs(paths)
    else:
        from ncdiag.machine.host import look

        yield look(root, ask_library=ask_library)
