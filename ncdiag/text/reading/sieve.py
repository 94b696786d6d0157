"""What a job prints all day, passed over: a line that says nothing costs next to nothing.

A line is judged once, by itself: does it begin a section, is it a message, a failure, a sentence? Lines that differ in
numbers alone share the answer, unless a number decides, and are dropped buffer by buffer without being looked at. What
is in an open section is read whatever it says: what it is, the lines above tell.

Dropped lines are counted, the first of them kept to be shown. Of counters (steps, bars) the first and the last lines
are read, as they tell whether the program went on.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section, Span, span
from ncdiag.parsers import leads
from ncdiag.parsers.nccl_log import Scanner
from ncdiag.text.reading.judge import Judge
from ncdiag.text.sections.cut import Cutter

if TYPE_CHECKING:
    from ncdiag.parsers import Silence

SHAPES = 1 << 16
"""Shapes of lines that are remembered; a log that has more of them has a new one on nearly every line."""
ANSWERS = 1 << 12
"""Lines whose answer is remembered as they are: those that come again come soon."""
LONGEST = 2000
"""Bytes of a line that may be dropped."""
SHOWN = 1000
"""Lines that nobody understood, from the beginning, some of which are kept to be shown."""
ALIKE = 4
"""Lines kept of those that differ only in numbers: what the first ones do not say, the others do not either."""
COUNTERS = 1000
"""Lines with a counter that are read from the beginning of a source, and at least as many from its end."""
PERSONS = 3
"""Times that a person may write one sentence, be it with other numbers."""
OFTEN = 2
"""Times that a line has to come before it is asked what it would say with other numbers, which costs as many looks."""
BOOK = 1000
"""Sentences from which on a text is nobody's question."""
TOGETHER = 256
"""Lines of a paste that are looked up together: what was learnt of some is known of the next."""
PIECE = 1 << 17
"""Bytes checked in one step: together with their lines they fit in a processor's cache."""
_NUMBER = lazy_regex(rb"\d(?<![\w.:/-].)\d*(?:\.\d+)?(?![\w/-]|\.\w|:\S)")
"""A number that is alone: in times, addresses and releases the widths tell what they are.

What comes before is asked of behind the first digit: `re` passes quickly over what a pattern cannot begin with.
"""
_HASH = lazy_regex(
    rb"[0-9a-f](?<![A-Za-z0-9].)(?=[0-9a-f]{5})(?:(?<=\d)\d*[a-f]|(?<=[a-f])[a-f]*\d)[0-9a-f]*(?![A-Za-z0-9])"
)
"""A name that is a number in base 16, and none in base 10: what takes one may refuse the other."""
_ZEROS = bytes.maketrans(b"123456789", b"000000000")
_AGAIN = lazy_regex(rb"(?<=0)0+|(?<= ) +")
"""What the width of a number changes in a line."""
_FEW = 4
"""One line in so many with a counter is few."""
_OURS = 0.9
"""Share of NCCL's lines from which on a piece is left to the scanner."""

_COUNTING, _NOT_UNDERSTOOD = frozenset({"bar", "counter"}), frozenset({"unread", "counter"})

T = TypeVar("T")
Line = tuple[int, bytes]


class Counters(msgspec.Struct):
    """The first lines with a counter, and the last ones, as they came."""

    first: list[Line] = []
    last: deque[list[Line]] = msgspec.field(default_factory=deque)
    held: int = 0

    def take(self, lines: list[Line]) -> None:
        """Take further lines; of those in the middle nothing is kept."""
        room = COUNTERS - len(self.first)
        self.first += lines[:room]
        if len(lines) > room:
            self.last.append(lines[max(room, len(lines) - COUNTERS) :])
            self.held += len(self.last[-1])
        while self.last and self.held - len(self.last[0]) >= COUNTERS:
            self.held -= len(self.last.popleft())

    def lines(self) -> list[Line]:
        """All that are kept, in order."""
        return [*self.first, *itertools.chain.from_iterable(self.last)]


class Dropped(msgspec.Struct):
    """What is known of the lines of a source that were passed over."""

    lines: int = 0
    unread: int = 0
    shown: list[Line] = []
    places: list[int] = []
    """For each of them, how many lines that nobody understood come before it."""
    counters: Counters = msgspec.field(default_factory=Counters)
    alike: dict[bytes, int] = {}
    """How many of them differ only in numbers, by what they have in common."""

    def show(self, lines: Sequence[Line], places: Sequence[int]) -> None:
        """Keep further lines that nobody understood, in their order, unless there are enough that are alike."""
        shapes = _HASH.sub(b"0", b"\n".join(text for _, text in lines)).translate(_ZEROS)
        for line, place, shape in zip(lines, places, _AGAIN.sub(b"", shapes).split(b"\n"), strict=True):
            count = self.alike.get(shape, 0)
            if place < SHOWN and count < ALIKE:
                self.alike[shape] = count + 1
                self.shown.append(line)
                self.places.append(place)

    def add(self, later: Dropped, number: Callable[[int], int]) -> None:
        """Add those of the part of the source behind this one, whose lines have other numbers there."""
        self.lines += later.lines
        if later.shown and self.unread < SHOWN:
            lines = [(number(line), text) for line, text in later.shown]
            self.show(lines, [self.unread + place for place in later.places])
        self.unread += later.unread
        self.counters.take([(number(line), text) for line, text in later.counters.lines()])

    def sections(self, source: str) -> Iterator[Section]:
        """The lines with counters, to be read."""
        lines = self.counters.lines()
        if lines:
            numbers, texts = zip(*lines, strict=True)
            yield Section(
                kind="text", source=source, first_line=numbers[0], lines=tuple(map(_text, texts)), numbers=numbers
            )

    def spans(self, source: str) -> list[Span]:
        """The lines to be shown."""
        return [span(source, number, _text(line)) for number, line in self.shown]


class Shapes:
    """What is known of lines by their shape: the line with its digits as zeros, and one for each number alone."""

    def __init__(self) -> None:
        """Know nothing."""
        self.silent: dict[bytes, Silence] = {}
        self._alike: dict[bytes, Silence] = {}
        self._telling: set[bytes] = set()
        self._met: dict[bytes, int] = {}
        self._answers: dict[bytes, Silence] = {}
        self._sentences = 0
        self._judge = Judge()

    def of(self, line: bytes) -> Silence | None:
        """How a line says nothing; None for one that has to be read."""
        shape = line.translate(_ZEROS)
        if shape in self._telling:
            return None
        silence = self.silent.get(shape)
        if silence is None:
            alike = _NUMBER.sub(b"0", _HASH.sub(b"f0", line)).translate(_ZEROS)
            if alike in self._telling:
                return None
            silence = self._alike.get(alike) or self._judged(alike, line)
            if silence is None:
                _add(self._telling, shape)
            elif alike in self._alike:
                _put(self.silent, shape, silence)
        if silence == "sentence":
            self._sentences += 1
            return None if self._sentences < BOOK else "unread"
        return silence

    def _judged(self, alike: bytes, line: bytes) -> Silence | None:
        """The answer for a line, kept when such lines come often. Sentences that come again are a program's."""
        silence = self._answers.get(line) or self._judge.answer(_text(line))
        if silence is None:
            return None
        _put(self._answers, line, silence, ANSWERS)
        met = self._met.get(alike, 0) + 1
        _put(self._met, alike, met)
        if met < (PERSONS if silence == "sentence" else OFTEN):
            return silence
        if self._judge.depends_on_numbers(_text(line), silence):
            _add(self._telling, alike)
            return None
        silence = "unread" if silence == "sentence" else silence
        _put(self._alike, alike, silence)
        return silence


def _put(held: dict[bytes, T], key: bytes, value: T, most: int = SHAPES) -> None:
    if len(held) >= most:
        held.clear()
    held[key] = value


def _add(held: set[bytes], key: bytes) -> None:
    if len(held) >= SHAPES:
        held.clear()
    held.add(key)


class Sieve:
    """Gives NCCL's lines to the scanner and others that may say something to the cutter."""

    def __init__(self, scanner: Scanner, cutter: Cutter, shapes: Shapes | None = None) -> None:
        """``shapes``: what earlier parts of the source taught."""
        self._dropped = Dropped()
        self._scanner, self._cutter, self._shapes = scanner, cutter, shapes or Shapes()
        self._led = False
        self._counting: deque[tuple[int, bytes, list[Silence | None], int]] = deque()
        self._held = 0

    @property
    def dropped(self) -> Dropped:
        """What is known of the lines that were passed over until now."""
        while self._counting:
            first, piece, known, count = self._counting.popleft()
            self._held -= count
            self._dropped.counters.take(_counted(first, piece.split(b"\n"), known))
        return self._dropped

    def feed(self, buffer: bytes, *, whole: bool = False) -> list[Line]:
        """Take whole lines; returns those that were given to the cutter: all that are not NCCL's if ``whole``."""
        kept: list[Line] = []
        if whole:
            for number, line in self._scanner.feed(buffer):
                self._give(number, line, kept)
            return kept
        start, size = 0, len(buffer) // max(1, round(len(buffer) / PIECE))
        while start < len(buffer):
            end = buffer.find(b"\n", start + size) + 1 or len(buffer)
            kept += self._piece(buffer[start:end])
            start = end
        return kept

    def take(self, lines: Iterable[Line]) -> list[Line]:
        """Take lines that are known not to be NCCL's; returns those that were given to the cutter."""
        kept: list[Line] = []
        for number, line in lines:
            self._look_at(number, line, kept)
        return kept

    def take_run(self, first: int, lines: Sequence[bytes]) -> list[Line]:
        """Like `take`, for consecutive lines from number ``first`` on, which are looked up by shape together."""
        kept: list[Line] = []
        for start in range(0, len(lines), TOGETHER):
            some, number = lines[start : start + TOGETHER], first + start
            piece = b"\n".join(some)
            known = list(map(self._shapes.silent.get, piece.translate(_ZEROS).split(b"\n")))
            if None in known or self._led or self._cutter.is_open:
                others = [(number + i, line) for i, line in enumerate(some) if known[i] is None]
                kept += self._looked_at(others, number, some, known)
            self._drop(number, piece, known)
        return kept

    def _piece(self, piece: bytes) -> list[Line]:
        piece = piece.removesuffix(b"\n")
        first, count = self._scanner.next_line, piece.count(b"\n") + 1
        known: list[Silence | None] = []
        if self._shapes.silent and piece.count(b"NCCL ") < _OURS * count:
            known = list(map(self._shapes.silent.get, piece.translate(_ZEROS).split(b"\n")))
        new = known.count(None)
        if new == len(known):
            return self._looked_at(self._scanner.feed(piece + b"\n"), first, [], [])
        if not new and not self._led and not self._cutter.is_open:
            self._scanner.feed_lines([], [], first + count)
            self._drop(first, piece, known)
            return []
        lines = piece.split(b"\n")
        places = [index for index, silence in enumerate(known) if silence is None]
        others = self._scanner.feed_lines([lines[i] for i in places], [first + i for i in places], first + count)
        kept = self._looked_at(others, first, lines, known)
        self._drop(first, piece, known)
        return kept

    def _looked_at(
        self, others: Sequence[Line], first: int, lines: Sequence[bytes], known: list[Silence | None]
    ) -> list[Line]:
        """Give the lines that may say something to the cutter, and with them those around that belong to them."""
        kept: list[Line] = []
        at = 0
        for number, line in others:
            place = number - first
            at = self._belonging(at, place, first, lines, known, kept)
            silence = self._judged(number, line, kept)
            if silence is not None and place < len(known) and lines[place] == line:
                known[place] = silence
            elif silence is not None:
                self._drop_one(number, line, silence)
        self._belonging(at, len(known), first, lines, known, kept)
        return kept

    def _belonging(  # noqa: PLR0913, PLR0917  (a loop's body)
        self, at: int, end: int, first: int, lines: Sequence[bytes], known: list[Silence | None], kept: list[Line]
    ) -> int:
        """Read the known lines from ``at`` on while the ones before them may go on there; returns where to go on."""
        end = min(end, len(known))
        while at < end and (self._led or self._cutter.is_open):
            if known[at] is not None:
                known[at] = None
                self._give(first + at, lines[at], kept)
            at += 1
        return max(at, end)

    def _look_at(self, number: int, line: bytes, kept: list[Line]) -> None:
        """Judge a line that is not known, and count it if it says nothing."""
        silence = self._judged(number, line, kept)
        if silence is not None:
            self._drop_one(number, line, silence)

    def _judged(self, number: int, line: bytes, kept: list[Line]) -> Silence | None:
        """How a line says nothing; None for one that was given on. What is in an open section is not judged."""
        if not (self._led or self._cutter.is_open or len(line) > LONGEST):
            silence = self._shapes.of(line)
            if silence is not None:
                return silence
        self._give(number, line, kept)
        return None

    def _give(self, number: int, line: bytes, kept: list[Line]) -> None:
        text = _text(line)
        self._cutter.feed([(number, text)])
        self._led = leads(text)
        kept.append((number, line))

    def _drop(self, first: int, piece: bytes, known: list[Silence | None]) -> None:
        """Count the lines of a piece that are known to say nothing."""
        dropped = self._dropped
        dropped.lines += len(known) - known.count(None)
        counters, bars = known.count("counter"), known.count("bar")
        unread = known.count("unread") + counters
        if unread and dropped.unread < SHOWN:
            lines = piece.split(b"\n")
            new = [i for i, silence in enumerate(known) if silence in _NOT_UNDERSTOOD][: SHOWN - dropped.unread]
            places = range(dropped.unread, dropped.unread + len(new))
            dropped.show([(first + i, lines[i]) for i in new], places)
        dropped.unread += unread
        if counters or bars:
            self._count(first, piece, known, counters + bars)

    def _drop_one(self, number: int, line: bytes, silence: Silence) -> None:
        """Count a line that is known to say nothing."""
        dropped = self._dropped
        dropped.lines += 1
        if silence in _NOT_UNDERSTOOD:
            if dropped.unread < SHOWN:
                dropped.show([(number, line)], [dropped.unread])
            dropped.unread += 1
        if silence in _COUNTING:
            self._count(number, line, [silence], 1)

    def _count(self, first: int, piece: bytes, known: list[Silence | None], count: int) -> None:
        """Take the lines with counters. Where most have one, they are only looked for if the source ends soon."""
        if len(self._dropped.counters.first) < COUNTERS or count * _FEW < len(known):
            self.dropped.counters.take(_counted(first, piece.split(b"\n"), known))
            return
        self._counting.append((first, piece, known, count))
        self._held += count
        while self._held - self._counting[0][-1] >= COUNTERS:
            self._held -= self._counting.popleft()[-1]


def _counted(first: int, lines: Sequence[bytes], known: Sequence[Silence | None]) -> list[Line]:
    """The numbered lines that have a counter."""
    return [(first + i, lines[i]) for i, silence in enumerate(known) if silence in _COUNTING]


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")
