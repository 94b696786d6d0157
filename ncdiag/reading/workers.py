"""Worker processes that read files: long ones in parts, others in batches.

A worker sends back what it read, not the text. Nothing here is shared between processes but the word to stop.
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
from typing import Any

from ncdiag.parsers.nccl_log import Repeats
from ncdiag.reading.model import Reading
from ncdiag.reading.one import read_source
from ncdiag.reading.parts import Part, Parts, read_part
from ncdiag.sources.archives import BROKEN
from ncdiag.sources.files import TextSource
from ncdiag.sources.text import BUFFER_SIZE, Cleaner, can_be_parted, clean_part

PART_SIZES = 8 << 20, 64 << 20
"""Bytes of a part of a long file, at least and at most."""
READ_SIZE = 1 << 17
"""Bytes of a part that are read and scanned at once: with what becomes of them they fit a processor's cache."""
PARTS_EACH = 4
"""Parts that each processor gets of a long file, so that all end at about the same time."""
BATCH_SIZE, BATCH_FILES = 8 << 20, 200
"""Bytes and files that are given to a worker at once."""
_POLL = 0.1


class Workers:
    """The worker processes and what they were given."""

    def __init__(self, files: list[Any], processes: int, tick: Callable[[int], None]) -> None:
        """Start ``processes`` and give out the files; ``tick`` gets the bytes that were read. Raises OSError."""
        context: Any = multiprocessing.get_context("fork" if threading.active_count() == 1 else "spawn")
        self._stop = context.Event()
        self._pool = ProcessPoolExecutor(processes, context, _begin, (self._stop,))
        self._tick, self._processes = tick, processes
        self._first = files[0]
        self._sizes: dict[Future[Any], int] = {}
        self._given: dict[int, tuple[list[Future[Any]], int]] = {}
        self._give(files)

    def __enter__(self) -> Workers:  # noqa: PYI034  (Self is in typing since 3.11)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._pool.shutdown(wait=error is None, cancel_futures=True)

    def _give(self, files: Iterable[Any]) -> None:
        """Give out all files: long ones in parts, others in batches."""
        batch: list[Any] = []
        for file in files:
            borders = _borders(file, self._processes)
            if len(borders) > 2:  # noqa: PLR2004  (more than one part)
                parts = itertools.pairwise(borders)
                futures = [
                    self._submit(end - start, _part, file.name, file.path, index, start, end)
                    for index, (start, end) in enumerate(parts)
                ]
                self._given[id(file)] = futures, -1
                continue
            batch.append(file)
            if len(batch) >= BATCH_FILES or sum(file.size for file in batch) >= BATCH_SIZE:
                self._give_batch(batch)
                batch = []
        self._give_batch(batch)

    def _give_batch(self, batch: list[Any]) -> None:
        if batch:
            sources = [getattr(file, "inner", file) for file in batch]
            future = self._submit(sum(file.size for file in batch), _files, sources)
            self._given.update((id(file), ([future], index)) for index, file in enumerate(batch))

    def _submit(self, size: int, function: Callable[..., Any], *arguments: Any) -> Future[Any]:  # noqa: ANN401
        future = self._pool.submit(function, *arguments)
        self._sizes[future] = size
        return future

    def readings(self, items: Iterable[Any]) -> Iterator[Any]:
        """What became of the items, in their order. What a worker failed to read is read here."""
        for item in items:
            if id(item) not in self._given:
                yield item
                continue
            futures, index = self._given.pop(id(item))
            try:
                reading = self._joined(item, futures) if index < 0 else self._of_batch(futures[0], index)
            except (BrokenExecutor, OSError):
                reading = read_source(item)
            if reading is not None:
                yield reading

    def _of_batch(self, future: Future[Any], index: int) -> Reading | None:
        found = self._result(future)
        return found[index] if found is not None and index < len(found) else None

    def _joined(self, file: Any, futures: list[Future[Any]]) -> Reading:  # noqa: ANN401  (any source)
        parts, notes = Parts(file.name), []
        futures.reverse()
        while futures:
            part: Part | None = self._result(futures.pop())  # nobody else holds on to it: a part is as large as its job
            if part is not None:
                parts.add(part)
            if part is None or not part.whole:
                interrupted = self._interrupted()
                notes.append("interrupted: the rest was not read" if interrupted else "not read to its end")
                break
        return parts.reading(notes)

    def _result(self, future: Future[Any]) -> Any:  # noqa: ANN401  (what the function returned)
        """Wait for a result; None when it was given up. Ctrl-C is seen while waiting, and stops the workers."""
        while not future.done():
            wait([future], _POLL, FIRST_COMPLETED)
            self._count_done()
            if self._interrupted() and not self._stop.is_set():
                self._stop.set()
                for waiting in self._sizes:
                    waiting.cancel()
        self._count_done()
        return None if future.cancelled() else future.result()

    def _interrupted(self) -> bool:
        return bool(getattr(self._first, "interrupted", False))

    def _count_done(self) -> None:
        for future in [future for future in self._sizes if future.done()]:
            self._tick(self._sizes.pop(future))


def _borders(file: Any, processes: int) -> list[int]:  # noqa: ANN401  (any source)
    """Offsets of line ends at which a file is cut, its beginning and its end among them; one part when it is short."""
    least, most = PART_SIZES
    each = max(PARTS_EACH, -(-file.size // (most * processes)))  # as many for every processor
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


class _Worker:
    """What a worker process knows."""

    stop: Any = None
    path = ""
    repeats = Repeats()
    """The lines of this file that come again: parts are given out in their order, so each builds on earlier ones."""


def _begin(stop: Any) -> None:  # noqa: ANN401  (an Event of some context)
    """Set up a worker: Ctrl-C is the parent's, and without a parent there is nothing to do."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _Worker.stop = stop
    gc.freeze()
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _stopped() -> bool:
    return _Worker.stop is not None and bool(_Worker.stop.is_set())


class _Stoppable:
    """A source whose buffers end when the workers are stopped."""

    def __init__(self, source: TextSource) -> None:
        self.name, self._source = source.name, source
        self.notes: list[str] = []

    def buffers(self) -> Iterator[bytes]:
        for buffer in self._source.buffers():
            if _stopped():
                self.notes.append("interrupted: the rest was not read")
                break
            yield buffer
        self.notes += self._source.notes


def _files(sources: list[TextSource]) -> list[Reading]:
    """Read files, in a worker process."""
    return [read_source(_Stoppable(source)) for source in sources if not _stopped()]


def _part(name: str, path: str, index: int, start: int, end: int) -> Part:
    """Read a part of a file, in a worker process."""
    whole = [True]
    cleaner = Cleaner()
    if path != _Worker.path:
        _Worker.path, _Worker.repeats = path, Repeats()
    buffers = clean_part(_chunks(path, start, end, whole), cleaner, first=index == 0)
    part = read_part(name, index, buffers, cleaner, _Worker.repeats)
    part.whole = whole[0]
    return part


def _chunks(path: str, start: int, end: int, whole: list[bool]) -> Iterator[bytes]:
    """The bytes between two offsets; ``whole[0]`` becomes False when they were not read to the end."""
    try:
        with io.FileIO(path) as opened:
            opened.seek(start)
            while start < end:
                piece = opened.read(min(READ_SIZE, end - start))
                if not piece or _stopped():
                    whole[0] = False
                    return
                start += len(piece)
                yield piece
    except BROKEN:
        whole[0] = False
