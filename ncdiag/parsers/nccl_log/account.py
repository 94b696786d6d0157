"""The communicators of a source, one row each: which ranks began and which are ready, however many processes they are.

A process keeps its latest communicators as lives (`ncdiag.parsers.nccl_log.lives`). Those that are too many are folded
into the rows: first what is complete, so that nobody forgets one that is still open. Where the rows are too many, those
that all their ranks completed give way first, and are counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter

from ncdiag.base.spans import Span
from ncdiag.parsers.nccl_log.lives import LIFE_LIMIT, Life
from ncdiag.parsers.nccl_log.ranks import Key, Record
from ncdiag.parsers.nccl_log.reading import UNNUMBERED

COMM_LIMIT = 65536
"""Rows of a source."""
NAME_LIMIT = 65536
"""Pointers of folded communicators whose names are known, since another one may be split from them."""
_SLACK = 8192
"""Rows above the limit at which some give way."""
_BITS = 4096
_NOWHERE = 0, None, None

Process = tuple[str | None, int | None]
Above = tuple[str | None, int | None]
"""The name of what a communicator was split from, and the rank of a process in that."""
Name = tuple[str, Above]
"""The name of a communicator, and what it was split from."""


class Ranks:
    """A set of numbers that takes a bit for each."""

    __slots__ = ("_bits",)

    def __init__(self) -> None:
        """Start empty."""
        self._bits: dict[int, int] = {}

    def add(self, rank: int) -> None:
        """Add one number."""
        part, bit = divmod(rank, _BITS)
        self._bits[part] = self._bits.get(part, 0) | 1 << bit

    def update(self, others: Ranks) -> None:
        """Add all of another set."""
        for part, bits in others._bits.items():
            self._bits[part] = self._bits.get(part, 0) | bits

    def __contains__(self, rank: int) -> bool:
        """Is this number in it?"""
        part, bit = divmod(rank, _BITS)
        return bool(self._bits.get(part, 0) >> bit & 1)

    def __len__(self) -> int:
        """How many are in it."""
        return sum(bits.bit_count() for bits in self._bits.values())

    def __le__(self, others: Ranks) -> bool:
        """Are all of them in the other set?"""
        return not any(bits & ~others._bits.get(part, 0) for part, bits in self._bits.items())

    def key(self) -> tuple[tuple[int, int], ...]:
        """Equal for equal sets."""
        return tuple(sorted(self._bits.items()))

    def numbers(self) -> list[int]:
        """All of them in order."""
        return [part * _BITS + bit for part, bits in self.key() for bit in range(bits.bit_length()) if bits >> bit & 1]


class Row:
    """A communicator: its first line, and which of its ranks were seen. ``hosts`` are those of ranks not yet ready.

    ``begun_at`` and ``ready_at`` are when the first rank began and the last one was ready. ``aborted`` are those that
    gave it up before that. ``sizes`` are the ranks by the size that they gave; of a communicator that was shrunk, by
    their ranks in the parent. ``above`` are the ranks in the parent of those that began, where its lines show them, and
    ``split`` is the number of the split of the parent.
    """

    __slots__ = (
        "aborted", "above", "begun_at", "first", "hosts", "nhosts", "nranks", "parent", "ready", "ready_at", "sizes",
        "split", "started",
    )  # fmt: skip

    def __init__(self, first: Span) -> None:
        """Nobody has begun."""
        self.first = first
        self.nranks: int | None = None
        self.nhosts: int | None = None
        self.parent: str | None = None
        self.split: int | None = None
        self.started, self.ready, self.aborted = Ranks(), Ranks(), Ranks()
        self.sizes: dict[int, Ranks] = {}
        self.hosts: dict[int, str] = {}
        self.above: dict[int, int] = {}
        self.begun_at: float | None = None
        self.ready_at: float | None = None

    def take(self, life: Life, parent: Above, host: str | None) -> None:
        """Add the log lines of one process about it; ``parent`` is what it was split from, and the rank there."""
        init = life.init
        if life.first.line <= self.first.line:
            self.first = life.first
        self._describe(init.nranks, init.nhosts, parent[0])
        self._time(life.begun_at, life.ready_at)
        if life.started or life.ready:
            self.started.add(init.rank)
            self.sizes.setdefault(init.nranks, Ranks()).add(init.rank if init.of_parent is None else init.of_parent)
            if parent[1] is not None:
                self.above[init.rank] = parent[1]
                number = (init.branch or "").partition(".")[0]
                self.split = int(number) if number.isdecimal() else self.split
        if life.ready:
            self.ready.add(init.rank)
            self.hosts.pop(init.rank, None)
        elif life.aborted:
            self.aborted.add(init.rank)
            self.hosts.pop(init.rank, None)
        elif life.started and host is not None and init.rank not in self.ready:
            self.hosts.setdefault(init.rank, host)

    def merge(self, later: Row) -> None:
        """Add the lines of a later part of the log."""
        if later.first.line < self.first.line:
            self.first = later.first
        self._describe(later.nranks, later.nhosts, later.parent)
        self._time(later.begun_at, later.ready_at)
        self.started.update(later.started)
        self.ready.update(later.ready)
        self.aborted.update(later.aborted)
        for size, ranks in later.sizes.items():
            self.sizes.setdefault(size, Ranks()).update(ranks)
        self.above |= later.above
        self.split = later.split if self.split is None else self.split
        self.hosts = {rank: host for rank, host in (later.hosts | self.hosts).items() if not self._has_left(rank)}

    def _has_left(self, rank: int) -> bool:
        """Is the rank ready, or did it give the communicator up?"""
        return rank in self.ready or rank in self.aborted

    def _describe(self, nranks: int | None, nhosts: int | None, parent: str | None) -> None:
        self.nranks = self.nranks if nranks is None else nranks
        self.nhosts = self.nhosts if nhosts is None else nhosts
        self.parent = self.parent if parent is None else parent

    def _time(self, begun_at: float | None, ready_at: float | None) -> None:
        self.begun_at = min((time for time in (self.begun_at, begun_at) if time is not None), default=None)
        self.ready_at = max((time for time in (self.ready_at, ready_at) if time is not None), default=None)

    @property
    def is_open(self) -> bool:
        """Did a rank begin that is not ready?"""
        return not self.started <= self.ready

    @property
    def is_whole(self) -> bool:
        """Are all its ranks ready?"""
        return self.nranks is not None and len(self.ready) >= self.nranks


class Account:
    """The rows of what was folded, by name; ``left_out`` more were complete and gave way."""

    def __init__(self, *, is_first: bool) -> None:
        """``is_first``: no earlier part of the log can name what was split from an unknown communicator."""
        self._is_first = is_first
        self.rows: dict[str, Row] = {}
        self.left_out = 0
        self._names: dict[tuple[Process, str], tuple[int, str, int]] = {}
        """By pointer the first line and the name of what was last folded, and the rank in it."""

    def relieve(self, record: Record, records: Iterable[Record]) -> None:
        """Fold half of what a process keeps, if that is too much; ``records`` are all of the source."""
        if not record.lives.are_many:
            return
        self._keep_names([one for one in records if one.key[:2] == record.key[:2]])
        kept = set(map(id, record.lives.to_keep()))
        lives = [
            life for life in record.lives.in_order()
            if id(life) not in kept and (self._is_first or life.name is not None or life.init.parent is None)
        ]  # fmt: skip
        lives.sort(key=_is_open)  # those that are open go last
        folded = lives[: max(len(record.lives) - LIFE_LIMIT // 2, 0)]
        for life in folded:
            if life.name is not None:
                self._names.pop((record.key[:2], life.init.pointer), None)
                self._names[record.key[:2], life.init.pointer] = life.first.line, life.name[0], life.init.rank
                self._row(life.name[0], life.first).take(life, life.name[1], record.key[0])
        record.lives.drop(folded)
        self._limit()

    def with_lives(self, records: Iterable[Record]) -> Account:
        """A copy of this account, with all that the records still keep."""
        whole = Account(is_first=self._is_first)
        whole.left_out = self.left_out
        for folded, row in self.rows.items():
            whole.rows[folded] = Row(row.first)
            whole.rows[folded].merge(row)
        for process, _, life, name in self._named(records):
            if name is not None:
                whole._row(name[0], life.first).take(life, name[1], process[0])
        whole._limit(0)
        whole.rows = dict(sorted(whole.rows.items(), key=lambda item: item[1].first.line))
        return whole

    def merge(self, later: Account, records: dict[Key, Record], of_later: Mapping[Key, Record]) -> None:
        """Add what was folded of a later part of the log, and to the ``records`` those of that part."""
        if later._names:  # they hide what the pointers were before
            self._keep_names([*records.values(), *of_later.values()])
        for name, row in later.rows.items():
            held = self.rows.setdefault(name, row)
            if held is not row:
                held.merge(row)
        self.left_out += later.left_out
        for place, named in later._names.items():
            self._names.pop(place, None)
            self._names[place] = named
        self._limit()
        for key, record in of_later.items():
            known = records.setdefault(key, record)
            if known is not record:
                known.merge(record)
        for key in of_later:
            self.relieve(records[key], records.values())

    def id_at(self, process: Process, pointer: str) -> str | None:
        """The id of the communicator that was last folded of a pointer, if its lines show one."""
        _, name, _ = self._names.get((process, pointer), (0, "/", 0))
        return None if "/" in name else name

    def _keep_names(self, records: Iterable[Record]) -> None:
        """Write down the names of lives while what they were split from is known."""
        records = list(records)
        for record in records:
            record.lives.resolve()
        for _, _, life, name in self._named(records):
            life.name = name

    def _named(self, records: Iterable[Record]) -> Iterator[tuple[Process, str, Life, Name | None]]:
        """(process, pointer, life, name) of what the records keep, in the order of their first lines.

        NCCL 2.23 and later print no id for a communicator that was split from another: its hash is made of the hash of
        the parent, the number of the split and the color (init.cc), and so is its name here. 2.23 does not print the
        number either: here its colors are counted. Up to 2.20 not even the parent is printed, where the rank is that in
        the widest communicator of the process.
        """
        lives = [
            (life.first.line, record.key[:2], pointer, life, record.lives.world())
            for record in records for pointer, held in record.lives.all().items() for life in held
        ]  # fmt: skip
        colors: Counter[tuple[Process, str | None, str]] = Counter()
        latest: dict[tuple[Process, str], tuple[int, str | None, int | None]] = {}
        for line, process, pointer, life, world in sorted(lives, key=itemgetter(0)):
            init, place = life.init, (process, life.init.parent or "")
            known = [found for names in (latest, self._names) if (found := names.get(place, _NOWHERE))[0] < line]
            above: Above = max(known, key=itemgetter(0), default=_NOWHERE)[1:]
            if init.parent is None and world is not None and init.nranks < world.init.nranks:
                above = None, world.init.rank
            if init.comm is None and init.branch is not None and init.branch.startswith(UNNUMBERED):
                colors[process, init.parent, init.branch] += 1
            name = life.name or _name(life, above, colors[process, init.parent, init.branch or ""])
            latest[process, pointer] = line, name[0] if name is not None else None, life.init.rank
            yield process, pointer, life, name

    def _row(self, name: str, first: Span) -> Row:
        if name not in self.rows:
            self.rows[name] = Row(first)
        return self.rows[name]

    def _limit(self, slack: int = _SLACK) -> None:
        """Leave out rows beyond the limit: complete ones, the oldest first, then the latest of the open ones."""
        for place in list(self._names)[:-NAME_LIMIT] if len(self._names) > NAME_LIMIT + slack else ():
            del self._names[place]
        if len(self.rows) <= COMM_LIMIT + slack:
            return
        beyond = len(self.rows) - COMM_LIMIT
        by_state: dict[int, list[str]] = defaultdict(list)
        for name, row in sorted(self.rows.items(), key=lambda item: item[1].first.line):
            by_state[2 if row.is_open else 0 if row.is_whole else 1].append(name)
        by_state[2].reverse()
        order = [(state < 2, name) for state in range(3) for name in by_state[state]]  # noqa: PLR2004
        for is_complete, name in order[:beyond]:
            del self.rows[name]
            self.left_out += is_complete


def _is_open(life: Life) -> bool:
    return life.started and not life.ready


def _name(life: Life, parent: Above, count: int) -> Name | None:
    """The id that a line shows, or that of the parent with the number and the color of the split.

    ``count``: how often the process has come to this color, where the number is unknown.
    """
    init = life.init
    if init.comm is not None:
        return init.comm, parent
    if parent[0] is None or init.branch is None:
        return None
    return f"{parent[0]}/{init.branch}{f'#{count}' if count > 1 else ''}", parent
