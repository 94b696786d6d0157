"""The scanner: buffers of a log in, observations out. No line is looked at from Python unless it can change a fact.

One pattern finds the lines of a buffer that have to be looked at (`bulk`): those that tell something and those that
are not NCCL's. Channel lines and collective calls are counted in bulk. Memory grows with processes and pairs of ranks,
never with lines.

Parts of a log can be scanned apart, each by its own scanner; merged in order, they are as one.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Span, span
from ncdiag.facts.observe import Parsed
from ncdiag.parsers.nccl_log import bulk
from ncdiag.parsers.nccl_log.account import Account
from ncdiag.parsers.nccl_log.bare import Bare, give, of_hosts
from ncdiag.parsers.nccl_log.calls import SIGN, Calls
from ncdiag.parsers.nccl_log.communicators import CallsOfRanks, communicators
from ncdiag.parsers.nccl_log.dialect import contradictions, folded
from ncdiag.parsers.nccl_log.events import Events
from ncdiag.parsers.nccl_log.glued import breaks_a_row, holds_two, separated
from ncdiag.parsers.nccl_log.lines import SIGNS, Line, interesting, is_nccl_line, without_blanks
from ncdiag.parsers.nccl_log.outcome import Outcome, renumbered
from ncdiag.parsers.nccl_log.packed import packed, unpacked
from ncdiag.parsers.nccl_log.plain import plain_messages
from ncdiag.parsers.nccl_log.prefix import Prefix, undamaged, versions_of
from ncdiag.parsers.nccl_log.ranks import Key, Record
from ncdiag.parsers.nccl_log.reading import Reading
from ncdiag.parsers.nccl_log.repeats import Repeats
from ncdiag.parsers.nccl_log.transports import COLLNET, Link, parse_link
from ncdiag.parsers.nccl_log.usual import INFO, PREFIX_LIMIT, Messages, prefix_of, usual_prefix
from ncdiag.parsers.nccl_log.wiring import Seen, place_of

BLANK_BUFFER = 1 << 16
"""Bytes of nothing but empty lines that are passed over at once."""
_NAME_LIMIT = 64
"""Bytes before ``NCCL`` in which the name of a process stood, where none can be read."""
PIECE_SIZE = 1 << 17
"""Bytes that are taken apart at once: with their lines they should fit the cache of one processor."""
KEY_LIMIT = 1 << 16
"""Different links and calls that are counted before the counts are given to their ranks."""
KEY_LENGTH = 1000
"""Bytes of what is counted of a call; what is longer is damaged."""
RING_ORDER = lazy_regex(rb"NCCL (INFO) (?=Channel \d+(?:/\d+)? : +\d+ +\d)")
"""``Channel 00/04 : 0 1 2 3``: the order of a ring, told by rank 0."""

_VERSION_ALONE = lazy_regex(
    r"(?:^\s*|[^\w\s]\s*|\d[Z:]?\s+(?:\d\d[OE][ +]\s?)?|std(?:out|err) [FP]\s|^[\w.]*[\d-][\w.-]* [\w.-]{1,63} )$"
)
"""What may come before a bare ``NCCL version 2.18.3``: tags and times, no prose."""


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
        self._calls = Calls()
        self._account = Account(is_first=first_line == 1)
        self._versions: dict[str, Span] = {}
        self._bare: Bare = {}
        self._constraints: dict[str, Span] = {}
        self._link_constraints: set[str] = set()
        self._library: str | None = None
        self._forget(repeats)

    def _forget(self, repeats: Repeats | None = None) -> None:
        """Start without what only saves time: caches, counts that are not yet given to their ranks."""
        self._messages = Messages()
        self._counts: Counter[bytes | None] = Counter()
        self._owners: dict[bytes, tuple[Record, Link | None, Seen | None]] = {}
        self._repeats = repeats or Repeats()
        self._words = 0

    def __getstate__(self) -> dict[str, Any]:
        """What goes from one process to another: small, however long the part of the log was."""
        self._settle()
        left_out = {"_messages", "_counts", "_owners", "_repeats", "_words"}
        state = {name: value for name, value in self.__dict__.items() if name not in left_out}
        return state | {"_records": packed(self._records)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._records = unpacked(state["_records"])
        self._forget()

    def feed(self, buffer: bytes, first_line: int | None = None) -> list[Line]:
        """Take whole lines; returns those that are not NCCL's. Never raises.

        ``first_line`` is the number of the first one where others stood between it and what was fed before.
        """
        self.next_line = first_line or self.next_line
        if len(buffer) > BLANK_BUFFER and buffer.isspace():
            self.next_line += buffer.count(b"\n")
            return []
        others: list[Line] = []
        start, size = 0, len(buffer) // max(1, round(len(buffer) / PIECE_SIZE))
        while start < len(buffer):
            end = buffer.find(b"\n", start + size) + 1 or len(buffer)
            others += self._feed(b"\n" + buffer[start:end].removesuffix(b"\n"))
            start = end
        return others

    def feed_lines(self, lines: Sequence[bytes], numbers: Sequence[int], next_line: int) -> list[Line]:
        """Take lines that have these numbers, what stood between them left out, up to that of the ``next_line``."""
        self.next_line = next_line
        return self._take_lines(b"\n" + b"\n".join(lines), lines, numbers) if lines else []

    def _feed(self, text: bytes) -> list[Line]:
        """Take the lines of ``text``, each behind a line end; returns those that are not NCCL's."""
        lines = text.split(b"\n")
        del lines[0]
        numbers = range(self.next_line, self.next_line + len(lines))
        self.next_line = numbers.stop
        return self._take_lines(text, lines, numbers)

    def _take_lines(self, text: bytes, lines: Sequence[bytes], numbers: Sequence[int]) -> list[Line]:
        if self._repeats.paused():
            return self._scan(text, lines, numbers, learn=False)
        keys = self._repeats.keys(lines)
        if keys is None:
            return self._scan(text, lines, numbers, learn=True)
        if not self._count(keys, lines, numbers):
            return []
        new = [index for index, key in enumerate(keys) if key is None]
        lines = [lines[index] for index in new]
        return self._scan(b"\n" + b"\n".join(lines), lines, [numbers[index] for index in new], learn=True)

    def _scan(self, text: bytes, lines: Sequence[bytes], numbers: Sequence[int], *, learn: bool) -> list[Line]:
        """Take the ``lines`` of ``text``, where each is behind a line end; returns those that are not NCCL's.

        ``learn``: remember what is counted of them.
        """
        found, keys, strange = self._taken_apart(text, lines)
        inside = [lines[index].count(b"NCCL ") for index in strange]
        in_line = text.count(b"NCCL ") == len(lines) - len(strange) + sum(inside)
        several = [lines[index] for index, count in zip(strange, inside, strict=True) if count > 1]
        rows = lines if several and self._words else (lines[index] for index in strange)
        if not in_line or holds_two(several) or breaks_a_row(rows):
            apart = separated(text, numbers)
            if apart is not None:  # its lines come in parts
                text, numbers, learn = *apart, False
                lines = text[1:].split(b"\n")
                found, keys, strange = self._taken_apart(text, lines)
        self._count(keys, lines, numbers)
        called = text.count(SIGN)
        if called:
            self._calls.latest(found, lines, numbers)
        if learn and 2 * called <= len(lines) and len(strange) < len(lines):
            calls = [index for index, fields in enumerate(found) if fields[-1]] if called else []
            self._repeats.learn(lines, keys, [*strange, *calls])
        if not strange:
            return []
        looked_at = [(numbers[index], lines[index]) for index in strange]
        signs = [sign for sign in SIGNS if sign in text]
        return [
            (number, line)
            for number, line in without_blanks(looked_at)
            if not self._take_usual(number, line)
            and (not any(map(line.__contains__, signs)) or not self._look_at(number, line))
        ]

    def _taken_apart(self, text: bytes, lines: Sequence[bytes]) -> tuple[list[bulk.Fields], list[bytes], list[int]]:
        """What is counted of each line, its key, and the indices of the lines that have to be looked at.

        Learns how many words come before most lines.
        """
        if b"CCL INFO " not in text:
            return [], [bulk.SOMETHING] * len(lines), list(range(len(lines)))
        found, keys, strange = bulk.taken_apart(text, lines, self._words)
        if len(strange) > len(lines) // 4:
            words = bulk.words_before(lines[index] for index in strange[:200])
            if words is not None and words != self._words:
                again = bulk.taken_apart(text, lines, words)
                if len(again[-1]) < len(strange):
                    self._words = words
                    return again
        return found, keys, strange

    def _count(self, keys: Sequence[bytes | None], lines: Sequence[bytes], numbers: Sequence[int]) -> int:
        """Count the keys of lines and tell how many have none; the first line of a key tells whose the link is."""
        if len(self._counts) > KEY_LIMIT:
            self._settle()
        known = len(self._counts)
        self._counts.update(keys)
        without = self._counts.pop(None, 0)
        self._counts.pop(bulk.SOMETHING, None)
        new = set(itertools.islice(reversed(self._counts), len(self._counts) - known))
        wanted = {key for key in new if key is not None and key.split(b"\n", 2)[1]}
        for key, line, number in zip(keys, lines, numbers, strict=True) if wanted else ():
            if key in wanted:
                wanted.remove(key)
                self._own(key, line, number)
                if not wanted:
                    break
        return without

    def _own(self, key: bytes, line: bytes, number: int) -> None:
        """Find the process and the transport of a link seen for the first time; else it is the order of a ring."""
        before, rest, *_ = key.split(b"\n")
        link = parse_link(rest[:300].decode("utf-8", "replace")) if before.isascii() else None
        prefix = prefix_of(before[-PREFIX_LIMIT:] + b" ")
        of = self._key(prefix)
        if link is not None:
            record = self._record_of(of, line, number, link)
            self._link_constraints.add(link.versions)
            self._owners[key] = record, link, record.wiring.edge(prefix.tid, link, number)
        elif hit := RING_ORDER.search(line):
            self._take(line, hit, number)
            if of in self._records:
                record = self._records[of]
                self._owners[key] = record, None, record.wiring.order(prefix.tid, rest, line, number)
        elif before.isascii() and (place := place_of(rest)) is not None:
            record = self._record_of(of, line, number)
            self._owners[key] = record, None, record.wiring.place(prefix.tid, place, number)

    def _record_of(self, of: Key, line: bytes, number: int, link: Link | None = None) -> Record:
        """The record of a process, with what a connection tells of it."""
        record, where = self._records.get(of), None
        if record is None or number < record.span.line or (link is not None and record.wants_line_of(link)):
            where = span(self._source, number, line.decode("utf-8", "replace"))
            record = self._record(of, where)
        if link is not None:
            record.take_link(link, where)
        return record

    def _settle(self) -> None:
        """Give all counts to their ranks: what is left is small."""
        for key, count in self._counts.items():
            before, _, function, what, comm = (key or bulk.SOMETHING).split(b"\n")
            if comm and len(key or b"") < KEY_LENGTH:
                self._calls.add(before, function, what, comm, count)
            elif key in self._owners:
                record, link, seen = self._owners[key]
                if link is not None:
                    record.count_link(link, count)
                if seen is not None:
                    seen.count += count
        self._counts.clear()
        self._owners.clear()

    def _take_usual(self, number: int, line: bytes) -> bool:
        """Take a line that holds a prefix and one INFO message, nothing around them; tells whether it was one."""
        before, _, message = line.partition(INFO)
        prefix = usual_prefix(before) if message and len(before) < PREFIX_LIMIT else None
        reading = self._messages.usual(message) if prefix is not None else None
        if prefix is None or reading is None:
            return False
        where = span(self._source, number, line.decode("ascii"))
        self._apply(prefix, reading, message.decode("ascii"), "INFO", where)
        return True

    def _look_at(self, number: int, line: bytes) -> bool:
        """Read a line of any form; tells whether it is NCCL's."""
        ours = False
        for hit in interesting().finditer(line):
            self._take(line, hit, number)
            ours = ours or hit.lastindex is not None
        if not ours or line.count(b"NCCL ") > 1:
            for fields in bulk.anywhere(line):
                self._count([bulk.key_of(fields)], [line], [number])
                self._calls.latest([fields], [line], [number])
        for message in plain_messages(line):
            where = span(self._source, number, message.line)
            self._read(Prefix(), message.text, message.level, where)
        return ours or is_nccl_line(line)

    def merge(self, later: Scanner) -> None:
        """Add what was scanned of the part of the log behind this one; ``later`` is used up."""
        self._settle()
        later._settle()
        self.next_line = later.next_line
        self._account.merge(later._account, self._records, later._records)
        self._events.merge(later._events)
        self._calls.merge(later._calls)
        for version, where in later._versions.items():
            self._versions.setdefault(version, where)
        self._bare = later._bare | self._bare
        self._constraints |= {text: at for text, at in later._constraints.items() if text not in self._constraints}
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
        of_ranks = CallsOfRanks(self._calls, self._key_of, self._records.values(), self._account, self._source)
        for key, told, where in of_ranks.told():
            self._record(key, where).fields["last_ops"] = told, where
        exact = self._exact()
        if exact is None and self._bare:
            give(self._bare, self._records.values())
        records = sorted((r for r in self._records.values() if r.told_anything()), key=lambda record: record.span.line)
        bounds = folded([*self._constraints, *sorted(self._link_constraints)])
        strange = contradictions(self._constraints, exact[0]) if exact is not None else ()
        outcome = Outcome(records, self._library or "NCCL", exact, bounds, strange)
        found = list(outcome.observations())
        if not records:
            found += of_hosts(self._bare, exact, self._host)
        found += sorted(self._events.observations(outcome.rank_of.get), key=lambda event: event.span.line)
        found += communicators(self._account.with_lives(records))
        found += of_ranks.observations()
        unread = self._events.unknown_lines()
        if number is not None:
            found, unread = [renumbered(o, number) for o in found], [number(line) for line in unread]
        return Parsed(observations=tuple(found), unread=tuple(line - self.first_line for line in unread))

    def _take(self, line: bytes, hit: re.Match[bytes], number: int) -> None:
        """One interesting place of a line: find its prefix and its message."""
        before, after = line[: hit.start()], line[hit.end() :]
        level = hit[hit.lastindex].decode() if hit.lastindex else ""
        prefix = undamaged(prefix_of(before[-PREFIX_LIMIT:]), before[-_NAME_LIMIT:], level, after)
        if prefix is None:
            return
        message = after.decode("utf-8", "replace")
        where = span(self._source, number, line.decode("utf-8", "replace"))
        if not level:
            if _VERSION_ALONE.search(before.decode("utf-8", "replace")) is None or len(message.split()) != 1:
                return
            self._bare.setdefault((before.decode("utf-8", "replace").strip()[-_NAME_LIMIT:], message.strip()), where)
            message, level = f"NCCL version {message}", "VERSION"
        collnet = COLLNET.match(message) if message.startswith("Coll") else None
        link = parse_link(collnet["rest"]) if collnet else None
        if link is not None:
            record = self._record(self._key(prefix), where)
            record.take_link(link, where)
            record.count_link(link, 1)
            return
        self._read(prefix, message, level, where)

    def _read(self, prefix: Prefix, message: str, level: str, where: Span) -> None:
        reading = self._messages.read(message, "INFO" if level == "VERSION" else level, prefix.file)
        if not message.isascii():
            reading = reading.of_damaged()
        self._apply(prefix, reading, message, level, where)

    def _apply(self, prefix: Prefix, reading: Reading, message: str, level: str, where: Span) -> None:
        if reading.library is not None and self._library != "RCCL":
            self._library = reading.library
        of_prefix = versions_of(prefix, level)
        self._constraints.setdefault(of_prefix, where)
        self._constraints.setdefault(reading.versions, where)
        if reading.for_sure:
            self._versions.setdefault(reading.for_sure, where)
        if level == "VERSION":
            return  # a version line without a prefix belongs to the source, not to a process
        key = self._key(prefix)
        record = self._record(key, where)
        record.take(reading, where, prefix.tid, prefix.time)
        if reading.init is not None:
            self._account.relieve(record, self._records.values())
        record.constraints.setdefault(of_prefix)
        if prefix.tag is not None:
            record.fields.setdefault("line_tag", (prefix.tag, where))
        if reading.told is not None:
            self._events.add(key, reading.told, message.strip(), level=level, prefix=prefix, span=where)

    def _record(self, key: Key, where: Span) -> Record:
        record = self._records.get(key)
        if record is None:
            record = self._records[key] = Record(key, where)
        elif where.line < record.span.line:
            record.span = where  # the channels of a buffer are counted before its other lines are read
        return record

    def _key(self, prefix: Prefix) -> Key:
        return prefix.host or self._host, prefix.pid, prefix.dev

    def _key_of(self, before: bytes) -> Key:
        """The process that ``host:pid:tid [dev]`` names."""
        return self._key(prefix_of(before[-PREFIX_LIMIT:] + b" "))
