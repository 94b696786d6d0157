"""Read one source: scan and cut it in one pass; for a paste, choose the interpretation that gives most facts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ncdiag.base.spans import Span, span
from ncdiag.facts.observe import Observation
from ncdiag.parsers import discover, leads
from ncdiag.parsers.nccl_log import Scanner
from ncdiag.text.clothes import taken_off
from ncdiag.text.reading.dressed import Clothes, clothes_of
from ncdiag.text.reading.judge import Judge
from ncdiag.text.reading.mentions import without_mentions, without_other_systems
from ncdiag.text.reading.model import Reading
from ncdiag.text.reading.named_ranks import with_ranks_of_headings
from ncdiag.text.reading.parse import collection_paused, odd_hosts_in, programs_in, put_together
from ncdiag.text.reading.stop import Stoppable
from ncdiag.text.sections.cut import Cutter
from ncdiag.text.sections.line import Line
from ncdiag.text.sections.places import by_host, hosts_of, placed
from ncdiag.text.sections.twins import told_apart
from ncdiag.text.sections.undress import GENERAL, LIMIT, Said, joined, undressed
from ncdiag.text.sources import bug_report, traces
from ncdiag.text.sources.model import Text

if TYPE_CHECKING:
    from ncdiag.text.reading.sieve import Dropped, Sieve

MANY = 1000
"""Lines of a paste from which on those without information are passed over."""
_UNTOLD = frozenset({"unknown-warn", "program-error", "program-cuda-failure", "failure-words", "kernel-fault"})
"""Events for lines that nobody recognises: text around a line may create them by accident."""
_TOLD = frozenset({"Complaint", "Trial", "Context", "Want", "ToldRate", "RunLabel", "Access", "Duration"})
"""Statements of people, which count whatever surrounds them."""
_PLACE = frozenset({"text", "order", "time", "count", "line_tag", "unreadable_rows"})
"""Fields that describe the line or how it was read, not its content."""


def read_source(source: Text, tick: Callable[[int], None] = lambda _: None) -> Reading:
    """Scan NCCL lines, cut the others into sections, and parse these. ``tick`` is called with the number of bytes read.

    A long source is read buffer by buffer, without what is around nearly all of its lines; a short one is read as a
    paste: text around any of its lines, such as quotes or times, is removed first.
    """
    reading = _read_source(source, tick)
    return reading if source.first_line == 1 else reading.moved(source.first_line - 1)


def _read_source(source: Text, tick: Callable[[int], None]) -> Reading:
    first, second, buffers = _begun(source, tick)
    if second or len(first) > LIMIT:
        clothes = _clothes_of(source, first, second)
        buffers = itertools.chain([first, second], buffers)
        if clothes is None:
            return _read_buffers(source, buffers)
        return _read_buffers(source, clothes.taken_off(buffers), clothes.host)
    text, notes = taken_off(traces.in_paste(first.decode("utf-8", "replace")))
    quiet = _Quiet()

    def measure(lines: Sequence[Line], doubtful: bool) -> frozenset[Said]:  # noqa: FBT001  (a callback)
        return _told(_read_lines(source, lines, quiet=quiet), doubtful=doubtful)

    reading = _read_lines(source, undressed(text, measure), text.count("\n"))
    lines = text.split("\n")
    odd, faults = odd_hosts_in(source.name, list(enumerate(lines, 1)))
    reading = msgspec.structs.replace(
        reading, notes=(*reading.notes, *notes), observations=(*reading.observations, *odd),
        faults=(*reading.faults, *faults),
    )  # fmt: skip
    return without_mentions(with_ranks_of_headings(reading, lines), lines)


def _begun(source: Text, tick: Callable[[int], None] = lambda _: None) -> tuple[bytes, bytes, Iterator[bytes]]:
    """The first two buffers of a source, the second empty for a short one, and the others."""
    buffers = _ticked(joined(bug_report.prompted(source.buffers())), tick)
    return next(buffers, b""), next(buffers, b""), buffers


def is_dressed(source: Text) -> bool:
    """True if something is around nearly all lines of a long source, so that its parts are not read as they are."""
    first, second, _ = _begun(source)
    return (bool(second) or len(first) > LIMIT) and _clothes_of(source, first, second) is not None


def _clothes_of(source: Text, first: bytes, second: bytes) -> Clothes | None:
    """What is around the lines of a long source with these first buffers."""
    begin = (first if len(first) > LIMIT else first + second)[:LIMIT]
    quiet = _Quiet()
    return clothes_of(
        begin.rpartition(b"\n")[0].decode("utf-8", "replace"),
        lambda lines: _told(_read_lines(source, lines, quiet=quiet), doubtful=False),
    )


def _ticked(buffers: Iterable[bytes], tick: Callable[[int], None]) -> Iterator[bytes]:
    for buffer in buffers:
        yield buffer
        tick(len(buffer))


def _told(reading: Reading, *, doubtful: bool) -> frozenset[Said]:
    """Everything that the source was understood to say: each value of each field of its observations, once.

    ``doubtful``: without settings and launch commands, which people also write down without having run them.
    """
    silent = _TOLD | {"Setting", "Launch"} if doubtful else {*_TOLD}  # prose complains with or without decoration
    return frozenset(said for found in reading.observations if found.entity not in silent for said in _said(found))


def _said(found: Observation) -> Iterator[Said]:
    """For an event: that it happened, and the fields of its message, unless the message is unknown."""
    fields: Mapping[str, Any] = found.fields
    what = found.entity, found.host or "", str(found.key)
    if found.entity == "Event":
        name = str(fields.get("event"))
        what = found.entity, found.host or "", name
        fields = {"": name, "rank": fields.get("rank"), **fields.get("fields", {})}
        fields = {} if name in _UNTOLD else {"": name} if name in GENERAL else fields
    for name, value in fields.items():
        if name not in _PLACE and (found.entity, name) != ("Rank", "nccl_version"):  # it depends on the lines' form
            yield from ((*what, path, text) for path, text in _values(value, name.removesuffix("_partial")))


def _values(content: object, path: str) -> Iterator[tuple[str, str]]:
    """(path, value) of each value in a field; for a list of plain values, the list as one value."""
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


def _read_lines(source: Text, lines: Sequence[Line], count: int = 0, *, quiet: _Quiet | None = None) -> Reading:
    """Parse the lines of a paste, with their original numbers; ``count`` is the number of lines of the paste.

    ``quiet``: only to compare how the lines read with and without what surrounds them. Then what people say and their
    programs are not read, as neither depends on that, and lines outside sections that say nothing are left out.
    """
    lines, before = told_apart(lines) if quiet is None else (lines, {})
    scanner = Scanner(source.name)
    cutters: dict[str, Cutter] = {}
    passing = _Passing(scanner) if quiet is None and len(lines) > MANY else None
    order = sorted(range(len(lines)), key=lambda index: lines[index].number)  # NCCL's lines name their processes
    text = "".join(f"{lines[index].head}{lines[index].text}\n" for index in order)
    passed_over = 0
    with collection_paused():
        for place, content in scanner.feed(text.encode("utf-8", "replace")):
            index = order[place - 1]
            line = lines[index]
            cutter = cutters.get(line.stream) or cutters.setdefault(line.stream, Cutter(source.name, discover()))
            if passing is not None and "[" not in line.head:  # a level in front may make a failure of a line
                passing.hold(line, cutter, index + 1, content)
                continue
            if passing is not None:
                passing.take(line.stream)
            text = content.decode("utf-8", "replace").removeprefix(line.head)
            if quiet is not None and quiet.passes_over(cutter, line.head, text):
                passed_over += 1
                continue
            cutter.feed([(index + 1, text)])
    if quiet is not None and passed_over == len(lines):
        return Reading(source.name, 0, 0, (), (), ())
    if passing is not None:
        passing.take_all()
    scanned = scanner.finish(lambda place: lines[order[place - 1]].number)
    hosts = hosts_of(lines, *_named(scanned.observations))
    cut = [part for cutter in cutters.values() for section in cutter.finish() for part in by_host(section, lines)]
    sections = [placed(section, lines, hosts) for section in cut]
    skipped = sum(cutter.skipped_lines for cutter in cutters.values())
    dropped = None if passing is None else passing.dropped(lambda index: lines[index - 1].number)
    reading = put_together(
        source.name, scanned, sections, skipped, count, source.notes, dropped, statements=quiet is None
    )
    if quiet is not None:
        return reading
    announcing = {index - 1: text for cutter in cutters.values() for index, text in cutter.announcing.items()}
    silent = frozenset() if passing is None else passing.silent
    written, announced = _words(source.name, lines, announcing, silent)
    programs = programs_in(source.name, [(lines[index].number, lines[index].text) for index in order])
    observations, faults = (*reading.observations, *programs[0]), (*reading.faults, *programs[1])
    reading = msgspec.structs.replace(
        reading, written=written, announcing=announced, observations=observations, faults=faults
    )
    return reading.quoting(before) if before else reading


class _Passing:
    """Passes over lines of a long paste that carry no information, by their shape, as in a long source."""

    def __init__(self, scanner: Scanner) -> None:
        import ncdiag.formats.blocks.kinds  # noqa: F401  (its literals are searched together with those of the parsers)
        from ncdiag.text.reading.sieve import Shapes  # its criteria are needed only for a long text

        self._scanner, self._shapes = scanner, Shapes()
        self._sieves: dict[str, Sieve] = {}
        self._held: dict[str, tuple[Cutter, int, list[bytes]]] = {}
        self._passed: set[int] = set()

    def hold(self, line: Line, cutter: Cutter, number: int, content: bytes) -> None:
        """Hold a line back, of which ``content`` is the head and the text, until `take` is called for its stream."""
        held = self._held.get(line.stream)
        if held is None or held[1] + len(held[2]) != number:
            self.take(line.stream)
            held = self._held[line.stream] = cutter, number, []
        held[2].append(content.removeprefix(line.head.encode("utf-8", "replace")) if line.head else content)

    def take(self, stream: str) -> None:
        """Give the lines held back to the cutter of their stream unless they carry no information."""
        held = self._held.pop(stream, None)
        if held is None:
            return
        cutter, first, lines = held
        sieve = self._sieves.get(stream)
        if sieve is None:
            from ncdiag.text.reading.sieve import Sieve

            sieve = self._sieves[stream] = Sieve(self._scanner, cutter, self._shapes)
        self._passed.update(range(first, first + len(lines)))
        self._passed.difference_update(number for number, _ in sieve.take_run(first, lines))

    def take_all(self) -> None:
        """Give all lines that are still held back."""
        for stream in list(self._held):
            self.take(stream)

    @property
    def silent(self) -> frozenset[int]:
        """The indexes of the lines that were passed over, without the first of those that nobody understood."""
        shown = {number for sieve in self._sieves.values() for number, _ in sieve.dropped.shown}
        return frozenset(number - 1 for number in self._passed - shown)

    def dropped(self, number: Callable[[int], int]) -> Dropped:
        """The lines that were passed over, with their numbers in the source."""
        from ncdiag.text.reading.sieve import Dropped

        total = Dropped()
        for sieve in self._sieves.values():
            total.add(sieve.dropped, number)
        return total


class _Quiet:
    """Remembers which lines say nothing, so that a line that is read many times is judged once."""

    def __init__(self) -> None:
        self._judge = Judge()
        self._known: dict[str, bool] = {}
        self._led = False

    def passes_over(self, cutter: Cutter, head: str, text: str) -> bool:
        """True if the cutter need not read the line, whose times and levels are ``head``."""
        led, self._led = self._led, leads(text)
        if led or self._led or cutter.is_open:
            return False
        return self._says_nothing(text) and ("[" not in head or self._says_nothing(head + text))

    def _says_nothing(self, line: str) -> bool:
        known = self._known.get(line)
        if known is None:
            known = self._known[line] = self._judge.is_eventless(line)
        return known


def _words(
    source: str, lines: Sequence[Line], announcing: Mapping[int, str], silent: Container[int]
) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The lines in which signs search for words, and those that only name a command, cut to the comment after it.

    ``silent`` are the indexes of lines in which nobody searches.
    """
    texts = ((line, announcing.get(index, line.text)) for index, line in enumerate(lines) if index not in silent)
    written = tuple(span(source, line.number, text) for line, text in texts if text and not text.isspace())
    return written, tuple(span(source, lines[index].number, lines[index].text) for index in sorted(announcing))


def _named(observations: Iterable[Observation]) -> tuple[set[str], dict[str, str]]:
    """The hosts that printed NCCL lines, and the host of each address on which one listens for the others."""
    ranks = [found for found in observations if found.entity == "Rank" and found.host]
    interfaces = [(found.host, found.fields.get("bootstrap_interface") or {}) for found in ranks]
    addresses = {each["ip"]: host for host, item in interfaces for each in item.get("addresses", ()) if host}
    return {found.host for found in ranks if found.host}, addresses


def _read_buffers(source: Text, buffers: Iterable[bytes], host: str | None = None) -> Reading:
    from ncdiag.text.reading.sieve import Sieve  # its criteria are needed only for a long source

    scanner, cutter = Scanner(source.name), Cutter(source.name, discover(), host)
    sieve = Sieve(scanner, cutter)
    with collection_paused():
        for buffer in buffers:
            sieve.feed(buffer)
    scanned, sections, lines = scanner.finish(), cutter.finish(), scanner.next_line - 1
    skipped, stop = cutter.skipped_lines, source.stop if isinstance(source, Stoppable) else None
    reading = put_together(source.name, scanned, sections, skipped, lines, source.notes, sieve.dropped, stop)
    return without_other_systems(reading)
