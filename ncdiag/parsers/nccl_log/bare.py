"""Version lines without the prefix of a process: ``NCCL version 2.18.3+cuda12.1``, perhaps behind a launcher's tag.

Only rank 0 of a communicator prints one (src/init.cc, showVersion, v2.0 to v2.30), where several releases are in one
source. The tag tells the process where a launcher put one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from operator import itemgetter

from ncdiag.base.spans import Span
from ncdiag.parsers.nccl_log.ranks import Record

Bare = dict[tuple[str, str], Span]
"""By what stood before the line, and the version, the first line of each."""


def give(bare: Bare, records: Iterable[Record]) -> None:
    """Give each version to the processes with its tag; one without any tag to rank 0, where it is the only one.

    Where no process says which rank it is, it belongs to the only host of which no process printed a version. Several
    versions then belong to the hosts whose first line is the last before each, if that gives every host one.
    """
    records = list(records)
    waiting = [record for record in records if record.exact is None]
    untagged = {version: span for (before, version), span in bare.items() if not before}
    tags = {record.fields["line_tag"][0] for record in waiting if "line_tag" in record.fields} - {""}
    of_tag = _by_tag(bare, tags)
    for record in waiting:
        tag = record.fields["line_tag"][0] if "line_tag" in record.fields else None
        if tag in of_tag:
            record.exact = of_tag[tag]
        elif record.rank == 0 and len(untagged) == 1:
            record.exact = next(iter(untagged.items()))
    telling = {record.key[0] for record in records if record not in waiting}
    silent = {record.key[0] for record in waiting} - telling
    if len(untagged) == len(silent) == 1 and telling and all(record.rank is None for record in records):
        for record in waiting:
            if record.key[0] in silent:
                record.exact = next(iter(untagged.items()))
    if len(untagged) > 1 and not telling and all(record.rank is None for record in records):
        of_host = _by_place(untagged, records)
        for record in waiting:
            record.exact = of_host.get(record.key[0])


def _by_place(untagged: dict[str, Span], records: Collection[Record]) -> dict[str | None, tuple[str, Span]]:
    """The version below the first line of each host and above that of the next; empty unless each host has one."""
    begins: dict[str | None, int] = {}
    for record in records:
        begins[record.key[0]] = min(record.span.line, begins.get(record.key[0], record.span.line))
    found: dict[str | None, tuple[str, Span]] = {}
    for version, span in untagged.items():
        above = [(line, host) for host, line in begins.items() if line < span.line]
        if above:
            found.setdefault(max(above, key=itemgetter(0))[1], (version, span))
    return found if len(found) == len(begins) == len(untagged) else {}


def _by_tag(bare: Bare, tags: Collection[str]) -> dict[str, tuple[str, Span]]:
    """The first version that each tag was the last word in front of; a time may be in front of the tag."""
    found: dict[str, tuple[str, Span]] = {}
    lengths = {len(tag) for tag in tags}
    for (before, version), span in bare.items():
        for length in lengths:
            tag, rest = before[-length:], before[:-length]
            if tag in tags and not rest[-1:].isalnum():
                found.setdefault(tag, (version, span))
    return found
