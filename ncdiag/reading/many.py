"""Many sources as one job: small ones are read here and now, long files and many of them by all processors.

`ncdiag.reading.workers` has the processes; it is imported only when they are wanted.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ncdiag.reading.one import read_source

WORTHWHILE = 32 << 20
"""Bytes of input from which on worker processes are started."""

Progress = Callable[[int, int], None]
"""Called with the bytes that were read so far and those to read."""


def read_all(
    sources: Iterable[Any], *, progress: Progress | None = None, processes: int | None = None,
    worthwhile: int = WORTHWHILE,
) -> Iterator[Any]:  # fmt: skip
    """A `Reading` for each source, in their order; what is no source (unreadable, read before) is passed on as it is.

    Streams are read at once, files when all sources are known. ``processes``: None for as many as there are processors.
    """
    items: list[Any] = [read_source(source) if _is_stream(source) else source for source in sources]
    files = [item for item in items if hasattr(item, "buffers")]
    told = Told(progress, sum(file.size for file in files))
    count = _processors() if processes is None else processes
    if files and told.total >= worthwhile and count > 1:
        from ncdiag.reading import workers

        try:
            found = workers.Workers(files, count, told.add)
        except (OSError, ImportError):  # no shared memory for their locks, no processes: without them, then
            found = None
        if found is not None:
            with found:
                yield from found.readings(items)
            return
    for item in items:
        if not hasattr(item, "buffers"):
            yield item
        elif not getattr(item, "interrupted", False):
            yield read_source(item, told.add)


def _is_stream(item: Any) -> bool:  # noqa: ANN401  (a source or anything else)
    return hasattr(item, "buffers") and getattr(item, "size", None) is None


def _processors() -> int:
    """How many processors may be used by worker processes; 1 when this process cannot be forked safely."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return 1
    return len(os.sched_getaffinity(0))


class Told:
    """Adds up what was read and tells it."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        """``total`` bytes are to be read."""
        self.total, self._progress, self._done = total, progress, 0

    def add(self, size: int) -> None:
        """So many bytes more were read."""
        self._done += size
        if self._progress is not None:
            self._progress(min(self._done, self.total), self.total)
