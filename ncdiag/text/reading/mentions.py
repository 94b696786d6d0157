"""Take from a reading what its text only mentions: a changelog, a document or a chat about the past reports nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

import msgspec

from ncdiag.base.spans import Span
from ncdiag.facts.observe import Observation
from ncdiag.formats.blocks.setting_tables import setting_tables
from ncdiag.text.reading.model import Piece, Reading

if TYPE_CHECKING:
    from ncdiag.formats.blocks.assorted import Failure
    from ncdiag.formats.blocks.kinds import Mentioned

_SAID = frozenset({"Event", "Complaint", "Trial", "Rank", "Communicator", "Connection", "RunLabel", "Timeout"})
"""What happened, as a line reports it. Settings, launch lines and outputs in a document are still checked for risks."""
_WRITTEN = _SAID | {"Setting", "Launch", "Context", "Want", "ToldRate", "Access", "Duration"}
"""What people write down as well; the others are in outputs of tools."""
_QUOTABLE = frozenset({"text", "nccl_log", "env", "launch", "traceback", "torch_watchdog"})
"""Kinds of sections of which documents show a line or two."""
_COUNTED = frozenset({"progress-step", "progress-bar", "slurm-job-completed"})
"""Events of counters and lists, which no document reports as a failure."""
_JOB = frozenset({"Event", "Rank", "Communicator"})
"""What shows that a job ran: beside it, nothing that a document says is a fact of that job."""
_JOINED = 20
"""Maximum number of lines that are joined to one."""
_LATE, _VAGUE, _LAST = 62, 80, (100, None)
"""Layers of the categories from which on a failure is the effect of others, and does not say what failed."""
_UNKNOWN = "unknown"
"""The category of warnings that no message describes."""
_OPENING = 2
"""Number of lines that are the title and the first sentence."""
_SHOWN = 4
"""Maximum number of blocks that a note lists, of each kind."""


def without_mentions(reading: Reading, lines: Sequence[str]) -> Reading:
    """The reading of a short source without what its lines (all, in order) only mention, and with a note on it."""
    reading = _without_explained(reading, lines)
    if not any(map(_reports, reading.observations)):
        return reading
    from ncdiag.formats.blocks.kinds import Content, mentioned  # with its patterns, which only a text with events needs
    from ncdiag.parsers import named_in_sentences

    named = named_in_sentences(reading.observations, lines)
    complaints = [each.span.line for each in reading.observations if each.entity == "Complaint"]
    content = Content(
        complaint=bool(complaints),
        opening=not set(_opening(lines)).isdisjoint(complaints),
        outputs=any(each.entity not in _WRITTEN for each in reading.observations),
        printed=frozenset(
            index for piece in reading.pieces if piece.kind not in _QUOTABLE for index in _held_by(piece, lines)
        ),
    )
    bare = list(lines)
    for span in (*reading.written, *reading.announcing):
        if 0 < span.line <= len(bare):
            bare[span.line - 1] = span.text
    blocks = mentioned(lines, named, _failures(reading.observations, lines), content, bare)
    return _without(reading, [found._replace(first=found.first + 1, last=found.last + 1) for found in blocks], lines)


def _without_explained(reading: Reading, lines: Sequence[str]) -> Reading:
    """The reading without the rows of tables that explain settings, whatever is around them."""
    rows = {row + 1 for first, last in setting_tables(lines) for row in range(first + 1, last + 1)}
    if not rows:
        return reading
    held = (each for each in reading.observations if not (each.span.line in rows and each.entity in _WRITTEN))
    written = (span for span in reading.written if span.line not in rows)
    return msgspec.structs.replace(reading, observations=tuple(held), written=tuple(written))


def _failures(observations: Sequence[Observation], lines: Sequence[str]) -> dict[int, Failure]:
    """What lines report, by their index: of several events on one line that which is closest to the cause."""
    from ncdiag.formats.blocks.assorted import Failure
    from ncdiag.messages import about

    found: dict[int, tuple[int, Failure]] = {}
    for each in observations:
        event, index = str(each.fields.get("event")), each.span.line - 1
        category = about.category(event) if each.entity == "Event" and 0 <= index < len(lines) else None
        if category and category.layer < found.get(index, _LAST)[0]:
            name, layer = about.entry(event).category, category.layer
            is_specific = layer < _VAGUE and name != _UNKNOWN
            found[index] = layer, Failure(name, is_specific, is_specific and layer < _LATE)
    return {index: failure for index, (_, failure) in found.items()}


def _held_by(piece: Piece, lines: Sequence[str]) -> range:
    """The indexes of the lines of a section, and of those right above it, which are its head."""
    first = piece.first_line - 1
    while 0 < first <= len(lines) and lines[first - 1].strip():
        first -= 1
    return range(first, piece.last_line)


def _opening(lines: Sequence[str]) -> list[int]:
    """The numbers of the title and the first sentence."""
    written = (number for number, line in enumerate(lines, 1) if line.strip())
    return list(itertools.islice(written, _OPENING))


def _reports(found: Observation) -> bool:
    """True if the observation is of something that happened, other than how far a program is."""
    return found.entity in _SAID and found.fields.get("event") not in _COUNTED


def without_other_systems(reading: Reading) -> Reading:
    """The reading of a long source without its events, if all informative lines are those of a host without a job."""
    events = {found.span.line: found.span.text for found in reading.observations if found.entity == "Event"}
    if not events:
        return reading
    from ncdiag.formats.blocks.host_logs import foreign_log
    from ncdiag.formats.blocks.kinds import Mentioned

    spans = events | {span.line: span.text for span in reading.unread}
    numbers = sorted(spans)
    blocks = list(foreign_log([spans[number] for number in numbers]))
    kind = "the log of another system"
    return _without(reading, [Mentioned(numbers[first], numbers[last], kind) for first, last in blocks])


def _without(reading: Reading, blocks: Sequence[Mentioned], lines: Sequence[str] = ()) -> Reading:
    if not blocks:
        return reading
    from ncdiag.formats.blocks.kinds import PROGRAMS

    places = {number for block in blocks for number in block.lines}
    places |= {found.span.line for found in reading.observations if not places.isdisjoint(_lines_of(found.span, lines))}
    left_out = {found.span.line for found in reading.observations if found.entity in _SAID} & places
    # what a program does, or a rule says, is a fact beside a run, too
    apart = {number for block in blocks if block.kind not in PROGRAMS for number in block.lines}
    ran = any(found.entity in _JOB and found.span.line not in places for found in reading.observations)
    held = (
        found
        for found in reading.observations
        if not ((found.span.line in places and found.entity in _SAID) or (ran and found.span.line in apart))
    )
    return msgspec.structs.replace(
        reading,
        observations=tuple(held),
        notes=(*reading.notes, *_notes(blocks, left_out)),
        mentioned=tuple(sorted(apart | left_out)),
    )


def _lines_of(span: Span, lines: Sequence[str]) -> Iterator[int]:
    """The numbers of the lines after its first that a span holds, where lines that were wrapped were joined."""
    if not 0 < span.line <= len(lines) or len(span.text) <= len(lines[span.line - 1]):
        return
    for number, line in enumerate(lines[span.line : span.line + _JOINED], span.line + 1):
        words = line.split(None, 1)
        if not words or words[-1].rstrip() not in span.text:
            return
        yield number


def _notes(blocks: Iterable[Mentioned], left_out: AbstractSet[int]) -> Iterator[str]:
    """A sentence for each kind of block that names a failure: which lines, and why nothing in them counts."""
    found: dict[str, list[str]] = {}
    for block in blocks:
        if not left_out.isdisjoint(block.lines):
            lines = f"{block.first}" if block.first == block.last else f"{block.first}-{block.last}"
            found.setdefault(block.kind, []).append(lines)
    for kind, numbers in found.items():
        yield f"lines {','.join(numbers[:_SHOWN])}: only mentioned in {kind}, not counted as failures"
