"""Which communicator of a process a line is of that names ranks and no communicator.

Its own number has to be that of the rank that prints the line, and it has to be wide enough. Of several, the lines of
the thread that sets it up are its own (src/group.cc, ncclAsyncLaunch, about v2.14 to v2.21). What is left is told by
the order of the lines: up to 2.15, which print no ids, there is one line, when the set-up is over; later there is one
when it begins, too; and since 2.22 ranks connect when the first collective is called, which is mostly next.

Equal lines of one thread are counted together (`ncdiag.parsers.nccl_log.bulk`): where a thread sets up several
communicators, as up to about 2.13, they all count for the first.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable

from ncdiag.parsers.nccl_log.lives import Life

_NOBODY: dict[str, str | int] = {}


class Owners:
    """The communicators of one process."""

    def __init__(self, lives: Iterable[Life], gap: tuple[int, int] | None = None) -> None:
        """Order them by their first lines. The lines of others are in the ``gap``, to where the next one begins."""
        self._lives = sorted(lives, key=lambda life: life.first.line)
        self._gap = range(0)
        if gap is not None:
            end = next((one.first.line for one in self._lives if one.first.line > gap[1]), sys.maxsize)
            self._gap = range(gap[0], end)

    def of(self, thread: int | None, printed_by: Collection[int], most: int, line: int) -> dict[str, str | int]:
        """Id and size of the communicator in which one of these ranks printed the line, as far as they are told.

        ``most`` is the greatest rank that it names, ``line`` its number.
        """
        if line in self._gap:
            return _NOBODY
        fits = [life for life in self._lives if life.init.rank in printed_by and most < life.init.nranks]
        own = [life for life in fits if thread is not None and life.thread == thread]
        found = _at(own or fits, line)
        if found is None:
            return _NOBODY
        init = found.init
        return {"nranks": init.nranks} if init.comm is None else {"communicator": init.comm, "nranks": init.nranks}


def _at(lives: Collection[Life], line: int) -> Life | None:
    """The one that was last begun before the line; else one of which only the end is told: after it, or before it."""
    begun = [life for life in lives if life.first.line <= line and not _only_ended(life)]
    if begun:
        return begun[-1]
    after = [life for life in lives if life.first.line > line]
    before = [life for life in lives if life.first.line <= line and life.init.comm is not None]
    return after[0] if after else before[-1] if before else None


def _only_ended(life: Life) -> bool:
    """Is the line that says that it is ready the first one?"""
    return life.ready and not life.started and life.state is not None and life.state[1].line == life.first.line
