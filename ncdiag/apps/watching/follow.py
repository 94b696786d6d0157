"""Follow files that grow, appear, are rotated and truncated: every byte is read once.

A file is identified by device and inode, so that a renamed file is not read again, and a new file at its path is
another file. A file that became shorter is read from its start.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ncdiag.base.errors import InputError
from ncdiag.text import FOLDER_LIMIT, LIMIT, Growing, Window, looks_binary, reason_of

PIECE = 1 << 20
"""Maximum number of bytes read at once."""
TURN = 8 << 20
"""Maximum number of bytes read of a file before the others have their turn."""
LATE = 8
"""Number of recently renamed or replaced files that are still read, because their writer continues for a while."""
OPEN = 256
"""Maximum number of files that are kept open, so that nothing of a renamed file is lost."""
MANY = 1000
"""Number of files from which none is kept unchanged: see `Growing`."""
OWN = ("/dev/fd/1", "/dev/fd/2")
"""Files to which ncdiag prints."""
_HEAD = 1 << 15
_REST = 20
"""Minimum pause between searches for new files, as a multiple of the duration of the last one."""
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")
"""Suffixes of files that log rotation has compressed: they were read before that."""

Identity = tuple[int, int]


class Tail:
    """A growing file, and its content."""

    def __init__(
        self, path: str, name: str, at: int = 0, keeps: int = LIMIT, window: Window | None = None
    ) -> None:  # fmt: skip
        """Open ``path`` and read from byte ``at`` on; ``window`` as of `Growing`. Raises OSError."""
        self._path, self._at, self._cuts, self.source = path, at, 0, Growing(name, keeps, window)
        self._handle: int | None = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        status = os.fstat(self._handle)
        self.identity: Identity = status.st_dev, status.st_ino

    def read(self) -> int:
        """Read new data, at most `TURN` bytes; returns the number of bytes."""
        taken = 0
        with contextlib.suppress(OSError):
            handle = self._opened()
            size = os.fstat(handle).st_size
            if size < self._at:
                self._begin_again(size)
            while taken < TURN and (piece := os.pread(handle, min(PIECE, TURN - taken), self._at)):
                self.source.feed(piece)
                self._at += len(piece)
                taken += len(piece)
        return taken

    def _begin_again(self, size: int) -> None:
        """Restart after the file was truncated; a file that is rewritten every second gets only one note."""
        self._cuts += 1
        times = f"{self._cuts} times, last " if self._cuts > 1 else ""
        self.source.notes[:] = [
            f"it was truncated {times}to {size} bytes after {self._at} had been read; reading continued from the start"
        ]
        self.source.feed(b"\n")
        self._at = 0

    def skip(self) -> None:
        """Skip the data added since the last read."""
        with contextlib.suppress(OSError):
            self._at = os.fstat(self._opened()).st_size

    def _opened(self) -> int:
        """The file, opened again. Raises OSError also if its path is now another file."""
        if self._handle is None:
            handle = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK)
            status = os.fstat(handle)
            if (status.st_dev, status.st_ino) != self.identity:
                os.close(handle)
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self._path)
            self._handle = handle
        return self._handle

    def is_binary(self) -> bool:
        """True if it begins like a program, a picture or a checkpoint."""
        return looks_binary(os.pread(self._opened(), _HEAD, 0))

    @property
    def is_open(self) -> bool:
        """True if the file is kept open."""
        return self._handle is not None

    def close(self) -> None:
        """Close the file; it is opened again for the next read."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


class Files:
    """The current files at some paths: files, folders with everything below them, globs."""

    def __init__(  # noqa: PLR0913  (all by name)
        self, paths: Sequence[str], name_of: Callable[[str], str] = str, *,
        but: Sequence[str] = (), since: float = 0, must_exist: bool = False, window: Window | None = None,
    ) -> None:  # fmt: skip
        """``name_of`` returns the name under which a path is shown; files older than ``since`` (epoch) are skipped.

        So are the files at the paths ``but``, and those in `OWN`. ``window``: read only lines in this window of time.

        Raises InputError if a path does not exist and ``must_exist``.
        """
        self._paths, self._name_of, self._since = paths, name_of, since
        self._but, self._window = (*OWN, *but), window
        self._tails: dict[str, Tail] = {}
        self._gone: list[Tail] = []
        self.refused: dict[str, str] = {}
        self._binary: set[Identity] = set()
        self._next = 0.0
        for path in paths if must_exist else ():
            if not glob.has_magic(path):
                _require(path)

    @property
    def sources(self) -> list[Growing]:
        """The content of all files, including deleted ones."""
        return [tail.source for tail in (*self._gone, *self._tails.values())]

    @property
    def identities(self) -> set[Identity]:
        """The device and inode of each file, including those that were rotated."""
        return {tail.identity for tail in (*self._gone, *self._tails.values())}

    def without_files(self) -> list[str]:
        """The given paths at which no file exists now: globs without a match, empty folders."""
        return [given for given in self._paths if next(self._at(given), None) is None]

    def read(self, *, all_of_it: bool = False) -> int:
        """Read new data in turns; returns the number of bytes. ``all_of_it``: until nothing is left."""
        looked = self._look(now=all_of_it)
        total = taken = self._turn(closed=looked)
        while all_of_it and taken:
            taken = self._turn(closed=True)
            total += taken
        return total

    def _turn(self, *, closed: bool) -> int:
        """Read each file once; those that are not kept open only if ``closed``, as opening thousands takes time."""
        for tail in self._gone[:-LATE]:
            tail.close()
        taken = sum(tail.read() for tail in self._gone[-LATE:])
        for number, tail in enumerate(self._tails.values()):
            if number < OPEN:
                taken += tail.read()
            elif closed:
                taken += tail.read()
                tail.close()
        return taken

    def _look(self, *, now: bool) -> bool:
        """Search for new files; a slow search is repeated less often. False if none was made."""
        begin = time.monotonic()
        if begin < self._next and not now:
            return False
        there = list(self._there())
        seen = {identity for _, identity in there}
        # the inode number is reused once nobody keeps the old file open
        known = {tail.identity for tail in self._tails.values()}
        known |= {tail.identity for tail in self._gone if tail.is_open or tail.identity in seen}
        known |= {identity for path in self._but for identity in _identities(path)}
        self._binary &= seen
        for path, identity in there:
            tail = self._tails.get(path)
            if tail is not None and tail.identity != identity:
                self._gone.append(self._tails.pop(path))
                tail = None
            if tail is None and identity not in known | self._binary:
                known.add(identity)
                self._begin(path)
        self._next = time.monotonic() + _REST * (time.monotonic() - begin)
        return True

    def _begin(self, path: str) -> None:
        keeps = 0 if len(self._tails) > MANY else LIMIT
        try:
            tail = Tail(path, self._name_of(path), keeps=keeps, window=self._window)
            is_binary = path not in self._paths and tail.is_binary()
        except OSError as error:
            self.refused[path] = reason_of(error)
            return
        if is_binary or len(self._tails) >= OPEN:  # if thousands appear at once, not all can be kept open
            tail.close()
        if is_binary:
            self._binary.add(tail.identity)
            return
        self.refused.pop(path, None)
        self._tails[path] = tail

    def _there(self) -> Iterator[tuple[str, Identity]]:
        """Paths of the regular files that exist, each with its device and inode."""
        for given in self._paths:
            yield from self._at(given)

    def _at(self, given: str) -> Iterator[tuple[str, Identity]]:
        """The files of `_there` at one of the given paths."""
        matches = sorted(glob.glob(given)) if _is_glob(given) else [given]  # noqa: PTH207  (patterns may be absolute)
        for path in matches:
            for place in self._below(path) if os.path.isdir(path) else (path,):  # noqa: PTH112  (it never raises)
                if place == given or not place.endswith(_COMPRESSED):
                    yield from ((place, identity) for identity in _identities(place, self._since))

    def _below(self, folder: str) -> Iterator[str]:
        """The files below a folder, sorted, without hidden ones, at most as many as are read of one folder."""
        count = 0
        for place, below, files in os.walk(folder, onerror=self._refuse):
            below[:] = sorted(name for name in below if not name.startswith("."))
            for name in sorted(files):
                if not name.startswith("."):
                    count += 1
                    if count > FOLDER_LIMIT:
                        self.refused[folder] = f"only the first {FOLDER_LIMIT} files of the folder are followed"
                        return
                    yield f"{place.rstrip('/')}/{name}"

    def _refuse(self, error: OSError) -> None:
        self.refused[str(error.filename)] = reason_of(error)


def _require(path: str) -> None:
    """Raise InputError if nothing exists, or nothing is readable, at a path."""
    try:
        os.lstat(path)
    except OSError as error:
        msg = f"cannot read {path}: {reason_of(error)}"
        raise InputError(msg) from None


def _identities(path: str, since: float = 0) -> Iterator[Identity]:
    """The device and inode of a regular file, if it was written after ``since`` (epoch)."""
    with contextlib.suppress(OSError):
        status = Path(path).stat()
        if stat.S_ISREG(status.st_mode) and status.st_mtime >= since:
            yield status.st_dev, status.st_ino


def _is_glob(path: str) -> bool:
    return glob.has_magic(path) and not os.path.lexists(path)
