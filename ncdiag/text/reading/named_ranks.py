"""Ranks by the names of files: ``rank7.log`` as a source, or above its lines in a paste (``==> rank7.log <==``).

Launchers and users write a file for each rank, in which most lines do not repeat the rank.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable, Sequence

import msgspec

from ncdiag.facts.observe import Observation
from ncdiag.formats.ranks import rank_in
from ncdiag.text.reading.model import Reading

_HEADING = "==> "
"""What head and tail print before the name of each of several files (coreutils src/tail.c, write_header)."""


def with_rank_of_file(name: str, observations: list[Observation]) -> list[Observation]:
    """The observations of a file, its events with the rank of its name, unless lines of other ranks are in it."""
    rank = rank_in(name)
    return observations if rank is None else _ranked(observations, [(0, rank)])


def with_ranks_of_headings(reading: Reading, lines: Iterable[str]) -> Reading:
    """The reading of a paste, its events with the ranks of the files that the headings above them name."""
    found = [(number, rank_in(line.strip(" =<>"))) for number, line in enumerate(lines, 1) if line.startswith(_HEADING)]
    if not any(rank is not None for _, rank in found):
        return reading
    return msgspec.structs.replace(reading, observations=tuple(_ranked(reading.observations, found)))


def _ranked(observations: Sequence[Observation], files: Sequence[tuple[int, int | None]]) -> list[Observation]:
    """``files``: the line at which the lines of each file begin, and its rank."""
    begins = [line for line, _ in files]
    mixed = {_file(each, begins) for each in observations if _shows_another(each, files, begins)}
    return [
        msgspec.structs.replace(each, fields={**each.fields, "rank": rank})
        if each.entity == "Event" and each.fields.get("rank") is None
        and (at := _file(each, begins)) >= 0 and at not in mixed and (rank := files[at][1]) is not None
        else each
        for each in observations
    ]  # fmt: skip


def _file(each: Observation, begins: Sequence[int]) -> int:
    return bisect(begins, each.span.line) - 1


def _shows_another(each: Observation, files: Sequence[tuple[int, int | None]], begins: Sequence[int]) -> bool:
    at, shown = _file(each, begins), each.fields.get("rank")
    return at >= 0 and shown is not None and shown != files[at][1]
