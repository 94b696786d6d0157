"""Parse the sections of a source and combine them with its scanned NCCL lines to one reading."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from ncdiag.base.errors import contained
from ncdiag.base.spans import Section, Span
from ncdiag.facts.observe import Observation, Parsed, not_declared
from ncdiag.parsers import counters, discover, leftovers, odd_hosts, script
from ncdiag.text.reading.model import Piece, Reading
from ncdiag.text.reading.named_ranks import with_rank_of_file
from ncdiag.text.reading.stop import INTERRUPTED, Stop

if TYPE_CHECKING:
    from ncdiag.text.reading.sieve import Dropped

UNREAD_KEPT = 1000
"""Maximum number of lines not understood that are kept to be shown; all are counted."""


def put_together(  # noqa: PLR0913, PLR0917  (what a reading is made of)
    name: str, scanned: Parsed, sections: Iterable[Section], skipped: int, lines: int, notes: Iterable[str],
    dropped: Dropped | None = None, stop: Stop | None = None, *, statements: bool = True,
) -> Reading:  # fmt: skip
    """The reading of a source: the facts of its NCCL lines, and those that the parsers find in its sections.

    ``skipped`` lines of other text were only counted; those in ``dropped`` carry no information. ``stop``: if a stop is
    requested, the result has the sections parsed so far; what was read before it is parsed. Unless ``statements``, what
    people say in the sections is not read.
    """
    faults: list[str] = []
    stop = None if stop is None or stop.happened else stop
    left_out = dropped.lines if dropped is not None else 0
    sections = [msgspec.structs.replace(section, left_out=left_out, spoken=statements) for section in sections]
    parsed, pieces, unread = _parse(sections, faults, stop)
    if scanned.observations:
        numbers = [o.span.line for o in scanned.observations]
        pieces.insert(0, Piece("nccl_log", min(numbers), max(numbers), None))
    notes = list(notes)
    if stop is not None and stop.happened:
        notes.append(INTERRUPTED)
        sections = sections[: len(parsed)]
    if skipped:
        notes.append(f"{skipped} lines of other text were counted but not read (too many)")
    count = sum(len(p.unread) for p in [*parsed, scanned]) + skipped
    if dropped is not None:
        count += dropped.unread
        unread += dropped.spans(name)
        parsed += [_parsed(section, faults, counters) for section in dropped.sections(name)]
    unread += [o.span for o in scanned.observations if o.fields.get("event") == "unknown-warn"]
    shown = sorted(unread, key=lambda span: span.line)[:UNREAD_KEPT]
    found = [o for p in [scanned, *parsed] for o in p.observations]
    found += _told(sections, faults) if statements else []
    found = with_rank_of_file(name, found)
    faults += not_declared(found)
    return Reading(name, lines, count, tuple(pieces), tuple(notes), tuple(found), tuple(shown), tuple(faults))


def _told(sections: Sequence[Section], faults: list[str]) -> list[Observation]:
    """Statements of people in the sections; none, with a note in ``faults``, if the grammar fails."""
    if not sections:
        return []
    from ncdiag.parsers import user_text  # a grammar, not needed for a log with only NCCL lines

    try:
        return user_text.read(sections)
    except Exception as error:  # noqa: BLE001  (the grammar must raise nothing: this did)
        faults.append(contained(error, "text written by people could not be read"))
        return []


def programs_in(name: str, lines: Sequence[tuple[int, str]]) -> tuple[list[Observation], list[str]]:
    """Errors in the Python programs of a paste, given as numbered lines, and notes on faults of the analyser."""
    try:
        return script.read(name, lines), []
    except Exception as error:  # noqa: BLE001  (the reader must raise nothing: this did)
        return [], [contained(error, "the programs in the input could not be read")]


def odd_hosts_in(name: str, lines: Sequence[tuple[int, str]]) -> tuple[list[Observation], list[str]]:
    """Hosts whose value differs in the output of a command that ran on many, and notes on faults of the reader."""
    try:
        return odd_hosts(name, lines), []
    except Exception as error:  # noqa: BLE001  (the reader must raise nothing: this did)
        return [], [contained(error, "the values of several hosts in the input could not be read")]


@contextlib.contextmanager
def collection_paused() -> Iterator[None]:
    """Pause the cyclic garbage collector while a buffer creates ten thousand tuples: this saves a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def read_sections(sections: Iterable[Section]) -> list[Reading]:
    """One reading per section that is already cut, such as the outputs of a collector."""
    return [_reading(section) for section in sections]


def _reading(section: Section) -> Reading:
    faults: list[str] = []
    (parsed,), pieces, unread = _parse([section], faults)
    faults += not_declared(parsed.observations)
    lines, count = len(section.lines), len(parsed.unread)
    shown = tuple(unread[:UNREAD_KEPT])
    return Reading(section.source, lines, count, tuple(pieces), (), parsed.observations, shown, tuple(faults))


def _with_leftovers(section: Section, parsed: Parsed) -> Parsed:
    """Lines that a tool's parser does not know may come from another program: the message catalogue reads them."""
    rest = leftovers(section, parsed.unread)
    observations = (*parsed.observations, *rest.observations)
    return msgspec.structs.replace(parsed, observations=observations, unread=rest.unread)


def _parse(
    sections: Iterable[Section], faults: list[str], stop: Stop | None = None
) -> tuple[list[Parsed], list[Piece], list[Span]]:
    results: list[Parsed] = []
    pieces: list[Piece] = []
    unread: list[Span] = []
    for section in sections:
        if stop is not None and stop.happened:
            break
        result = _parsed(section, faults)
        results.append(_with_completeness(section, result))
        unread += [section.span(index) for index in result.unread[: UNREAD_KEPT - len(unread)]]
        if section.kind != "text" or result.observations:
            pieces.append(Piece(section.kind, section.first_line, section.last_line, section.host))
    return results, pieces, unread


def _parsed(section: Section, faults: list[str], parse: Callable[[Section], Parsed] | None = None) -> Parsed:
    """The section parsed by its parser, or by ``parse``; nothing, with a note in ``faults``, if that fails."""
    try:
        if parse is not None:
            return parse(section)
        result = discover()[section.kind].parse(section)
        return _with_leftovers(section, result) if result.unread and section.kind != "text" else result
    except Exception as error:  # noqa: BLE001  (a parser must raise nothing: this one does)
        where = f"lines {section.first_line}-{section.last_line} of {section.source}"
        faults.append(contained(error, f"{where} ({section.kind}) could not be read"))
        return Parsed(unread=tuple(range(len(section.lines))))


def _with_completeness(section: Section, parsed: Parsed) -> Parsed:
    """Mark the kind as complete on its host if the section shows a whole collection."""
    if not parsed.complete:
        return parsed
    span = section.span(0) if section.lines else next((o.span for o in parsed.observations), None)
    if span is None:
        return parsed
    whole = Observation(entity="Host", host=section.host, fields={"complete": [section.kind]}, span=span)
    return msgspec.structs.replace(parsed, observations=(*parsed.observations, whole))
