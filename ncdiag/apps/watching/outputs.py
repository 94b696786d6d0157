"""The standard output and standard error of a job: they stay unchanged, and are also read.

========== ==================================================================================================
a file     The job inherits it. What it adds is read from the file.
a pipe     The job gets a pipe, and `ncdiag.apps.watching.tee` copies it.
a terminal The job gets a pseudo-terminal (`ncdiag.machine.terminal`), which is copied the same way. If there can be
           none, the job inherits the terminal: its output cannot be read, and its modification time shows that
           something was printed (to 8 s, Linux drivers/tty/tty_io.c).
other      The job inherits it; nothing is seen.
========== ==================================================================================================

If both streams are one pipe or one terminal, they stay one.
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
"""Maximum number of bytes of a pipe that are read in one turn."""

LOST = "the job printed faster than ncdiag could read; part of the output was not read"

Action = tuple[int, int, int]


class Copied(msgspec.Struct):
    """A stream that is copied: the process that copies, and the pipe with its copy."""

    stream: int
    pid: int
    tap: int
    source: Growing
    screen: int | None = None
    """The end of a pseudo-terminal, held for its size.

    While it is held, the job is not notified when its reader is gone.
    """
    ended: bool = False
    has_lost: bool = False

    def read(self) -> int:
        """Read new data; returns the number of bytes."""
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
        """Stop reading. Further output of the job still goes to its reader."""
        self._let_go()
        os.close(self.tap)

    def follow_size(self) -> bool:
        """Copy the size of the real terminal to the pseudo-terminal; True if it changed."""
        return self.screen is not None and terminal.follow_size(self.stream, self.screen)

    def _let_go(self) -> None:
        if self.screen is not None:
            os.close(self.screen)
            self.screen = None


class Outputs:
    """Both streams. ``actions`` are file actions for `os.posix_spawn` that pass them to the job."""

    def __init__(self) -> None:
        """Examine the streams of this process, and start the copying processes."""
        self.actions: list[Action] = []
        self.copied: list[Copied] = []
        self.tails: list[Tail] = []
        self.unread: dict[str, str] = {}
        """Names of streams that are not read, with the reason."""
        self.notes: list[str] = []
        """Sentences for the user."""
        self.has_terminal = False
        """True if the job prints to a terminal."""
        self._inherited: list[int] = []
        self._printed = 0.0
        self._ours: dict[int, int] = {}
        known: dict[tuple[int, ...], int] = {}
        for stream in (1, 2):
            with contextlib.suppress(OSError):  # a closed one stays closed
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
        """Create the stream of the job, and start the process that copies it, or store why that failed."""
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
        """Close the job's ends of the streams in this process after the start."""
        for handle in self._ours.values():
            os.close(handle)
        self._ours = {}

    @property
    def sources(self) -> list[Growing]:
        """The content of both streams."""
        return [*(copied.source for copied in self.copied), *(tail.source for tail in self.tails)]

    @property
    def has_lost(self) -> bool:
        """True if a part of a pipe was not read."""
        return any(copied.has_lost for copied in self.copied)

    @property
    def is_at_end(self) -> bool:
        """True if a pipe has nothing more."""
        return all(copied.ended for copied in self.copied)

    def close(self) -> None:
        """Stop reading; the output of the job still goes to its readers."""
        for copied in self.copied:
            copied.close()
        self.copied, self.tails = [], []

    def read(self) -> int:
        """Read new output; returns the number of bytes."""
        return sum(copied.read() for copied in self.copied) + sum(tail.read() for tail in self.tails)

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Within this context ncdiag prints, perhaps to the same stream: that is not counted as output of the job."""
        for tail in self.tails:
            while tail.read():
                pass
        yield
        for tail in self.tails:
            tail.skip()
        self.has_news()

    def follow_size(self) -> bool:
        """Copy the sizes of the real terminals to the job's pseudo-terminals; True if one changed."""
        return sum(copied.follow_size() for copied in self.copied) > 0

    def has_news(self) -> bool:
        """True if something was printed to a terminal that cannot be read, since the last call."""
        before, self._printed = self._printed, max(self._times(), default=0.0)
        return self._printed != before

    def _times(self) -> Iterator[float]:
        for handle in self._inherited:
            with contextlib.suppress(OSError):  # its window was closed
                yield os.fstat(handle).st_mtime


def _identity(stream: int, status: os.stat_result) -> tuple[int, ...]:
    """Equal for two descriptors of one pipe, file or terminal."""
    return (terminal.device(stream),) if os.isatty(stream) else (status.st_dev, status.st_ino)


def _started(source: int, target: int) -> tuple[int, int]:
    """Start the copying process; returns (process id, pipe with its copy). Raises OSError."""
    tap, end = map(_above, os.pipe())
    # a target descriptor must not be overwritten before it was duplicated
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
    """The descriptor, moved above those that a program is given."""
    low = []
    while handle <= tee.TAP:
        low.append(handle)
        handle = os.dup(handle)
    for number in low:
        os.close(number)
    return handle
