"""The communicators of one process, as its lines told them: one life from its first to its last line.

A pointer is used again when its communicator was destroyed, and not every line tells the communicator's id. Lives are
kept in the order of their log lines, so that those of a later part of the log can be appended. Of a process
that has too many, `ncdiag.parsers.nccl_log.account` takes some over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

import msgspec

from ncdiag.base.spans import Span
from ncdiag.parsers.nccl_log.reading import Init

LIFE_LIMIT = 1024
"""Lives of one process above which some are taken over."""


class Life(msgspec.Struct):
    """A communicator in one process: its latest description, its first line and the latest state that a line told.

    ``thread`` is the one that printed the first line, ``name`` the communicator's, once it is fixed, with the
    parent's and the rank in the parent.
    ``begun_at`` and ``ready_at`` are the times of the lines that say so, in seconds since the epoch.
    """

    init: Init
    first: Span
    state: tuple[str, Span] | None = None
    started: bool = False
    ready: bool = False
    aborted: bool = False
    thread: int | None = None
    name: tuple[str, tuple[str | None, int | None]] | None = None
    begun_at: float | None = None
    ready_at: float | None = None

    @classmethod
    def of(cls, init: Init, span: Span, thread: int | None, time: float | None = None) -> Life:
        """What one line tells."""
        state = (init.state, span) if init.state is not None else None
        started, ready = init.state == "started", init.state == "ready"
        return cls(
            init, span, state, started=started, ready=ready, aborted=init.aborted, thread=thread,
            begun_at=time if started else None, ready_at=time if ready else None,
        )  # fmt: skip

    def continues(self, held: Life) -> bool:
        """Can this be the same life as ``held``, told before it?"""
        new, old = self.init, held.init
        alike = (new.rank, new.nranks) == (old.rank, old.nranks) and new.comm in {None, old.comm}
        return alike and (new.comm is not None or not self.follows(held))

    def follows(self, held: Life) -> bool:
        """Did this one begin when ``held`` was ready?"""
        return self.started and held.ready

    def joined(self, later: Life) -> Life:
        """One life of this and what was told of it later."""
        return Life(
            _described(later.init, self.init), self.first, later.state or self.state,
            started=self.started or later.started, ready=self.ready or later.ready,
            aborted=self.aborted or later.aborted, thread=self.thread, name=self.name or later.name,
            begun_at=later.begun_at if self.begun_at is None else self.begun_at,
            ready_at=self.ready_at if later.ready_at is None else later.ready_at,
        )  # fmt: skip


def _described(new: Init, old: Init) -> Init:
    return msgspec.structs.replace(
        new, comm=new.comm or old.comm, cuda_dev=old.cuda_dev if new.cuda_dev is None else new.cuda_dev,
        bus_id=new.bus_id or old.bus_id, parent=new.parent or old.parent, state=new.state or old.state,
        nhosts=old.nhosts if new.nhosts is None else new.nhosts, branch=new.branch or old.branch,
    )  # fmt: skip


class Lives:
    """All communicators of one process, by pointer."""

    def __init__(self) -> None:
        """None yet."""
        self._told: dict[str, list[Life]] = defaultdict(list)
        self._count = 0
        self._limit = LIFE_LIMIT
        self._world: Life | None = None
        """What `world` said, until more is told."""
        self.gap: tuple[int, int] | None = None
        """The first and the last of the lines with which those began that were taken over."""

    def __bool__(self) -> bool:
        """Was any told?"""
        return bool(self._told)

    def __len__(self) -> int:
        """How many are kept."""
        return self._count

    @property
    def are_many(self) -> bool:
        """Should some be taken over?"""
        return self._count > self._limit

    def take(self, init: Init, span: Span, thread: int | None = None, time: float | None = None) -> None:
        """Add one line, which the thread printed."""
        self._add(init.pointer, Life.of(init, span, thread, time))

    def merge(self, later: Lives) -> None:
        """Put what a later part of the log told behind what is here."""
        self._widen(later.gap)
        for pointer, lives in later._told.items():
            for life in lives:
                self._add(pointer, life)

    def _add(self, pointer: str, life: Life) -> None:
        self._world = None
        held = self._told.get(pointer)
        if held and life.continues(held[-1]):
            held[-1] = held[-1].joined(life)
        else:
            self._told[pointer].append(life)
            self._count += 1

    def all(self) -> dict[str, list[Life]]:
        """The lives of each pointer; one that began before its id was told is one with what follows."""
        return {pointer: _resolved(lives) for pointer, lives in self._told.items()}

    def resolve(self) -> None:
        """Keep what `all` gives."""
        self._told = defaultdict(list, self.all())
        self._count = sum(map(len, self._told.values()))

    def in_order(self) -> list[Life]:
        """Those that are kept, in the order of their first lines."""
        return sorted((life for lives in self._told.values() for life in lives), key=_first_line)

    def to_keep(self) -> list[Life]:
        """Those that give the process its rank number, and the last one, of which more may be told."""
        equal = _widest(self._told)
        return [equal[0], equal[-1], self.in_order()[-1]]

    def drop(self, lives: Collection[Life]) -> None:
        """Keep these no longer."""
        dropped = set(map(id, lives))
        left = {place: [one for one in kept if id(one) not in dropped] for place, kept in self._told.items()}
        self._told = defaultdict(list, {place: kept for place, kept in left.items() if kept})
        self._count -= len(dropped)
        self._limit = max(LIFE_LIMIT, 2 * self._count)
        if lives:
            lines = [life.first.line for life in lives]
            self._widen((min(lines), max(lines)))

    def _widen(self, gap: tuple[int, int] | None) -> None:
        if gap is not None:
            self.gap = gap if self.gap is None else (min(self.gap[0], gap[0]), max(self.gap[1], gap[1]))

    def world(self) -> Life | None:
        """The widest: most ranks, then one that has a pointer, then the first told; its pointer's last life as wide.

        It is what gives the process its rank number. The first line is that of the first life of the pointer.
        """
        if self._world is None and self._told:
            self._world = self._found_world()
        return self._world

    def _found_world(self) -> Life:
        equal = _widest(self.all())
        return equal[0] if len(equal) == 1 else msgspec.structs.replace(equal[-1], first=equal[0].first)


def _widest(lives: Mapping[str, list[Life]]) -> list[Life]:
    """Those of the pointer that has the widest one, as wide as that."""
    places = [
        (life.init.nranks, bool(pointer), -life.first.line, pointer)
        for pointer, found in lives.items() for life in found
    ]  # fmt: skip
    nranks, _, _, pointer = max(places)
    return [life for life in lives[pointer] if life.init.nranks == nranks]


def _first_line(life: Life) -> int:
    return life.first.line


def _resolved(lives: list[Life]) -> list[Life]:
    if len(lives) == 1:
        return lives
    found: list[Life] = []
    for life in lives:
        before = found[-1].init if found and not life.follows(found[-1]) else None
        same = before is not None and (before.rank, before.nranks) == (life.init.rank, life.init.nranks)
        if same and before is not None and before.comm is None:
            found[-1] = found[-1].joined(life)
        else:
            found.append(life)
    return found
