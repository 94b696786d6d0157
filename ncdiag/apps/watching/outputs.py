"""What becomes of a job's standard output and standard error: they stay what they are, and are read beside that.

========== ==================================================================================================
a file     The job inherits it. What it adds is read from the file.
a pipe     The job gets a pipe, and `ncdiag.apps.watching.tee` copies it.
a terminal The job gets a pseudo-terminal (`ncdiag.machine.terminal`), which is copied the same way. Where there can be
           none the job inherits the terminal: nothing can be read of it, and its time of modification tells that
           something was printed (to 8 s, Linux drivers/tty/tty_io.c).
other      The job inherits it; nothing is seen.
========== ==================================================================================================

Where both streams are one pipe or one terminal, they stay one.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import sys
from collections.abc import Iterator

import msgspec

from ncdiag.apps.watching import tee
from ncdiag.apps.watching.follow import PIECE, Tail
from ncdiag.machine import terminal
from ncdiag.text import Growing

_NAMES = {1: "standard output", 2: "standard error"}
_DRAIN = 32 << 20
"""Bytes of a pipe that are taken in one turn."""

LOST = "the job printed faster than ncdiag could read; part of the output was not read"

Action = tuple[int, int, int]


class Copied(msgspec.Struct):
    """A stream that is copied: the process that does it, and where it gives what it copied."""

    stream: int
    pid: int
    tap: int
    source: Growing
    screen: int | None = None
    """The end of a pseudo-terminal, held for its size; while it is, the job is not told that its reader has gone."""
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
            self._let_go()
            _, status = os.waitpid(self.pid, 0)
            self.pid = 0
            if os.waitstatus_to_exitcode(status) == tee.LOST:
                self.has_lost = True
                self.source.notes.append(LOST)
        return taken

    def close(self) -> None:
        """Read no more. What the job still prints goes on to its reader."""
        self._let_go()
        os.close(self.tap)

    def follow_size(self) -> bool:
        """Give a pseudo-terminal the size of the real one; True if it had another one."""
        return self.screen is not None and terminal.follow_size(self.stream, self.screen)

    def _let_go(self) -> None:
        if self.screen is not None:
            os.close(self.screen)
            self.screen = None


class Outputs:
    """Both streams. ``actions`` are those of `os.posix_spawn` that give them to the job."""

    def __init__(self) -> None:
        """Look at the streams of this process, and start what copies them."""
        self.actions: list[Action] = []
        self.copied: list[Copied] = []
        self.tails: list[Tail] = []
        self.unread: dict[str, str] = {}
        """Names of streams, and why they are not read."""
        self.notes: list[str] = []
        """Sentences for the person."""
        self.has_terminal = False
        """Does the job print to a terminal?"""
        self._inherited: list[int] = []
        self._printed = 0.0
        self._ours: dict[int, int] = {}
        known: dict[tuple[int, ...], int] = {}
        for stream in (1, 2):
            with contextlib.suppress(OSError):  # one that is closed stays so
                status = os.fstat(stream)
                same = known.setdefault(_identity(stream, status), stream)
                self._arrange(stream, same, status)
        self.has_news()

    def _arrange(self, stream: int, same: int, status: os.stat_result) -> None:
        is_terminal = os.isatty(stream)
        self.has_terminal |= is_terminal
        if is_terminal or stat.S_ISFIFO(status.st_mode) or stat.S_ISSOCK(status.st_mode):
            if same == stream:
                self._copy(stream, is_terminal=is_terminal)
            if same in self._ours:
                self.actions.append((os.POSIX_SPAWN_DUP2, self._ours[same], stream))
                return
            if is_terminal:
                self._inherited.append(stream)
        elif stat.S_ISREG(status.st_mode):
            if same == stream:
                self._follow(stream, status)
            return
        why = self.unread.get(_NAMES[same], "not a file, a pipe or a terminal")
        self.unread.setdefault(_NAMES[stream], why)

    def _copy(self, stream: int, *, is_terminal: bool) -> None:
        """Make what the job prints to, and start what copies it, or note why that cannot be."""
        try:
            source, target = map(_above, terminal.like(stream) if is_terminal else os.pipe())
        except OSError as error:
            self._note(stream, error)
            return
        try:
            pid, tap = _started(source, stream)
        except OSError as error:
            os.close(source)
            os.close(target)
            self._note(stream, error)
            return
        self._ours[stream] = target
        self.copied.append(Copied(stream, pid, tap, Growing(_NAMES[stream]), source if is_terminal else None))
        if not is_terminal:
            os.close(source)

    def _note(self, stream: int, error: OSError) -> None:
        self.unread[_NAMES[stream]] = why = f"it cannot be copied: {error.strerror}"
        self.notes.append(f"not read: {_NAMES[stream]} of the job ({why})")

    def _follow(self, stream: int, status: os.stat_result) -> None:
        begin = max(status.st_size, os.lseek(stream, 0, os.SEEK_CUR))
        try:
            path = os.path.realpath(f"/proc/self/fd/{stream}")
            tail = Tail(f"/proc/self/fd/{stream}", path, begin)
        except OSError as error:
            self.unread[_NAMES[stream]] = f"{error.strerror}"
        else:
            self.tails.append(tail)

    def started(self) -> None:
        """The job has its streams: nobody else is to hold them open."""
        for handle in self._ours.values():
            os.close(handle)
        self._ours = {}

    @property
    def sources(self) -> list[Growing]:
        """What was read of both."""
        return [*(copied.source for copied in self.copied), *(tail.source for tail in self.tails)]

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

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """While this lasts ncdiag prints, maybe to where the job does: that is not what the job printed."""
        for tail in self.tails:
            while tail.read():
                pass
        yield
        for tail in self.tails:
            tail.skip()
        self.has_news()

    def follow_size(self) -> bool:
        """Give the job's pseudo-terminals the size of the real ones; True if one had another size."""
        return sum(copied.follow_size() for copied in self.copied) > 0

    def has_news(self) -> bool:
        """Was something printed to a terminal that cannot be read, since this was asked last?"""
        before, self._printed = self._printed, max(self._times(), default=0.0)
        return self._printed != before

    def _times(self) -> Iterator[float]:
        for handle in self._inherited:
            with contextlib.suppress(OSError):  # its window was closed
                yield os.fstat(handle).st_mtime


def _identity(stream: int, status: os.stat_result) -> tuple[int, ...]:
    """The same for two descriptors of one pipe, file or terminal."""
    return (terminal.device(stream),) if os.isatty(stream) else (status.st_dev, status.st_ino)


def _started(source: int, target: int) -> tuple[int, int]:
    """Start what copies: its process id, and where it gives what it copied. Raises OSError."""
    tap, end = map(_above, os.pipe())
    # a descriptor that is among the targets must not be written over before it was duplicated
    actions = [
        (os.POSIX_SPAWN_DUP2, target, 1), (os.POSIX_SPAWN_DUP2, source, 0), (os.POSIX_SPAWN_DUP2, end, tee.TAP),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]  # fmt: skip
    try:
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", tee.__file__],
            os.environ,
            file_actions=actions,
            setsigmask=[getattr(signal, name) for name in tee.IGNORED],
        )
    except OSError:
        os.close(tap)
        raise
    finally:
        os.close(end)
    os.set_blocking(tap, False)
    return pid, tap


def _above(handle: int) -> int:
    """The descriptor, moved where it is none of those that a program is given."""
    low = []
    while handle <= tee.TAP:
        low.append(handle)
        handle = os.dup(handle)
    for number in low:
        os.close(number)
    return handle
