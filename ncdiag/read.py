"""From bytes to facts: scan and cut each source in one pass, parse its sections, merge what was observed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

from ncdiag.facts.merge import merge
from ncdiag.facts.model import Job
from ncdiag.facts.observe import Observation, Parsed
from ncdiag.facts.settings import resolved
from ncdiag.nccl import environment
from ncdiag.parsers import discover
from ncdiag.parsers.nccl_log import Scanner, split_lines
from ncdiag.sections.cut import Cutter
from ncdiag.spans import Section


class Readable(Protocol):
    """A source: line-aligned buffers of clean UTF-8 with LF line ends (`ncdiag.sources.files.TextSource`)."""

    name: str
    notes: list[str]

    def buffers(self) -> Iterator[bytes]:
        """The content, in order."""


class Piece(msgspec.Struct, frozen=True):
    """A section that was recognised: its kind and lines, for the report."""

    kind: str
    first_line: int
    last_line: int
    host: str | None


class Reading(msgspec.Struct, frozen=True):
    """What one source gave."""

    source: str
    lines: int
    unread_lines: int
    pieces: tuple[Piece, ...]
    notes: tuple[str, ...]
    observations: tuple[Observation, ...]


def read_source(source: Readable) -> Reading:
    """Scan NCCL lines and cut the others, buffer by buffer, then parse what was cut."""
    parsers = discover()
    scanner, cutter = Scanner(source.name), Cutter(source.name, parsers)
    line = 1
    for buffer in source.buffers():
        scanner.feed(buffer, line)
        first = line
        cutter.feed((first + i, text.decode("utf-8", "replace")) for i, text in split_lines(buffer))
        line += buffer.count(b"\n")
    parsed, pieces = _parse(cutter.finish())
    scanned = scanner.finish()
    if scanned.observations:
        numbers = [o.span.line for o in scanned.observations]
        pieces.insert(0, Piece("nccl_log", min(numbers), max(numbers), None))
    notes = list(source.notes)
    if cutter.skipped_lines:
        notes.append(f"{cutter.skipped_lines} lines of other text were too many to read and were counted only")
    unread = sum(len(p.unread) for p in [*parsed, scanned]) + cutter.skipped_lines
    found = [o for p in [scanned, *parsed] for o in p.observations]
    return Reading(source.name, line - 1, unread, tuple(pieces), tuple(notes), tuple(found))


def read_sections(sections: Iterable[Section]) -> list[Reading]:
    """Parse sections that are cut already, such as the outputs that a collector asked for; each is a reading."""
    return [_reading(section) for section in sections]


def _reading(section: Section) -> Reading:
    (parsed,), pieces = _parse([section])
    return Reading(section.source, len(section.lines), len(parsed.unread), tuple(pieces), (), parsed.observations)


def _parse(sections: Iterable[Section]) -> tuple[list[Parsed], list[Piece]]:
    parsers = discover()
    results: list[Parsed] = []
    pieces: list[Piece] = []
    for section in sections:
        result = parsers[section.kind].parse(section)
        results.append(_with_completeness(section, result))
        if section.kind != "text" or result.observations:
            pieces.append(Piece(section.kind, section.first_line, section.last_line, section.host))
    return results, pieces


def _with_completeness(section: Section, parsed: Parsed) -> Parsed:
    """A section that shows its whole collection makes its kind complete on its host."""
    if not parsed.complete:
        return parsed
    span = section.span(0) if section.lines else next((o.span for o in parsed.observations), None)
    if span is None:
        return parsed
    whole = Observation(entity="Host", host=section.host, fields={"complete": [section.kind]}, span=span)
    return msgspec.structs.replace(parsed, observations=(*parsed.observations, whole))


def job_of(readings: Iterable[Reading], more: Iterable[Observation] = ()) -> Job:
    """Merge the observations of all sources; events keep the order of the input."""
    observations: list[Observation] = []
    base = 0
    for reading in readings:
        observations += [_ordered(o, base) for o in reading.observations]
        base += reading.lines + 1
    observations += more
    return resolved(merge(observations), environment.resolve_fields)


def _ordered(observation: Observation, base: int) -> Observation:
    if observation.entity != "Event":
        return observation
    return msgspec.structs.replace(observation, fields={**observation.fields, "order": base + observation.span.line})


def facts_of(sections: Mapping[str, Sequence[str]], host: str | None = None) -> Job:
    """The facts of texts given by section kind, read as one paste.

    What a rule's examples are. ``host`` is a heading above them.
    """
    from ncdiag.sources.files import TextSource

    texts = [text.strip("\n") for found in sections.values() for text in found]
    heading = f"=== {host} ===\n" if host else ""
    source = TextSource.of_bytes("example", (heading + "\n".join(texts) + "\n").encode())
    return job_of([read_source(source)])
