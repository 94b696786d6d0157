"""Worker processes that read files: long ones in parts, others in batches.

A worker returns its results, not the text. The processes share only the signal to stop.
"""

from __future__ import annotations

import contextlib
import gc
import io
import itertools
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from multiprocessing import connection
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from ncdiag.parsers.nccl_log import Repeats
from ncdiag.text.reading.model import Reading
from ncdiag.text.reading.one import is_dressed, read_source
from ncdiag.text.reading.parts import Part, Parts, read_part
from ncdiag.text.reading.sieve import Shapes
from ncdiag.text.reading.stop import INTERRUPTED, Stop, Stoppable
from ncdiag.text.sources.archives import BROKEN
from ncdiag.text.sources.files import File
from ncdiag.text.sources.model import Unreadable
from ncdiag.text.sources.text import BUFFER_SIZE, Cleaner, can_be_parted, clean_part

if TYPE_CHECKING:
    from multiprocessing.synchronize import Event

PART_SIZES = 8 << 20, 64 << 20
"""Minimum and maximum size in bytes of a part of a long file."""
READ_SIZE = 1 << 17
"""Bytes of a part that are read and scanned at once: with the results they fit into the cache of a processor."""
PARTS_EACH = 4
"""Parts of a long file per processor, so that all processors finish at about the same time."""
BATCH_SIZE, BATCH_FILES = 8 << 20, 200
"""Maximum bytes and files given to a worker at once."""
_POLL = 0.1

T = TypeVar("T", Part, list[Reading])


class Workers:
    """The worker processes and their tasks."""

    def __init__(self, files: list[File], processes: int, stop: Stop, tick: Callable[[int], None]) -> None:
        """Start ``processes`` workers and submit the files; ``tick`` receives the bytes read. Raises OSError."""
        context = multiprocessing.get_context("fork" if threading.active_count() == 1 else "spawn")
        self._word = context.Event()
        self._pool = ProcessPoolExecutor(processes, context, _begin, (self._word,))
        self._stop, self._tick, self._processes = stop, tick, processes
        self._sizes: dict[Future[Part] | Future[list[Reading]], int] = {}
        self._parted: dict[File, list[Future[Part]]] = {}
        self._batched: dict[File, tuple[Future[list[Reading]], int]] = {}
        self._give(files)

    def __enter__(self) -> Workers:  # noqa: PYI034  (Self is in typing since 3.11)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._word.set()
        self._pool.shutdown(wait=error is None, cancel_futures=True)

    def _give(self, files: Iterable[File]) -> None:
        """Submit all files: long ones in parts, others in batches."""
        batch: list[File] = []
        for file in files:
            path, borders = file.path, _borders(file, self._processes)
            if path is not None and len(borders) > 2 and not is_dressed(file):  # noqa: PLR2004  (more than one part)
                self._parted[file] = [
                    self._counted(self._pool.submit(_part, file.name, path, index, start, end), end - start)
                    for index, (start, end) in enumerate(itertools.pairwise(borders))
                ]
                continue
            batch.append(file)
            if len(batch) >= BATCH_FILES or sum(file.size for file in batch) >= BATCH_SIZE:
                self._give_batch(batch)
                batch = []
        self._give_batch(batch)

    def _give_batch(self, batch: list[File]) -> None:
        if batch:
            future = self._counted(self._pool.submit(_files, batch), sum(file.size for file in batch))
            self._batched.update((file, (future, index)) for index, file in enumerate(batch))

    def _counted(self, future: Future[T], size: int) -> Future[T]:
        self._sizes[future] = size
        return future

    def readings(self, texts: Iterable[File | Reading | Unreadable]) -> Iterator[Reading | Unreadable]:
        """The readings of the texts, in their order. A file that a worker failed to read is read in this process."""
        for text in texts:
            if not isinstance(text, File):
                yield text
                continue
            try:
                reading = self._joined(text) if text in self._parted else self._of_batch(text)
            except (BrokenExecutor, OSError):
                reading = read_source(Stoppable(text, self._stop))
            if reading is not None:
                yield reading

    def _of_batch(self, file: File) -> Reading | None:
        future, index = self._batched.pop(file)
        found = self._result(future)
        return found[index] if found is not None and index < len(found) else None

    def _joined(self, file: File) -> Reading:
        parts, notes = Parts(file.name), []
        futures = self._parted.pop(file)
        futures.reverse()
        while futures:
            part = self._result(futures.pop())  # no other reference remains: a part may be as large as its job
            if part is not None:
                parts.add(part)
            if part is None or not part.whole:
                notes.append(INTERRUPTED if self._stop.happened else "not read to the end")
                break
        return parts.reading(notes, self._stop)

    def _result(self, future: Future[T]) -> T | None:
        """Wait for a result; None if the task was cancelled. A stop while waiting is passed on to the workers."""
        while not future.done():
            wait([future], _POLL, FIRST_COMPLETED)
            self._count_done()
            if self._stop.happened and not self._word.is_set():
                self._word.set()
                for waiting in self._sizes:
                    waiting.cancel()
        self._count_done()
        return None if future.cancelled() else future.result()

    def _count_done(self) -> None:
        for future in [future for future in self._sizes if future.done()]:
            self._tick(self._sizes.pop(future))


def _borders(file: File, processes: int) -> list[int]:
    """Offsets of line ends at which a file is cut, including its start and end; one part if it is short."""
    least, most = PART_SIZES
    each = max(PARTS_EACH, -(-file.size // (most * processes)))  # the same number for every processor
    size = max(-(-file.size // (each * processes)), least)
    borders = [0]
    if file.path is not None and file.size >= 2 * size:
        with contextlib.suppress(*BROKEN), io.FileIO(file.path) as opened:
            if can_be_parted(opened.read(BUFFER_SIZE)):
                for place in range(size, file.size - size // 2, size):
                    opened.seek(place)
                    end = opened.read(BUFFER_SIZE).find(b"\n")
                    borders += [place + end + 1] if end >= 0 and place + end + 1 > borders[-1] else []
    return [*borders, file.size] if borders[-1] < file.size else borders


class _Word(Stop):
    """The parent's signal to stop, as seen in a worker process."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self._event = event

    @property
    def happened(self) -> bool:
        return self._event.is_set()


class _Worker:
    """The state of a worker process."""

    stop = Stop()
    path = ""
    repeats: Repeats
    shapes: Shapes
    """Line shapes of this file seen so far: parts are submitted in order, so later parts profit from earlier ones."""


def _begin(event: Event) -> None:
    """Set up a worker: Ctrl-C is left to the parent, and the worker ends when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _Worker.stop = _Word(event)
    gc.freeze()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _files(files: list[File]) -> list[Reading]:
    """Read files in a worker process."""
    return [read_source(Stoppable(file, _Worker.stop)) for file in files if not _Worker.stop.happened]


def _part(name: str, path: str, index: int, start: int, end: int) -> Part:
    """Read a part of a file in a worker process."""
    whole = [True]
    cleaner = Cleaner()
    if path != _Worker.path:
        _Worker.path, _Worker.repeats, _Worker.shapes = path, Repeats(), Shapes()
    buffers = clean_part(_chunks(path, start, end, whole), cleaner, first=index == 0)
    part = read_part(name, index, buffers, cleaner, _Worker.repeats, _Worker.shapes)
    part.whole = whole[0]
    return part


def _chunks(path: str, start: int, end: int, whole: list[bool]) -> Iterator[bytes]:
    """The bytes between two offsets; ``whole[0]`` is set to False if they could not be read to the end."""
    try:
        with io.FileIO(path) as opened:
            opened.seek(start)
            while start < end:
                piece = opened.read(min(READ_SIZE, end - start))
                if not piece or _Worker.stop.happened:
                    whole[0] = False
                    return
                start += len(piece)
                yield piece
    except BROKEN:
        whole[0] = False
