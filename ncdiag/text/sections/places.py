"""The origin of the lines of a section: their numbers in the source, the text removed before them, their host."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from ncdiag.base.spans import Section
from ncdiag.text.sections.line import Line


def hosts_of(lines: Iterable[Line], named: Iterable[str], addresses: Mapping[str, str]) -> dict[str, str]:
    """Host names that preceded lines, mapped to the name that NCCL uses for the host.

    ``named`` are the hosts that printed NCCL lines, ``addresses`` maps addresses of their interfaces to hosts. A single
    unknown name before all lines is the machine that runs a container: it is ignored.
    """
    hosts = {line.host: addresses.get(line.host, line.host) for line in lines if line.host}
    known = set(named)
    if len(hosts) == 1 and known and not known & set(hosts.values()):
        return {}
    return hosts


def by_host(section: Section, lines: Sequence[Line]) -> Iterator[Section]:
    """Split a text section into parts of one host each, by what preceded its lines; a tool's output stays one part."""
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
    """The section with the numbers, heads and host of its lines; before, ``numbers`` are indexes into ``lines``."""
    held = [lines[section.number(index) - 1] for index in range(max(len(section.lines), 1))]
    heads = tuple(line.head for line in held) if any(line.head for line in held) else ()
    return msgspec.structs.replace(
        section,
        host=section.host or hosts.get(held[0].host or ""),
        first_line=held[0].number,
        numbers=tuple(line.number for line in held),
        heads=heads,
    )
