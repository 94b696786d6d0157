"""Diagnose what was read so far while reading continues: in a fork of the process.

fork(2) copies the data without work, and changes in the fork do not affect this process.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from typing import NoReturn


class Judging:
    """A function that runs in a fork of this process."""

    def __init__(self, judge: Callable[[], bytes]) -> None:
        """Start; ``judge`` returns the data to send back. Raises OSError if no process can be created."""
        self._end, end = os.pipe()
        self._parts: list[bytes] = []
        os.set_blocking(self._end, False)
        self._pid = os.fork()
        if not self._pid:
            _in_copy(judge, end)
        os.close(end)

    def result(self, *, wait: bool = False) -> bytes | None:
        """The returned data: None while it is running, empty if the fork failed. ``wait``: wait for it."""
        if wait:
            os.set_blocking(self._end, True)
        try:
            while part := os.read(self._end, 1 << 16):
                self._parts.append(part)
        except BlockingIOError:
            return None
        os.close(self._end)
        _, status = os.waitpid(self._pid, 0)
        return b"".join(self._parts) if status == 0 else b""

    def give_up(self) -> None:
        """End the fork; its result is no longer needed."""
        with contextlib.suppress(OSError):
            os.kill(self._pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self.result(wait=True)


def _in_copy(judge: Callable[[], bytes], end: int) -> NoReturn:
    """Send the result and end, without the exit handlers of this process."""
    code = 1
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is left to the parent
        answer = memoryview(judge())
        while answer:
            answer = answer[os.write(end, answer) :]
        code = 0
    except Exception as error:  # noqa: BLE001  (nobody above can be told)
        if os.environ.get("NCDIAG_DEBUG") == "1":
            import traceback

            traceback.print_exception(error)
    finally:
        os._exit(code)
