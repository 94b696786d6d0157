"""What the paths of a command line hold: texts, machines that were packed, and what was read elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ncdiag.base.errors import InputError
from ncdiag.text import Item, Packed, Unreadable, open_sources

LIVE = "live"
"""The word for the host at hand in the place of a path."""


def inputs(paths: Sequence[str]) -> Iterator[Item]:
    """The texts and machines in ``paths``, as `ncdiag.text.sources.files.open_sources` takes them, in their order.

    A text is to be read before the next one is taken. Raises InputError when the only thing asked for cannot be read.
    """
    for source in open_sources(paths):
        if not isinstance(source, Packed):
            yield source
            continue
        if source.form == "partial":
            from ncdiag.text import partial

            yield from partial.of_members(source.members or (), source.name)
            continue
        from ncdiag.machine.host import of_packed  # most commands never need it

        try:
            yield from of_packed(source)
        except InputError as error:
            if [source.name] == list(paths):
                raise
            yield Unreadable(source.name, str(error).removeprefix(f"cannot read {source.name}: "))


def inputs_or_host(paths: Sequence[str], root: Path, *, ask_library: bool | None = None) -> Iterator[Item]:
    """What the paths hold; where there are none, or the word `LIVE`, the host at hand or the recorded tree ``root``.

    ``ask_library`` and what is raised: see `ncdiag.machine.host.look`.
    """
    if paths and (list(paths) != [LIVE] or Path(LIVE).exists()):
        yield from inputs(paths)
    else:
        from ncdiag.machine.host import look

        yield look(root, ask_library=ask_library)
