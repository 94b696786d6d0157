"""Read many sources as one case: small ones in this process, long files and large numbers of files in parallel.

`ncdiag.text.reading.workers` has the processes; it is imported only when they are needed.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ncdiag.text.reading.case import Case
from ncdiag.text.reading.model import Item, Look, Reading, told_apart
from ncdiag.text.reading.one import read_source
from ncdiag.text.reading.stop import Stop, Stoppable
from ncdiag.text.sources.files import File
from ncdiag.text.sources.model import Text, Unreadable

if TYPE_CHECKING:
    from ncdiag.text.window.bounds import Window

WORTHWHILE = 32 << 20
"""Minimum number of bytes of input for which worker processes are started."""

Progress = Callable[[int, int], None]
"""Called with the number of bytes read so far and the total."""


def read_all(  # noqa: PLR0913  (all by name)
    items: Iterable[Item], *, progress: Progress | None = None, stop: Stop | None = None,
    processes: int | None = None, worthwhile: int = WORTHWHILE, window: Window | None = None,
) -> Case:  # fmt: skip
    """Read the items: a stream when it is met, files when all items are known, then the outputs of machines.

    ``stop`` ends the reading of texts: the case then holds what was read, and the remaining items are not opened.
    ``processes``: None for one per processor; they are used for ``worthwhile`` bytes of files or more. ``window``: of
    texts, only the lines in this window of time are read; not of readings that were made elsewhere, and of machines.
    """
    stop = stop or Stop()
    windows = None
    if window is not None:
        from ncdiag.text.window.apply import Windows  # most cases are read whole

        windows = Windows(window)
    texts: list[File | Reading | Unreadable] = []
    looks: list[Look] = []
    for item in stop.until(iter(items)):
        if isinstance(item, File | Unreadable | Reading):
            texts.append(item)
        elif isinstance(item, Text):
            texts.append(read_source(Stoppable(item if windows is None else windows.stream(item), stop)))
        else:
            looks.append(item)
    processes = processors_at_hand() if processes is None else processes
    if windows is not None:
        cut = iter(windows.files([text for text in texts if isinstance(text, File)]))
        texts = [next(cut) if isinstance(text, File) else text for text in texts]
    read = tuple(_read(told_apart(texts), progress, stop, processes, worthwhile))
    alone = len(looks) == 1 and not texts
    printed = tuple(reading for look in looks for reading in look.readings(alone=alone))
    return Case(read, tuple(looks), printed, None if windows is None else windows.seen())


def _read(
    texts: Sequence[File | Reading | Unreadable], progress: Progress | None, stop: Stop, processes: int, worthwhile: int
) -> Iterator[Reading | Unreadable]:
    """The files read, the other items unchanged; without files that were not begun before the stop."""
    files = [text for text in texts if isinstance(text, File)]
    done = Done(progress, sum(file.size for file in files))
    if files and done.total >= worthwhile and processes > 1:
        from ncdiag.text.reading import workers

        try:
            found = workers.Workers(files, processes, stop, done.add)
        except (OSError, ImportError):  # no shared memory for their locks, or no processes: read without them
            found = None
        if found is not None:
            with found:
                yield from found.readings(texts)
            return
    for text in texts:
        if not isinstance(text, File):
            yield text
        elif not stop.happened:
            yield read_source(Stoppable(text, stop), done.add)


def processors_at_hand() -> int:
    """How many worker processes may be used; 1 if this process cannot be forked safely."""
    if sys.platform != "linux" or threading.active_count() > 1:
        return 1
    return len(os.sched_getaffinity(0))


class Done:
    """Adds up the bytes read and reports the progress."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        """``total`` is the number of bytes to read."""
        self.total, self._progress, self._done = total, progress, 0

    def add(self, size: int) -> None:
        """Count ``size`` more bytes as read."""
        self._done += size
        if self._progress is not None:
            self._progress(min(self._done, self.total), self.total)
