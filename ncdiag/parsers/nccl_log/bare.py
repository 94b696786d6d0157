"""Version lines without the prefix of a process: ``NCCL version 2.18.3+cuda12.1``, perhaps behind a launcher's tag.

Only rank 0 of a communicator prints one (src/init.cc, showVersion, v2.0 to v2.30), where several releases are in one
source. The tag tells the process where a launcher put one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from operator import itemgetter

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Span
from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import VersionRange
from ncdiag.parsers.nccl_log.ranks import Record

_LABEL = lazy_regex(
    r"\[?(?!(?:rank|task|worker|process|proc|gpu|default|step|trainer)[ _-]?\d)"
    r"(?P<host>[A-Za-z](?=[\w.-]*\d)[\w.-]{1,100}|\d{1,3}(?:\.\d{1,3}){3})\]?\s{0,20}[:|](?:\s.{0,100})?$"
)
"""The host that a tool for many hosts prints in front of each line, whatever a log puts between it and the text."""
_SEVERAL = 2
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


def of_hosts(bare: Bare, exact: tuple[str, Span] | None, host: str | None) -> list[Observation]:
    """The versions where no process printed a line: ``exact``, the only one, of the host of the source.

    Of several versions each is of the host in front of its line, where each line has one (``n11: NCCL version 2.21.5``,
    as pdsh, clush and ansible print it).
    """
    if exact is not None:
        return [_of_host(host, *exact)]
    told = [(_LABEL.match(before), version, span) for (before, version), span in bare.items()]
    if len(bare) < _SEVERAL or not all(label for label, _, _ in told):
        return []
    versions: dict[str, dict[str, Span]] = defaultdict(dict)
    for label, version, span in told:
        if label is not None:
            versions[label["host"]].setdefault(version, span)
    return [_of_host(name, *found) for name, each in versions.items() if len(each) == 1 for found in each.items()]


def _of_host(host: str | None, version: str, span: Span) -> Observation:
    return Observation(entity="Host", host=host, span=span, fields={"nccl_version": VersionRange.exact(version)})


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
