"""What becomes of a job's standard output and standard error: they stay what they are, and are read beside that.

========== ==================================================================================================
a file     The job inherits it. What it adds is read from the file.
a terminal The job inherits it, so that it stays a terminal with its job control. Nothing can be read of it; its time
           of modification tells that something was printed (to 8 s, Linux drivers/tty/tty_io.c).
a pipe     The job gets a pipe, and `ncdiag.watching.tee` copies it. Where both streams are one pipe, they stay one.
anything else  The job inherits it; nothing is seen.
========== ==================================================================================================
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator

import msgspec

from ncdiag.reading.growing import Growing
from ncdiag.watching import tee
from ncdiag.watching.follow import PIECE, Tail

_NAMES = {1: "standard output", 2: "standard error"}
_DRAIN = 32 << 20
"""Bytes of a pipe that are taken in one turn."""

LOST = "the job printed faster than ncdiag reads: a part was not read"

Action = tuple[int, int, int]


class Copied(msgspec.Struct):
    """A stream that is copied: the process that does it, and where it gives what it copied."""

    pid: int
    tap: int
    source: Growing
    ended: bool = False
    has_lost: bool = False

    def read(self) -> int:
        """Take what was copied since; returns how many bytes."""
        taken = 0
        while not self.ended and taken < _DRAIN:
            try:
                piece = os.read(self.tap, PIECE)
            except BlockingIOError:
                break
            self.source.feed(piece)
            taken += len(piece)
            self.ended = not piece
        if self.ended and self.pid:
            _, status = os.waitpid(self.pid, 0)
            self.pid = 0
            if os.waitstatus_to_exitcode(status) == tee.LOST:
                self.has_lost = True
                self.source.notes.append(LOST)
        return taken

    def close(self) -> None:
        """Read no more. What the job still prints goes on to its reader."""
        os.close(self.tap)


class Outputs:
    """Both streams. ``actions`` are those of `os.posix_spawn` that give them to the job."""

    def __init__(self) -> None:
        """Look at the streams of this process, and start what copies them. Raises OSError."""
        self.actions: list[Action] = []
        self.copied: list[Copied] = []
        self.tails: list[Tail] = []
        self.unread: list[str] = []
        self._terminals: list[int] = []
        self._printed = 0.0
        self._ours: list[int] = []
        known: dict[tuple[int, int], int] = {}
        for stream in (1, 2):
            with contextlib.suppress(OSError):  # one that is closed stays so
                status = os.fstat(stream)
                same = known.setdefault((status.st_dev, status.st_ino), stream)
                self._arrange(stream, same, status)
        self.has_news()

    def _arrange(self, stream: int, same: int, status: os.stat_result) -> None:
        mode = status.st_mode
        if os.isatty(stream):
            self._terminals.append(stream)
        elif stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
            if same != stream:
                self.actions.append((os.POSIX_SPAWN_DUP2, self._ours[0], stream))
            else:
                self._copy(stream)
            return
        elif stat.S_ISREG(mode):
            if same == stream:
                self._follow(stream, status)
            return
        self.unread.append(_NAMES[stream])

    def _copy(self, stream: int) -> None:
        source, target = os.pipe()
        tap, end = os.pipe()
        program = [sys.executable, "-I", "-S", tee.__file__]
        # a descriptor that is among the targets must not be written over before it was duplicated
        source, end = _above(source), _above(end)
        pid = os.posix_spawn(
            sys.executable, program, os.environ,
            file_actions=[
                (os.POSIX_SPAWN_DUP2, stream, 1), (os.POSIX_SPAWN_DUP2, source, 0), (os.POSIX_SPAWN_DUP2, end, tee.TAP),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
        )  # fmt: skip
        os.close(source)
        os.close(end)
        target, tap = _above(target), _above(tap)
        os.set_blocking(tap, False)
        self._ours.append(target)
        self.actions.append((os.POSIX_SPAWN_DUP2, target, stream))
        self.copied.append(Copied(pid, tap, Growing(_NAMES[stream])))

    def _follow(self, stream: int, status: os.stat_result) -> None:
        begin = max(status.st_size, os.lseek(stream, 0, os.SEEK_CUR))
        try:
            path = os.path.realpath(f"/proc/self/fd/{stream}")
            tail = Tail(f"/proc/self/fd/{stream}", path, begin)
        except OSError:
            self.unread.append(_NAMES[stream])
        else:
            self.tails.append(tail)

    def started(self) -> None:
        """The job has its streams: nobody else is to hold them open."""
        for handle in self._ours:
            os.close(handle)
        self._ours = []

    @property
    def sources(self) -> list[Growing]:
        """What was read of both."""
        return [*(copied.source for copied in self.copied), *(tail.source for tail in self.tails)]

    @property
    def has_terminal(self) -> bool:
        """Does the job print to a terminal?"""
        return bool(self._terminals)

    @property
    def has_lost(self) -> bool:
        """Was a part of a pipe not read?"""
        return any(copied.has_lost for copied in self.copied)

    @property
    def is_at_end(self) -> bool:
        """Is nothing more to come through a pipe?"""
        return all(copied.ended for copied in self.copied)

    def close(self) -> None:
        """Read no more; what the job prints goes on to its readers."""
        for copied in self.copied:
            copied.close()
        self.copied, self.tails = [], []

    def read(self) -> int:
        """Take what was printed since; returns how many bytes."""
        return sum(copied.read() for copied in self.copied) + sum(tail.read() for tail in self.tails)

    def has_news(self) -> bool:
        """Was something printed to a terminal since this was asked last?"""
        before, self._printed = self._printed, max(self._times(), default=0.0)
        return self._printed != before

    def _times(self) -> Iterator[float]:
        for terminal in self._terminals:
            with contextlib.suppress(OSError):  # its window was closed
                yield os.fstat(terminal).st_mtime


def _above(handle: int) -> int:
    """The descriptor, moved where it is none of those that a program is given."""
    low = []
    while handle <= tee.TAP:
        low.append(handle)
        handle = os.dup(handle)
    for number in low:
        os.close(number)
    return handle
