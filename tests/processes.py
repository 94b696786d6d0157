"""What tests of programs that hang share: waiting for what comes soon, and a clock that leaps to the end of a limit."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def until(happened: Callable[[], T]) -> T:
    """What ``happened`` returns as soon as it is true; after two minutes whatever it returns, for the test to fail."""
    deadline = time.monotonic() + 120
    while not (found := happened()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found


def seen_on(terminal: int, word: bytes) -> bytes:
    """What a program printed on a terminal when the word has come, which it has to soon."""
    shown = bytearray()

    def came() -> bool:
        with contextlib.suppress(BlockingIOError):
            shown.extend(os.read(terminal, 65536))
        return word in shown

    os.set_blocking(terminal, False)
    assert until(came), bytes(shown)
    return bytes(shown)


def interpreter(version: str) -> str | None:
    """A Python of that version: of pyenv, or on the path."""
    pyenv = os.environ.get("PYENV_ROOT")
    found = sorted(Path(pyenv).glob(f"versions/{version}.*/bin/python")) if pyenv and os.access(pyenv, os.X_OK) else []
    return str(found[-1]) if found else shutil.which(f"python{version}")


def running(mark: str) -> list[int]:
    """The other processes that carry the mark in their environment or in their words."""
    return [int(place.name) for place in Path("/proc").glob("[0-9]*") if _carries(place, mark.encode())]


def left_running(mark: str) -> list[int]:
    """Those that carry the mark after those being killed had time to go."""
    until(lambda: not running(mark))
    return running(mark)


def _carries(place: Path, mark: bytes) -> bool:
    if place.name == str(os.getpid()):
        return False
    for name in ("environ", "cmdline"):
        with contextlib.suppress(OSError):
            if mark in (place / name).read_bytes():
                return True
    return False


class LeapingClock:
    """Stands in for the module ``time``: an hour passes once a file is there.

    A program that makes the file when it has come to where it hangs is ended by its limit soon after, and never before:
    no limit has to be guessed that a busy machine keeps. Its output is read once more before the leap.
    """

    sleep = staticmethod(time.sleep)

    def __init__(self, there: Path) -> None:
        self._there, self._asked = there, 0

    def monotonic(self) -> float:
        """The clock of ``time.monotonic``, or that of an hour later."""
        self._asked += self._there.exists()
        return time.monotonic() + (3600 if self._asked > 2 else 0)
