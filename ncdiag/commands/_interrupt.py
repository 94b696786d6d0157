"""Ctrl-C ends the reading, not the answer: what was read so far is judged and reported."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from types import FrameType

from ncdiag.text import Stop


@contextlib.contextmanager
def interruptible(*, quiet: bool = False) -> Iterator[Stop]:
    """A context in which the first Ctrl-C stops the reading and the second one ends the program.

    ``quiet``: do not print how to end the program at once.
    """
    stop = Stop()

    def interrupted(_number: int, _frame: FrameType | None) -> None:
        if stop.happened:
            raise KeyboardInterrupt
        if not quiet:
            os.write(2, b"ncdiag: interrupted; finishing with what is there, Ctrl-C again ends at once\n")
        stop.ask()

    previous = signal.signal(signal.SIGINT, interrupted)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, previous)
