"""Where the lines of a section come from: their numbers in the source, what stood before them, whose they are."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from ncdiag.base.spans import Section
from ncdiag.text.sections.line import Line


def hosts_of(lines: Iterable[Line], named: Iterable[str], addresses: Mapping[str, str]) -> dict[str, str]:
    """The names of hosts that stood before lines, each with the one that NCCL gives the host.

    ``named`` are the hosts that printed NCCL lines of the text, ``addresses`` are those of their interfaces. One name
    before all lines that is none of these is the machine around a container: it says nothing more.
    """
    hosts = {line.host: addresses.get(line.host, line.host) for line in lines if line.host}
    known = set(named)
    if len(hosts) == 1 and known and not known & set(hosts.values()):
        return {}
    return hosts


def by_host(section: Section, lines: Sequence[Line]) -> Iterator[Section]:
    """Text in parts of one host each, by what stood before its lines; what a tool printed is in one part."""
    if section.kind != "text":
        yield section
        return
    numbers = [section.number(index) for index in range(len(section.lines))]
    for _, run in itertools.groupby(range(len(numbers)), key=lambda index: lines[numbers[index] - 1].host):
        part = list(run)
        yield msgspec.structs.replace(
            section,
            first_line=numbers[part[0]],
            lines=section.lines[part[0] : part[-1] + 1],
            numbers=tuple(numbers[part[0] : part[-1] + 1]),
        )


def placed(section: Section, lines: Sequence[Line], hosts: Mapping[str, str]) -> Section:
    """The section with the numbers, heads and host of its lines, which it knows by their places."""
    held = [lines[section.number(index) - 1] for index in range(max(len(section.lines), 1))]
    heads = tuple(line.head for line in held) if any(line.head for line in held) else ()
    return msgspec.structs.replace(
        section,
        host=section.host or hosts.get(held[0].host or ""),
        first_line=held[0].number,
        numbers=tuple(line.number for line in held),
        heads=heads,
    )
