"""Partial readings: what was read on one host, as JSON, to be judged together with other hosts.

A partial reading is lines of JSON: a head, then one line per text or machine, in their order. Judging several partial
readings in order gives the same result as judging all their inputs in one place, so they can be joined in any grouping
(``cat`` joins them too). It contains the observations, not the logs: of a long log only the lines that carry facts.
"""

from __future__ import annotations

import functools
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ncdiag.base.errors import InputError
from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Span
from ncdiag.base.version import __version__
from ncdiag.facts.model.declared import fields_with
from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import VersionRange
from ncdiag.text.reading.case import Case
from ncdiag.text.reading.model import Look, Reading
from ncdiag.text.sources.archives import BROKEN, Member, Reader, reason_of
from ncdiag.text.sources.machines import PARTIAL_MARK
from ncdiag.text.sources.model import Unreadable
from ncdiag.text.sources.text import BUFFER_SIZE

FORMAT = 1
"""Format version; raised when an older ncdiag would misread the output of a newer one."""

_LONE = lazy_regex(r"\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f])|(?<!\\ud[89ab][0-9a-f]{2})\\ud[c-f][0-9a-f]{2}")


class Head(msgspec.Struct, frozen=True):
    """The first line: the version of the format (``ncdiag_partial``), and the release of ncdiag that wrote it."""

    ncdiag_partial: int
    ncdiag: str = ""


class Elsewhere(msgspec.Struct, frozen=True):
    """A machine that was inspected elsewhere (a `ncdiag.text.reading.model.Look`).

    ``host`` is the name under which its facts are stored.
    """

    name: str
    host: str
    read: tuple[Reading, ...] = ()
    observed: tuple[Observation, ...] = ()
    unseen: tuple[str, ...] = ()

    @property
    def is_silent(self) -> bool:
        """True if the machine did not answer."""
        return not self.observed

    def renamed(self, name: str) -> Elsewhere:
        """The same machine with its facts under another name."""
        own, replace = self.host, msgspec.structs.replace

        def under(found: tuple[Observation, ...]) -> tuple[Observation, ...]:
            return tuple(replace(o, host=name) if o.host == own else o for o in found)

        read = tuple(
            replace(
                reading,
                observations=under(reading.observations),
                pieces=tuple(replace(p, host=name) if p.host == own else p for p in reading.pieces),
            )
            for reading in self.read
        )
        return replace(self, host=name, read=read, observed=under(self.observed))

    def placed(self) -> Elsewhere:
        """The same machine with its name before the name of each file and output (``n1:/proc/self/limits``)."""
        replace = msgspec.structs.replace
        observed = tuple(
            replace(o, span=Span(f"{self.host}:{o.span.source}", o.span.line, o.span.text)) for o in self.observed
        )
        read = tuple(reading.renamed(f"{self.host}:{reading.source}") for reading in self.read)
        return replace(self, read=read, observed=observed)

    def readings(self, *, alone: bool) -> Sequence[Reading]:  # noqa: ARG002  (it is never alone: it came from elsewhere)
        """The parsed outputs of its programs."""
        return self.read

    def observations(self) -> Sequence[Observation]:
        """Observations that do not come from text."""
        return self.observed

    def not_seen(self) -> Sequence[str]:
        """A phrase for each thing that could not be observed."""
        return self.unseen


class _Entry(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One line of the file: a head, a text or a machine."""

    text: Reading | None = None
    unreadable: Unreadable | None = None
    machine: Elsewhere | None = None


Part = Reading | Unreadable | Elsewhere


def written(case: Case, host: str = "") -> Iterator[bytes]:
    """The lines of a case, each with its line end; ``host`` is the host on which the local texts were read."""
    yield _encoded(Head(FORMAT, __version__))
    for text in case.texts:
        if isinstance(text, Reading):
            text = msgspec.structs.replace(text, read_on=text.read_on or host)  # noqa: PLW2901  (the same text)
        yield _encoded(_Entry(text=text) if isinstance(text, Reading) else _Entry(unreadable=text))
    for look in case.looks:
        yield _encoded(_Entry(machine=_elsewhere(look)))


def read(lines: Iterable[bytes], name: str) -> Iterator[Part]:
    """The texts and machines of the partial readings in ``name``.

    Raises InputError if the lines are not a partial reading or are in a newer format. A damaged line loses only its own
    text or machine, which becomes an `Unreadable`.
    """
    for number, line in enumerate(lines, 1):
        try:
            if line.startswith(PARTIAL_MARK):
                _checked(msgspec.json.decode(line, type=Head), name)
            elif line.strip():
                yield _decoded(line)
        except (msgspec.DecodeError, RecursionError) as error:  # noqa: PERF203  (one bad line does not stop the others)
            yield Unreadable(f"{name}:{number}", f"not a line of a partial reading: {error}")


def of_members(members: Iterable[Member], name: str) -> Iterator[Part]:
    """Like `read`, for the only file among ``members``; each line is read on demand."""
    for member in members:
        if member.reader is not None:
            try:
                yield from read(_lines(member.reader), name)
            except BROKEN as error:
                yield Unreadable(name, reason_of(error))


def _lines(reader: Reader) -> Iterator[bytes]:
    """The lines of a stream. Raises one of `BROKEN` if the stream is damaged."""
    rest: list[bytes] = []
    while piece := reader.read(BUFFER_SIZE):
        *whole, last = piece.split(b"\n")
        for line in whole:
            yield b"".join([*rest, line])
            rest = []
        rest.append(last)
    yield b"".join(rest)


def _checked(head: Head, name: str) -> None:
    if head.ncdiag_partial > FORMAT:
        msg = f"cannot read {name}: ncdiag {head.ncdiag} wrote it in a newer format ({head.ncdiag_partial})"
        raise InputError(msg)


def _elsewhere(look: Look) -> Elsewhere:
    if isinstance(look, Elsewhere):
        return look
    observations = tuple(look.observations())
    host = next((found.host for found in observations if found.host is not None), look.name)
    return Elsewhere(look.name, host, tuple(look.readings(alone=False)), observations, tuple(look.not_seen()))


def _encoded(line: Head | _Entry) -> bytes:
    try:
        return msgspec.json.encode(line) + b"\n"
    except UnicodeEncodeError:  # a file whose name is not valid UTF-8
        text = json.dumps(msgspec.to_builtins(line))
        return _LONE.sub(r"\\ufffd", text).encode() + b"\n"


def _decoded(line: bytes) -> Part:
    entry = msgspec.json.decode(line, type=_Entry)
    if sum(part is not None for part in (entry.text, entry.unreadable, entry.machine)) > 1:
        msg = "it contains more than one text or host"
        raise msgspec.ValidationError(msg)
    if entry.unreadable is not None:
        return entry.unreadable
    if entry.text is not None:
        return _typed(entry.text)
    if entry.machine is not None:
        found = entry.machine
        return msgspec.structs.replace(
            found, read=tuple(map(_typed, found.read)), observed=tuple(map(_with_types, map(_kept, found.observed)))
        )
    msg = "it contains neither a text nor a host"
    raise msgspec.ValidationError(msg)


def _typed(reading: Reading) -> Reading:
    return msgspec.structs.replace(reading, observations=tuple(map(_with_types, map(_kept, reading.observations))))


def _kept(observation: Observation) -> Observation:
    """The same observation, with one shared copy of values that many hosts print."""
    told, span = observation, observation.span
    try:
        key, fields = _of_bytes(msgspec.msgpack.encode((told.key, told.fields)))
    except OverflowError:  # a number with too many digits
        key, fields = told.key, told.fields
    return Observation(
        entity=sys.intern(told.entity), key=key, host=told.host and sys.intern(told.host), fields=fields,
        span=Span(sys.intern(span.source), span.line, sys.intern(span.text)), standing=told.standing,
    )  # fmt: skip


@functools.lru_cache(1 << 14)
def _of_bytes(encoded: bytes) -> tuple[tuple[str | int | None, ...], dict[str, Any]]:
    """The key and fields of an observation."""
    key, fields = msgspec.msgpack.decode(encoded)
    return tuple(key), fields


def _with_types(observation: Observation) -> Observation:
    """The observation with its versions as tuples: the only type of a field that JSON lacks."""
    fields = observation.fields
    if not isinstance(fields.get("complete", []), list):
        msg = "it does not list which facts are complete"
        raise msgspec.ValidationError(msg)
    names = fields_with(VersionRange).get(observation.entity, frozenset()) & fields.keys()
    versions = {
        name: msgspec.convert(fields[name], VersionRange) for name in names if isinstance(fields[name], Mapping)
    }
    if not versions:
        return observation
    return msgspec.structs.replace(observation, fields={**fields, **versions})
