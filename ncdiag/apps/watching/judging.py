"""A diagnosis of what was read until now, while the reading goes on: in a copy of the process.

fork(2) copies what was read as it is, without work, and nothing that the copy does with it is seen here.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable
from typing import NoReturn


class Judging:
    """A function that runs in a copy of this process."""

    def __init__(self, judge: Callable[[], bytes]) -> None:
        """Begin; ``judge`` returns what the copy sends back. Raises OSError where there can be no further process."""
        self._end, end = os.pipe()
        self._parts: list[bytes] = []
        os.set_blocking(self._end, False)
        self._pid = os.fork()
        if not self._pid:
            _in_copy(judge, end)
        os.close(end)

    def result(self, *, wait: bool = False) -> bytes | None:
        """What came back: None until it is there, empty if the copy failed. ``wait`` until it is there."""
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
        """End the copy, whose answer nobody wants any more."""
        with contextlib.suppress(OSError):
            os.kill(self._pid, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self.result(wait=True)


def _in_copy(judge: Callable[[], bytes], end: int) -> NoReturn:
    """Answer and end without what this process would do when it ends."""
    code = 1
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for those who wait for the answer
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
