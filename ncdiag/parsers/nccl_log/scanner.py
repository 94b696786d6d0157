"""The scanner: buffers of a log in, observations out. No line is looked at from Python unless it can change a fact.

One pattern finds the lines of a buffer that have to be looked at (`lines.remarkable`): those that tell something and
those that are not NCCL's. Channel lines and collective calls are counted in bulk. Memory grows with processes and pairs
of ranks, never with lines.

Parts of a log can be scanned apart, each by its own scanner; merged in order, they are as one.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from ncdiag.facts.observe import Observation, Parsed
from ncdiag.facts.scalars import VersionRange
from ncdiag.parsers.nccl_log import calls, channels
from ncdiag.parsers.nccl_log.communicators import CallsOfRanks, communicators
from ncdiag.parsers.nccl_log.dialect import folded
from ncdiag.parsers.nccl_log.events import Events
from ncdiag.parsers.nccl_log.lines import PREFIXED, interesting, is_nccl_line, remarkable
from ncdiag.parsers.nccl_log.outcome import Outcome
from ncdiag.parsers.nccl_log.places import LineCounter, stretches, words_before
from ncdiag.parsers.nccl_log.plain import plain_messages, unwrapped
from ncdiag.parsers.nccl_log.prefix import Prefix, parse_prefix, unglued, versions_of
from ncdiag.parsers.nccl_log.ranks import Key, Record
from ncdiag.parsers.nccl_log.reading import Reading, read
from ncdiag.parsers.nccl_log.repeats import Repeats
from ncdiag.parsers.nccl_log.transports import COLLNET, parse_link
from ncdiag.spans import Span, span

CACHE = 4096
"""Messages and prefixes whose reading is remembered."""
LINE_LIMIT = 1 << 16
PREFIX_LIMIT = 2000
PAIR_LIMIT = 1 << 16
"""Pairs of ranks that are counted before the counts are given to their ranks."""

_VERSION_ALONE = re.compile(r"(?:^|[^\w\s]\s*|\d[Z:]?\s+|std(?:out|err) [FP]\s)$")
"""What may stand before a bare ``NCCL version 2.18.3``: tags and times, no prose."""

Line = tuple[int, bytes]
"""A line's number and its text."""


class Scanner:
    """Scans one source. Feed line-aligned buffers of clean UTF-8 in order, then ask for the result once."""

    def __init__(
        self, source: str, host: str | None = None, first_line: int = 1, repeats: Repeats | None = None
    ) -> None:
        """``host`` is what the surroundings say where the lines have no prefix; ``first_line`` is a number.

        ``repeats`` are the lines that earlier parts of the source taught; what they tell is known from these parts.
        """
        self._source, self._host = source, host
        self.first_line = self.next_line = first_line
        self._records: dict[Key, Record] = {}
        self._events = Events()
        self._calls = calls.Calls()
        self._versions: dict[str, Span] = {}
        self._constraints: dict[str, None] = {}
        self._link_constraints: set[str] = set()
        self._library: str | None = None
        self._forget(repeats)

    def _forget(self, repeats: Repeats | None = None) -> None:
        """Start without what only saves time: caches, counts that are not yet given to their ranks."""
        self._readings: dict[tuple[str, str, str | None], Reading] = {}
        self._prefixes: dict[bytes, Prefix] = {}
        self._pairs: Counter[bytes] = Counter()
        self._owners: dict[bytes, tuple[Record, str] | None] = {}
        self._repeats = repeats or Repeats()
        self._words = 0

    def __getstate__(self) -> dict[str, Any]:
        """What goes from one process to another: small, however long the part of the log was."""
        self._settle()
        left_out = {"_readings", "_prefixes", "_pairs", "_owners", "_repeats", "_words"}
        return {name: value for name, value in self.__dict__.items() if name not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def feed(self, buffer: bytes, first_line: int | None = None) -> list[Line]:
        """Take whole lines; returns those that are not NCCL's. Never raises.

        ``first_line`` is the number of the first one where others stood between it and what was fed before.
        """
        if not buffer:
            return []
        self.next_line = first_line or self.next_line
        first, content = self.next_line, buffer.removesuffix(b"\n")
        if self._repeats.paused():
            self.next_line += content.count(b"\n") + 1
            return self._scan(b"\n" + content, range(first, self.next_line))[0]
        lines = content.split(b"\n")
        self.next_line += len(lines)
        numbers: Sequence[int] = range(first, self.next_line)
        new = self._repeats.new(lines)
        if new is not None:
            if not new:
                return []
            lines, numbers = [lines[index] for index in new], [first + index for index in new]
            content = b"\n".join(lines)
        others, telling = self._scan(b"\n" + content, numbers)
        if telling is not None:
            self._repeats.learn(lines, telling)
        if self._repeats.is_full:
            self._count_repeats()
        return others

    def _scan(self, text: bytes, numbers: Sequence[int]) -> tuple[list[Line], set[bytes] | None]:
        """Take the lines of ``text``, each behind a line end, and their ``numbers``.

        Returns the lines that are not NCCL's, and those that tell something each time that they come (None: not known).
        """
        places = self._remarkable(text, len(numbers))
        called = self._calls.count(text, numbers, self._words)
        self._channels(text, numbers, places)
        inside = sum(text.count(b"NCCL ", *place) for place in places)
        glued = text.count(b"NCCL ") != len(numbers) - len(places) + inside
        if glued:  # two processes wrote into one line somewhere: look behind the first message of each line as well
            hits: Iterable[re.Match[bytes]] = interesting().finditer(text)
        else:
            hits = itertools.chain.from_iterable(interesting().finditer(text, *place) for place in places)
        counter = LineCounter(text, numbers)
        for hit in hits:
            self._take(text, hit, counter)
        others = self._others(text, places, numbers)
        if glued or 2 * called > len(numbers):
            return others, None
        return others, {text[start:end] for start, end in itertools.chain(places, calls.places(text) if called else ())}

    def _remarkable(self, text: bytes, count: int) -> list[tuple[int, int]]:
        """Where the lines are that have to be looked at; learns how many words stand before most lines."""
        if b"CCL INFO " not in text:
            return stretches(text, re.compile(rb"\n"))
        places = stretches(text, remarkable(self._words))
        if len(places) > count // 4:
            words = words_before(text, places)
            if words is not None and words != self._words:
                again = stretches(text, remarkable(words))
                if len(again) < len(places):
                    self._words, places = words, again
        return places

    def _others(self, text: bytes, places: list[tuple[int, int]], numbers: Sequence[int]) -> list[Line]:
        """Read messages without NCCL's prefix; what is nobody's is returned."""
        found: list[Line] = []
        counter = LineCounter(text, numbers)
        for start, end in places:
            line = text[start:end]
            if not is_nccl_line(line):
                found.append((counter.at(start), line))
                if b"version" not in line and b"libfabric:" not in line:
                    continue
            for message in plain_messages(line):
                where = span(self._source, counter.at(start), message.line)
                self._apply((self._host, None, None), Prefix(), message.text, message.level, where)
        return found

    def merge(self, later: Scanner) -> None:
        """Add what was scanned of the part of the log behind this one; ``later`` is used up."""
        self._settle()
        later._settle()
        self.next_line = later.next_line
        for key, record in later._records.items():
            held = self._records.setdefault(key, record)
            if held is not record:
                held.merge(record)
        self._events.merge(later._events)
        self._calls.merge(later._calls)
        for version, where in later._versions.items():
            self._versions.setdefault(version, where)
        self._constraints |= later._constraints
        self._link_constraints |= later._link_constraints
        if later._library is not None and self._library != "RCCL":
            self._library = later._library

    def _exact(self) -> tuple[str, Span] | None:
        """The one release that the source states; PyTorch tells the same one without NCCL's build."""
        releases = {text.partition("+")[0] for text in self._versions}
        return max(self._versions.items(), key=lambda told: len(told[0])) if len(releases) == 1 else None

    def finish(self, number: Callable[[int], int] | None = None) -> Parsed:
        """All observations; ``unread`` are the warnings that no message fits, counted from the first line.

        ``number`` gives the true number of a line where the parts of the log had numbers of their own.
        """
        self._settle()
        of_ranks = CallsOfRanks(self._calls, self._key_of, self._records.values(), self._source)
        for key, told, where in of_ranks.told():
            self._record(key, where).fields["last_ops"] = told, where
        exact = self._exact()
        records = sorted((r for r in self._records.values() if r.told_anything()), key=lambda record: record.span.line)
        bounds = folded([*self._constraints, *sorted(self._link_constraints)])
        outcome = Outcome(records, self._library or "NCCL", exact, bounds)
        found = list(outcome.observations())
        if exact is not None and not records:
            version = VersionRange.exact(exact[0])
            found.append(Observation(entity="Host", host=self._host, span=exact[1], fields={"nccl_version": version}))
        found += sorted(self._events.observations(outcome.rank_of.get), key=lambda event: event.span.line)
        found += communicators(records)
        found += of_ranks.observations()
        unread = self._events.unknown_lines()
        if number is not None:
            found, unread = [_renumbered(o, number) for o in found], [number(line) for line in unread]
        return Parsed(observations=tuple(found), unread=tuple(line - self.first_line for line in unread))

    def _take(self, text: bytes, hit: re.Match[bytes], counter: LineCounter) -> None:
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
        of_prefix = versions_of(prefix, level)
        self._constraints |= {of_prefix: None, reading.versions: None}
        if reading.for_sure:
            self._versions.setdefault(reading.for_sure, where)
        if level == "VERSION":
            return  # a version line without a prefix belongs to the source, not to a process
        record = self._record(key, where)
        record.take(reading, where)
        record.constraints.setdefault(of_prefix)
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

    def _channels(self, text: bytes, numbers: Sequence[int], places: list[tuple[int, int]]) -> None:
        """Count the channel lines of a buffer by process and link; what is new among them is looked at."""
        if len(self._pairs) > PAIR_LIMIT:
            self._count_pairs()
        known = len(self._pairs)
        self._pairs.update(channels.pairs(text, self._words, places))
        counter = LineCounter(text, numbers)
        for pair in list(itertools.islice(self._pairs, known, None)):
            self._owners[pair] = self._owner(pair, text, counter)

    def _owner(self, pair: bytes, text: bytes, counter: LineCounter) -> tuple[Record, str] | None:
        """The process and the transport of a link seen for the first time; what is no link is the order of a ring."""
        before, _, rest = pair.partition(b"\n")
        link = parse_link(rest[:300].decode("utf-8", "replace"))
        if link is None:
            place = max(text.find(b" : " + rest), 0)
            hit = channels.RING_ORDER.search(text, text.rfind(b"\n", 0, place) + 1, place + 60)
            if hit is not None:
                self._take(text, hit, counter.again())
            return None
        key = self._key_of(before)
        record = self._records.get(key) or self._record(key, self._first_channel(before, text, counter))
        record.take_link(link)
        self._link_constraints.add(link.versions)
        return record, link.transport

    def _settle(self) -> None:
        """Give all counts to their ranks: what is left is small."""
        self._count_repeats()
        self._count_pairs()
        self._calls.add_up()

    def _count_repeats(self) -> None:
        """Count the channels that were told again by equal lines."""
        for line, count in self._repeats.take():
            for pair in channels.pairs(b"\n" + line, 0, ()):
                if pair not in self._owners:
                    self._owners[pair] = self._owner(pair, b"\n" + line, LineCounter(b"\n" + line, (self.next_line,)))
                self._pairs[pair] += count

    def _count_pairs(self) -> None:
        """Add the counts of the channel lines to their ranks."""
        for pair, count in self._pairs.items():
            owner = self._owners[pair]
            if owner is not None:
                owner[0].transports[owner[1]] += count
        self._pairs.clear()
        self._owners.clear()

    def _key(self, prefix: Prefix) -> Key:
        return prefix.host or self._host, prefix.pid, prefix.dev

    def _key_of(self, before: bytes) -> Key:
        """The process that ``host:pid:tid [dev]`` names."""
        return self._key(self._prefix(before[-PREFIX_LIMIT:] + b" "))

    def _first_channel(self, before: bytes, text: bytes, counter: LineCounter) -> Span:
        """The first channel line of a process: looked for behind that of the process before it, once a process."""
        place = channels.first_line(text, before, counter.offset)
        if place < counter.offset:
            counter = counter.again()
        end = text.find(b"\n", place)
        line = text[place : end if end >= 0 else len(text)][:LINE_LIMIT].decode("utf-8", "replace")
        return span(self._source, counter.at(place), line)


def _renumbered(observation: Observation, number: Callable[[int], int]) -> Observation:
    where = msgspec.structs.replace(observation.span, line=number(observation.span.line))
    fields = observation.fields
    if "order" in fields and observation.entity == "Event":
        fields = {**fields, "order": where.line}
    return msgspec.structs.replace(observation, span=where, fields=fields)


def _own_part(message: str) -> str:
    """The message without another process's line that was glued behind it."""
    if "NCCL " not in message:
        return message
    message = unglued(message)
    other = PREFIXED.search(message)
    return message[: other.start()].rstrip(" |") if other else message
