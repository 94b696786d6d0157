"""Copy standard input to standard output, and as far as possible to descriptor 3: ``python3 -I -S tee.py``.

Standard input is a pipe, or the end of a pseudo-terminal.

It runs between a job and the reader of its output as long as the job prints, even if ncdiag ends: it ignores signals of
a terminal, and never waits for descriptor 3. Data for the reader of descriptor 3 is buffered up to `ROOM` bytes; older
data is lost to that reader only, and the exit status is then `LOST`. If the reader of standard output closes it, this
program ends: the job then gets SIGPIPE, as it would without it.
"""

from __future__ import annotations

import collections
import contextlib
import errno
import os
import select
import signal
import sys

TAP = 3
ROOM = 64 << 20
"""Maximum number of buffered bytes for a busy reader: seconds of a job that prints a lot."""
LOST = 3
IGNORED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGPIPE", "SIGUSR1", "SIGUSR2", "SIGTSTP")
"""Signals that it ignores; its parent blocks them at the start, because they may arrive earlier."""
_PIECE = 1 << 17


class Tap:
    """The additional reader: it gets what it accepts, and is never waited for."""

    def __init__(self, handle: int, room: int = ROOM) -> None:
        self._room = room
        self.handle: int | None = handle
        self.has_lost = False
        self._held: collections.deque[bytes] = collections.deque()
        self._size = 0
        os.set_blocking(handle, False)

    def waiting(self) -> list[int]:
        """Its descriptor if there is data for it."""
        return [self.handle] if self.handle is not None and self._held else []

    def take(self, data: bytes) -> None:
        """Buffer data; if there is too much, the oldest is lost, because failures are at the end."""
        if self.handle is None:
            return
        self._held.append(data)
        self._size += len(data)
        while self._size > self._room and len(self._held) > 1:
            self._size -= len(self._held.popleft())
            self.has_lost = True
            if self._held[0][:1] != b"\n":  # else the end of a lost line would continue another one
                self._held[0] = b"\n" + self._held[0]
                self._size += 1

    def give(self) -> None:
        """Write what the reader accepts now."""
        while self.handle is not None and self._held:
            data = self._held[0]
            try:
                count = os.write(self.handle, data)
            except BlockingIOError:
                return
            except OSError:  # the reader has closed it
                self.handle = None
                return
            self._size -= count
            if count == len(data):
                self._held.popleft()
            else:
                self._held[0] = data[count:]

    def finish(self) -> None:
        """Write the rest, waiting if necessary."""
        if self.handle is not None:
            os.set_blocking(self.handle, True)
            self.give()


def copy(source: int, target: int, tap: Tap) -> None:
    """Copy until the source ends or the target is closed."""
    while True:
        ready, _, _ = select.select([source], tap.waiting(), [])
        tap.give()
        if source not in ready:
            continue
        data = _read(source)
        if not data:
            return
        tap.take(data)
        tap.give()
        try:
            _write(target, data)
        except OSError:
            return


def _read(source: int) -> bytes:
    """Available data; empty at the end, which a pseudo-terminal signals by EIO."""
    try:
        return os.read(source, _PIECE)
    except OSError as error:
        if error.errno != errno.EIO:
            raise
        return b""


def _write(target: int, data: bytes) -> None:
    """Write everything, even if another process made the descriptor non-blocking."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(target, rest) :]
        except OSError as error:  # noqa: PERF203  (each write may be refused for a moment)
            if error.errno != errno.EAGAIN:
                raise
            select.select([], [target], [])


def main() -> int:
    """Copy 0 to 1 and 3."""
    for name in IGNORED:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    with contextlib.suppress(OSError):
        os.setsid()
    os.closerange(TAP + 1, 4096)
    tap = Tap(TAP)
    copy(0, 1, tap)
    os.close(0)
    os.close(1)
    tap.finish()
    return LOST if tap.has_lost else 0


if __name__ == "__main__":
    sys.exit(main())
