"""Progress of reading on a terminal, for large input."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator

_BEFORE = 1.0
"""Seconds before progress is shown: most input is read by then."""
_BETWEEN = 0.2


@contextlib.contextmanager
def showing(*, quiet: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A function that shows bytes read and bytes to read on one line of stderr, which is erased at the end.

    None if ``quiet`` or if stderr is not a terminal that can erase a line.
    """
    if quiet or sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    due = [time.monotonic() + _BEFORE]

    def show(done: int, total: int) -> None:
        if time.monotonic() >= due[0]:
            due[0] = time.monotonic() + _BETWEEN
            _write(f"\rncdiag: read {done >> 20} of {total >> 20} MiB\x1b[K")

    begin = due[0]
    try:
        yield show
    finally:
        if due[0] != begin:
            _write("\r\x1b[K")


def _write(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()
