"""The scanner: buffers of a log in, observations out. No line is looked at from Python unless it can change a fact.

Each buffer is searched twice: for the lines that tell something (`lines.interesting`), and for the channel lines, which
are counted. Memory grows with processes and pairs of ranks, never with lines.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ncdiag.facts.observe import Observation, Parsed
from ncdiag.facts.scalars import VersionRange
from ncdiag.parsers.nccl_log.dialect import narrowed
from ncdiag.parsers.nccl_log.events import Events
from ncdiag.parsers.nccl_log.lines import PREFIXED, interesting
from ncdiag.parsers.nccl_log.plain import plain_messages, unwrapped
from ncdiag.parsers.nccl_log.prefix import Prefix, parse_prefix, unglued
from ncdiag.parsers.nccl_log.ranks import Key, Outcome, Record
from ncdiag.parsers.nccl_log.reading import Init, Reading, read
from ncdiag.parsers.nccl_log.transports import (
    ANY_CHANNEL,
    CHANNEL_STARTS,
    CHANNELS,
    COLLNET,
    RING_ORDER,
    RINGS,
    parse_link,
)  # fmt: skip
from ncdiag.spans import Span, span

CACHE = 4096
"""Messages and prefixes whose reading is remembered."""
LINE_LIMIT = 1 << 16
SPARSE = 500
"""With fewer channel lines than one in so many bytes it is faster to look at them one by one."""
PREFIX_LIMIT = 2000
COMM_LIMIT = 65536
PAIR_LIMIT = 1 << 18

_VERSION_ALONE = re.compile(r"(?:^|[^\w\s]\s*|\d[Z:]?\s+|std(?:out|err) [FP]\s)$")
"""What may stand before a bare ``NCCL version 2.18.3``: tags and times, no prose."""


class Scanner:
    """Scans one source. Feed line-aligned buffers of clean UTF-8 in order, then ask for the result once."""

    def __init__(self, source: str, host: str | None = None) -> None:
        """``host`` is what the surroundings say where the lines have no prefix."""
        self._source, self._host = source, host
        self._records: dict[Key, Record] = {}
        self._events = Events()
        self._readings: dict[tuple[str, str, str | None], Reading] = {}
        self._prefixes: dict[bytes, Prefix] = {}
        self._pairs: Counter[tuple[bytes, bytes]] = Counter()
        self._versions: dict[str, Span] = {}
        self._bounds: VersionRange | None = None
        self._library: str | None = None
        self._comms: dict[str, _Comm] = {}
        self._first_line = 0

    def feed(self, buffer: bytes, first_line: int) -> None:
        """Take whole lines; ``first_line`` is the number of the first one, counting from 1. Never raises."""
        self._first_line = self._first_line or first_line
        if b"CCL " in buffer:
            text = b"\n" + buffer
            self._channels(text, first_line - 1)
            counter = _LineCounter(text, first_line - 1)
            for hit in interesting().finditer(text):
                self._take(text, hit, counter)
        for message in plain_messages(buffer):
            key: Key = (self._host, None, None)
            number = first_line + buffer.count(b"\n", 0, message.start)
            self._apply(key, Prefix(), message.text, message.level, span(self._source, number, message.line))

    def finish(self) -> Parsed:
        """All observations; ``unread`` are the warnings that no message fits, counted from the first line fed."""
        self._count_pairs()
        exact = next(iter(self._versions.items())) if len(self._versions) == 1 else None
        records = sorted((r for r in self._records.values() if r.told_anything()), key=lambda record: record.span.line)
        outcome = Outcome(records, self._library or "NCCL", exact, self._bounds)
        found = list(outcome.observations())
        if exact is not None and not records:
            version = VersionRange.exact(exact[0])
            found.append(Observation(entity="Host", host=self._host, span=exact[1], fields={"nccl_version": version}))
        found += sorted(self._events.observations(outcome.rank_of.get), key=lambda event: event.span.line)
        found += (comm.observation(name) for name, comm in self._comms.items())
        unread = tuple(line - self._first_line for line in self._events.unknown_lines())
        return Parsed(observations=tuple(found), unread=unread)

    def _take(self, text: bytes, hit: re.Match[bytes], counter: _LineCounter) -> None:
        """One interesting place: find its line, its prefix and its message."""
        start = text.rfind(b"\n", 0, hit.start()) + 1
        end = text.find(b"\n", hit.end())
        end = len(text) if end < 0 else end
        line = text[start : min(end, start + LINE_LIMIT)]
        number = counter.at(start)
        before, after = line[: hit.start() - start], line[hit.end() - start :]
        level = next((group for group in hit.groups() if group), b"").decode()
        prefix = self._prefix(before[-PREFIX_LIMIT:])
        message = unwrapped(_own_part(after.decode("utf-8", "replace")))
        where = span(self._source, number, line.decode("utf-8", "replace"))
        if not level:
            if _VERSION_ALONE.search(before.decode("utf-8", "replace")) is None or len(message.split()) != 1:
                return
            message, level = f"NCCL version {message}", "VERSION"
        key = self._key(prefix)
        collnet = COLLNET.match(message)
        link = parse_link(collnet["rest"]) if collnet else None
        if link is not None:
            record = self._record(key, where)
            record.take_link(link)
            record.transports[link.transport] += 1
            return
        self._apply(key, prefix, message, level, where)

    def _apply(self, key: Key, prefix: Prefix, message: str, level: str, where: Span) -> None:
        reading = self._read(message, "INFO" if level == "VERSION" else level, prefix.file)
        if reading.library is not None and self._library != "RCCL":
            self._library = reading.library
        self._bounds = narrowed(self._bounds, _prefix_versions(prefix, level))
        self._bounds = narrowed(self._bounds, reading.versions)
        if reading.for_sure:
            self._versions.setdefault(reading.for_sure, where)
        if level == "VERSION":
            return  # a version line without a prefix belongs to the source, not to a process
        record = self._record(key, where)
        record.take(reading, where)
        record.bounds = narrowed(record.bounds, _prefix_versions(prefix, level))
        if reading.init is not None:
            self._communicator(record.take_init(reading.init, where), where)
        if reading.told is not None:
            self._events.add(key, reading.told, message.strip(), level=level, prefix=prefix, span=where)

    def _read(self, message: str, level: str, file: str | None) -> Reading:
        place = message, level, file
        reading = self._readings.get(place)
        if reading is None:
            reading = read(message, level, file)
            if len(self._readings) >= CACHE:
                self._readings.clear()
            self._readings[place] = reading
        return reading

    def _prefix(self, before: bytes) -> Prefix:
        prefix = self._prefixes.get(before)
        if prefix is None:
            prefix = parse_prefix(before.decode("utf-8", "replace"))
            if len(self._prefixes) >= CACHE:
                self._prefixes.clear()
            self._prefixes[before] = prefix
        return prefix

    def _record(self, key: Key, where: Span) -> Record:
        record = self._records.get(key)
        if record is None:
            record = self._records[key] = Record(key, where)
        elif where.line < record.span.line:
            record.span = where  # the channels of a buffer are counted before its other lines are read
        return record

    def _communicator(self, init: Init, where: Span) -> None:
        if init.comm is None or (init.comm not in self._comms and len(self._comms) >= COMM_LIMIT):
            return
        self._comms.setdefault(init.comm, _Comm(where)).take(init)

    def _channels(self, text: bytes, lines_before: int) -> None:
        """Count the channel lines of a buffer by process and link; what is new among them is looked at."""
        channels, rings = (text.count(start) for start in CHANNEL_STARTS)
        if not channels and not rings:
            return
        found: list[tuple[bytes, bytes]] = []
        if channels + rings > len(text) // SPARSE:
            found = CHANNELS.findall(text)
            found += RINGS.findall(text) if rings else []
        if len(found) != channels + rings:
            found = list(_slow_channels(text))
        if len(self._pairs) > PAIR_LIMIT:
            self._count_pairs()
        known = len(self._pairs)
        self._pairs.update(found)
        for before, rest in list(itertools.islice(self._pairs, known, None)):
            self._new_pair(before, rest, text, lines_before)

    def _new_pair(self, before: bytes, rest: bytes, text: bytes, lines_before: int) -> None:
        """A process and link seen for the first time; what is no link is the order of a ring."""
        link = parse_link(rest[:300].decode("utf-8", "replace"))
        if link is None:
            place = max(text.find(b" : " + rest), 0)
            hit = RING_ORDER.search(text, text.rfind(b"\n", 0, place) + 1, place + 60)
            if hit is not None:
                self._take(text, hit, _LineCounter(text, lines_before))
            return
        before = before.rpartition(b"\n")[2] + b" "
        key = self._key(self._prefix(before[-PREFIX_LIMIT:]))
        record = self._records.get(key) or self._record(key, self._first_channel(before, text, lines_before))
        record.take_link(link)
        self._bounds = narrowed(self._bounds, link.versions)

    def _count_pairs(self) -> None:
        """Add the counts of the channel lines to their ranks."""
        for (before, rest), count in self._pairs.items():
            link = parse_link(rest[:300].decode("utf-8", "replace"))
            if link is not None:
                before = before.rpartition(b"\n")[2] + b" "  # noqa: PLW2901
                record = self._records[self._key(self._prefix(before[-PREFIX_LIMIT:]))]
                record.transports[link.transport] += count
        self._pairs.clear()

    def _key(self, prefix: Prefix) -> Key:
        return prefix.host or self._host, prefix.pid, prefix.dev

    def _first_channel(self, before: bytes, text: bytes, lines_before: int) -> Span:
        """The first channel line of a process in a buffer: looked up once a process."""
        places = [place for start in CHANNEL_STARTS if (place := text.find(before + start)) >= 0]
        place = min(places, default=0)
        start, end = text.rfind(b"\n", 0, place + 1) + 1, text.find(b"\n", place + 1)
        line = text[start : end if end >= 0 else len(text)][:LINE_LIMIT].decode("utf-8", "replace")
        return span(self._source, lines_before + text.count(b"\n", 0, start), line)


class _LineCounter:
    """Line numbers of rising offsets: the line breaks between two of them are counted, none twice."""

    def __init__(self, text: bytes, lines_before: int) -> None:
        self._text, self._offset, self._line = text, 0, lines_before

    def at(self, offset: int) -> int:
        """Number of the line that begins at ``offset``."""
        self._line += self._text.count(b"\n", self._offset, offset)
        self._offset = max(offset, self._offset)
        return self._line


class _Comm:
    """What is known of one communicator over all processes of the source."""

    def __init__(self, where: Span) -> None:
        self.where = where
        self.fields: dict[str, Any] = {}
        self.started: set[int] = set()
        self.ready: set[int] = set()

    def take(self, init: Init) -> None:
        """Add the line of one rank."""
        for name, value in (("nranks", init.nranks), ("nhosts", init.nhosts), ("parent", init.parent)):
            if value is not None:
                self.fields[name] = value
        if init.state is not None:
            (self.ready if init.state == "ready" else self.started).add(init.rank)

    def observation(self, name: str) -> Observation:
        """The communicator; a rank that is ready has started."""
        ranks = {"ranks_started": sorted(self.started | self.ready), "ranks_ready": sorted(self.ready)}
        fields = {**self.fields, **ranks}
        return Observation(entity="Communicator", key=(name,), span=self.where, fields=fields, standing="process")


def _own_part(message: str) -> str:
    """The message without another process's line that was glued behind it."""
    if "NCCL " not in message:
        return message
    message = unglued(message)
    other = PREFIXED.search(message)
    return message[: other.start()].rstrip(" |") if other else message


def _slow_channels(text: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Channel lines with anything before the host: ``host:pid:tid [dev]`` and what follows the channel's number."""
    for found in ANY_CHANNEL.finditer(text):
        start = max(text.rfind(b"\n", 0, found.start()) + 1, found.start() - PREFIX_LIMIT)
        words = text[start : found.start()].rsplit(b" ", 3)[-3:]
        yield b" ".join(words[:-1]), found[1]


def _prefix_versions(prefix: Prefix, level: str) -> str:
    """Releases that print such a prefix (src/debug.cc): warnings have a date since 2.26, a function since 2.30.7."""
    if prefix.file is not None and prefix.file.endswith(".cu"):
        return "<2.5"
    if level != "WARN" or prefix.host is None or prefix.file is None:
        return ""
    if prefix.function is not None:
        return ">=2.30.7"
    return ">=2.26" if prefix.has_clock else "<2.26"
