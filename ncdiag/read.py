"""From bytes to facts: scan and cut each source in one pass, parse its sections, merge what was observed."""

from __future__ import annotations

import contextlib
import gc
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec

from ncdiag.facts.merge import merge
from ncdiag.facts.model import Job
from ncdiag.facts.observe import Observation, Parsed
from ncdiag.facts.settings import resolved
from ncdiag.nccl import environment
from ncdiag.parsers import discover
from ncdiag.parsers._program import leftovers
from ncdiag.parsers.nccl_log import Repeats, Scanner
from ncdiag.sections.cut import TEXT_LIMIT, Cutter
from ncdiag.sections.line import Line
from ncdiag.sections.places import by_host, hosts_of, placed
from ncdiag.sections.undress import GENERAL, LIMIT, Said, joined, undressed
from ncdiag.sources import bug_report
from ncdiag.sources.text import Cleaner
from ncdiag.spans import Section, Span

UNREAD_KEPT = 1000
"""Lines of a source that are kept to be shown because nobody understood them; all are counted."""
_UNTOLD = frozenset({"unknown-warn", "program-error", "program-cuda-failure", "failure-words", "kernel-fault"})
"""Events of a line of which nobody knows what it says: a layer around it may look like them."""
_PLACE = frozenset({"text", "order", "time", "count", "line_tag", "unreadable_rows"})
"""Fields that tell of a line, or of how it was read, rather than of what it says."""
_PART_BITS = 40
"""A part of a source numbers its lines from its index times two to this power on; the true numbers come later."""


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
    """What one source gave. ``unread`` are the first of the lines that nobody understood."""

    source: str
    lines: int
    unread_lines: int
    pieces: tuple[Piece, ...]
    notes: tuple[str, ...]
    observations: tuple[Observation, ...]
    unread: tuple[Span, ...] = ()


def read_source(source: Readable, tick: Callable[[int], None] = lambda _: None) -> Reading:
    """Scan NCCL lines and cut the others, then parse what was cut. ``tick`` gets the bytes read.

    A long source is read buffer by buffer as it is; a short one as a paste, without what was put around its lines.
    """
    buffers = _ticked(joined(bug_report.prompted(source.buffers())), tick)
    first, second = next(buffers, b""), next(buffers, b"")
    if second or len(first) > LIMIT:
        return _read_buffers(source, itertools.chain([first, second], buffers))
    text = first.decode("utf-8", "replace")
    whole: dict[int, tuple[Sequence[Line], Reading]] = {}

    def measure(lines: Sequence[Line], doubtful: bool) -> frozenset[Said]:  # noqa: FBT001  (a callback)
        reading = _read_lines(source, lines)
        whole[lines[-1].number] = lines, reading
        return _told(reading, doubtful=doubtful)

    lines, count = undressed(text, measure), text.count("\n")
    held = whole.get(lines[-1].number)
    if held is not None and held[0] == lines:
        return msgspec.structs.replace(held[1], lines=count)
    return _read_lines(source, lines, count)


def _ticked(buffers: Iterable[bytes], tick: Callable[[int], None]) -> Iterator[bytes]:
    for buffer in buffers:
        yield buffer
        tick(len(buffer))


def _told(reading: Reading, *, doubtful: bool) -> frozenset[Said]:
    """What the source was understood to say: each value of each field of what was observed, once.

    ``doubtful``: without settings and launch commands, which people write down without having done it.
    """
    silent = {"Complaint", "Setting", "Launch"} if doubtful else {"Complaint"}  # prose complains in any clothes
    return frozenset(said for found in reading.observations if found.entity not in silent for said in _said(found))


def _said(found: Observation) -> Iterator[Said]:
    """Of an event: that it happened, and what its message carries, unless nobody knows the message."""
    fields: Mapping[str, Any] = found.fields
    what = found.entity, found.host or "", str(found.key)
    if found.entity == "Event":
        name = str(fields.get("event"))
        what = found.entity, found.host or "", name
        fields = {"": name, "rank": fields.get("rank"), **fields.get("fields", {})}
        fields = {} if name in _UNTOLD else {"": name} if name in GENERAL else fields
    for name, value in fields.items():
        if name not in _PLACE and (found.entity, name) != ("Rank", "nccl_version"):  # which rests on how lines look
            yield from ((*what, path, text) for path, text in _values(value, name.removesuffix("_partial")))


def _values(content: object, path: str) -> Iterator[tuple[str, str]]:
    """The values in a field, each with its path; of a list of plain values, only the list."""
    if isinstance(content, msgspec.Struct):
        content = msgspec.structs.asdict(content)
    if isinstance(content, Mapping):
        for name, value in content.items():
            yield from _values(value, f"{path}.{name}")
    elif isinstance(content, (list, tuple)) and any(isinstance(item, (msgspec.Struct, Mapping)) for item in content):
        for item in content:
            yield from _values(item, path)
    elif content is not None and content not in ((), [], {}):
        yield path, str(content)


def _read_lines(source: Readable, lines: Sequence[Line], count: int = 0) -> Reading:
    """What the lines of a paste say, each under its number; ``count`` is how many lines the paste has."""
    scanner = Scanner(source.name)
    cutters: dict[str, Cutter] = {}
    order = sorted(range(len(lines)), key=lambda index: lines[index].number)  # NCCL's lines name their processes
    text = "".join(f"{lines[index].head}{lines[index].text}\n" for index in order)
    with collection_paused():
        for place, content in scanner.feed(text.encode("utf-8", "replace")):
            index = order[place - 1]
            line = lines[index]
            cutter = cutters.get(line.stream) or cutters.setdefault(line.stream, Cutter(source.name, discover()))
            cutter.feed([(index + 1, content.decode("utf-8", "replace").removeprefix(line.head))])
    scanned = scanner.finish(lambda place: lines[order[place - 1]].number)
    hosts = hosts_of(lines, *_named(scanned.observations))
    cut = [part for cutter in cutters.values() for section in cutter.finish() for part in by_host(section, lines)]
    sections = [placed(section, lines, hosts) for section in cut]
    skipped = sum(cutter.skipped_lines for cutter in cutters.values())
    return _put_together(source.name, scanned, sections, skipped, count, source.notes)


def _named(observations: Iterable[Observation]) -> tuple[set[str], dict[str, str]]:
    """The hosts that printed NCCL lines, and which of them has an address at which it waits for the others."""
    ranks = [found for found in observations if found.entity == "Rank" and found.host]
    interfaces = [(found.host, found.fields.get("bootstrap_interface") or {}) for found in ranks]
    addresses = {each["ip"]: host for host, item in interfaces for each in item.get("addresses", ()) if host}
    return {found.host for found in ranks if found.host}, addresses


def _read_buffers(source: Readable, buffers: Iterable[bytes]) -> Reading:
    scanner, cutter = Scanner(source.name), Cutter(source.name, discover())
    with collection_paused():
        for buffer in buffers:
            cutter.feed((number, text.decode("utf-8", "replace")) for number, text in scanner.feed(buffer))
    scanned, sections = scanner.finish(), cutter.finish()
    return _put_together(source.name, scanned, sections, cutter.skipped_lines, scanner.next_line - 1, source.notes)


class Part(msgspec.Struct):
    """What was read of a part of a source: small, however long the part was, unless it is text of other programs.

    ``text`` holds the lines that are not NCCL's in stretches, each with the number of its first line; ``skipped`` more
    were not kept. ``whole``: the part was read to its end. Lines have numbers of their own (`Parts`).
    """

    scanner: Scanner
    cleaner: Cleaner
    text: list[tuple[int, bytes]] = []
    skipped: int = 0
    whole: bool = True


def read_part(
    name: str, index: int, buffers: Iterable[bytes], cleaner: Cleaner, repeats: Repeats | None = None
) -> Part:  # fmt: skip
    """Scan the part with this index of a source; the buffers come from ``cleaner``, ``repeats`` from earlier parts."""
    part = Part(Scanner(name, first_line=(index << _PART_BITS) + 1, repeats=repeats), cleaner, [])
    room = TEXT_LIMIT
    with collection_paused():
        for buffer in buffers:
            lines = part.scanner.feed(buffer)
            for _, stretch in itertools.groupby(enumerate(lines), lambda pair: pair[1][0] - pair[0]):
                kept = [line for _, line in stretch]
                if room > 0:
                    part.text.append((kept[0][0], b"\n".join(line for _, line in kept)))
                    room -= len(part.text[-1][1])
                else:
                    part.skipped += len(kept)
    return part


class Parts:
    """Puts the parts of a source together. A section that the border of two parts cuts is one section again."""

    def __init__(self, name: str) -> None:
        """``name`` is the source's."""
        self._name = name
        self._cutter = Cutter(name, discover())
        self._scanner: Scanner | None = None
        self._cleaner = Cleaner()
        self._lines = [0]

    def add(self, part: Part) -> None:
        """Add the next part."""
        self._lines.append(self._lines[-1] + part.scanner.next_line - part.scanner.first_line)
        for first, text in part.text:
            lines = enumerate(text.split(b"\n"), self._number(first))
            self._cutter.feed((number, line.decode("utf-8", "replace")) for number, line in lines)
        self._cutter.skipped_lines += part.skipped
        self._cleaner.add(part.cleaner)
        if self._scanner is None:
            self._scanner = part.scanner
        else:
            self._scanner.merge(part.scanner)

    def _number(self, line: int) -> int:
        """The number in the source of a line of a part."""
        return self._lines[line >> _PART_BITS] + (line & ((1 << _PART_BITS) - 1))

    def reading(self, notes: Iterable[str] = ()) -> Reading:
        """What all parts gave, as if they had been read as one."""
        scanner = self._scanner or Scanner(self._name)
        scanned, sections = scanner.finish(self._number), self._cutter.finish()
        notes = [*notes, *self._cleaner.notes()]
        return _put_together(self._name, scanned, sections, self._cutter.skipped_lines, self._lines[-1], notes)


def _put_together(  # noqa: PLR0913, PLR0917  (what a reading is made of)
    name: str, scanned: Parsed, sections: Iterable[Section], skipped: int, lines: int, notes: Iterable[str]
) -> Reading:
    parsed, pieces, unread = _parse(sections)
    if scanned.observations:
        numbers = [o.span.line for o in scanned.observations]
        pieces.insert(0, Piece("nccl_log", min(numbers), max(numbers), None))
    notes = list(notes)
    if skipped:
        notes.append(f"{skipped} lines of other text were too many to read and were counted only")
    count = sum(len(p.unread) for p in [*parsed, scanned]) + skipped
    unread += [o.span for o in scanned.observations if o.fields.get("event") == "unknown-warn"]
    shown = sorted(unread, key=lambda span: span.line)[:UNREAD_KEPT]
    found = [o for p in [scanned, *parsed] for o in p.observations]
    return Reading(name, lines, count, tuple(pieces), tuple(notes), tuple(found), tuple(shown))


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """No search for cycles while a buffer makes ten thousand tuples at a time: it takes a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def read_sections(sections: Iterable[Section]) -> list[Reading]:
    """Parse sections that are cut already, such as the outputs that a collector asked for; each is a reading."""
    return [_reading(section) for section in sections]


def _reading(section: Section) -> Reading:
    (parsed,), pieces, unread = _parse([section])
    lines, count = len(section.lines), len(parsed.unread)
    return Reading(section.source, lines, count, tuple(pieces), (), parsed.observations, tuple(unread[:UNREAD_KEPT]))


def _with_leftovers(section: Section, parsed: Parsed) -> Parsed:
    """Lines that a tool's parser does not know may be those of another program in between: the catalogue reads them."""
    rest = leftovers(section, parsed.unread)
    observations = (*parsed.observations, *rest.observations)
    return msgspec.structs.replace(parsed, observations=observations, unread=rest.unread)


def _parse(sections: Iterable[Section]) -> tuple[list[Parsed], list[Piece], list[Span]]:
    parsers = discover()
    results: list[Parsed] = []
    pieces: list[Piece] = []
    unread: list[Span] = []
    for section in sections:
        result = parsers[section.kind].parse(section)
        if result.unread and section.kind != "text":
            result = _with_leftovers(section, result)
        results.append(_with_completeness(section, result))
        unread += [section.span(index) for index in result.unread[: UNREAD_KEPT - len(unread)]]
        if section.kind != "text" or result.observations:
            pieces.append(Piece(section.kind, section.first_line, section.last_line, section.host))
    return results, pieces, unread


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
