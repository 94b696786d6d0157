"""The communicators of one process, as its lines told them: one life from its first to its last line.

A pointer is used again when its communicator was destroyed, and not every line tells the communicator's id. Lives are
kept in the order in which they were told, so that those of a later part of the log can be put behind them.
"""

from __future__ import annotations

from collections import defaultdict

import msgspec

from ncdiag.base.spans import Span
from ncdiag.parsers.nccl_log.reading import Init

LIFE_LIMIT = 1024
"""Lives that are kept of one process; beyond them only one that is wider than all."""


class Life(msgspec.Struct):
    """A communicator in one process: its latest description, its first line and the latest state that a line told.

    ``thread`` is the one that printed the first line.
    """

    init: Init
    first: Span
    state: tuple[str, Span] | None = None
    started: bool = False
    ready: bool = False
    thread: int | None = None

    @classmethod
    def of(cls, init: Init, span: Span, thread: int | None) -> Life:
        """What one line tells."""
        state = (init.state, span) if init.state is not None else None
        return cls(init, span, state, started=init.state == "started", ready=init.state == "ready", thread=thread)

    def continues(self, held: Life) -> bool:
        """Can this be the same life as ``held``, told before it?"""
        new, old = self.init, held.init
        return (new.rank, new.nranks) == (old.rank, old.nranks) and new.comm in {None, old.comm}

    def joined(self, later: Life) -> Life:
        """One life of this and what was told of it later."""
        return Life(
            _described(later.init, self.init), self.first, later.state or self.state,
            started=self.started or later.started, ready=self.ready or later.ready, thread=self.thread,
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
        self._widest = 0
        self._world: Life | None = None
        """What `world` said, until more is told."""

    def __bool__(self) -> bool:
        """Was any told?"""
        return bool(self._told)

    def take(self, init: Init, span: Span, thread: int | None = None) -> None:
        """Add one line, which the thread printed."""
        self._add(init.pointer, Life.of(init, span, thread))

    def merge(self, later: Lives) -> None:
        """Put what a later part of the log told behind what is here."""
        for pointer, lives in later._told.items():
            for life in lives:
                self._add(pointer, life)

    def _add(self, pointer: str, life: Life) -> None:
        self._world = None
        held = self._told.get(pointer)
        if held and life.continues(held[-1]):
            held[-1] = held[-1].joined(life)
        elif self._count < LIFE_LIMIT or life.init.nranks > self._widest:
            self._told[pointer].append(life)
            self._count += 1
            self._widest = max(self._widest, life.init.nranks)

    def all(self) -> dict[str, list[Life]]:
        """The lives of each pointer; one that began before its id was told is one with what follows."""
        return {pointer: _resolved(lives) for pointer, lives in self._told.items()}

    def world(self) -> Life | None:
        """The widest: most ranks, then one that has a pointer, then the first told; its pointer's last life as wide.

        It is what gives the process its rank number. The first line is that of the first life of the pointer.
        """
        if self._world is None and self._told:
            self._world = self._found_world()
        return self._world

    def _found_world(self) -> Life:
        lives = self.all()
        places = [
            (life.init.nranks, bool(pointer), -life.first.line, pointer)
            for pointer, found in lives.items() for life in found
        ]  # fmt: skip
        nranks, _, _, pointer = max(places)
        equal = [life for life in lives[pointer] if life.init.nranks == nranks]
        return equal[0] if len(equal) == 1 else msgspec.structs.replace(equal[-1], first=equal[0].first)


def _resolved(lives: list[Life]) -> list[Life]:
    if len(lives) == 1:
        return lives
    found: list[Life] = []
    for life in lives:
        before = found[-1].init if found else None
        same = before is not None and (before.rank, before.nranks) == (life.init.rank, life.init.nranks)
        if same and before is not None and before.comm is None:
            found[-1] = found[-1].joined(life)
        else:
            found.append(life)
    return found
