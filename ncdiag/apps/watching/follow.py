"""Files that grow, appear, are rotated and cut: every byte is read once.

A file is known by its device and inode, so that one that was renamed is not read again, and a new one in its place is
another file. One that became shorter is read from its beginning.
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
from ncdiag.text import FOLDER_LIMIT, LIMIT, Growing, looks_binary, reason_of

PIECE = 1 << 20
"""Bytes that are read at once."""
TURN = 8 << 20
"""Bytes that are read of a file before others have their turn."""
LATE = 8
"""Files that were renamed or replaced last and are still read: who writes them goes on for a while."""
OPEN = 256
"""Files that are kept open, so that nothing is lost of one that is renamed."""
MANY = 1000
"""Files from which on none is kept as it is: see `Growing`."""
OWN = ("/dev/fd/1", "/dev/fd/2")
"""Where ncdiag prints."""
_HEAD = 1 << 15
_REST = 20
"""Times as long as a look for new files took is to pass until the next one."""
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")
"""Endings of what log rotation leaves: it was read when it was a text."""

Identity = tuple[int, int]


class Tail:
    """A file that grows, and what it says."""

    def __init__(self, path: str, name: str, at: int = 0, keeps: int = LIMIT) -> None:
        """``path`` is opened now and read from byte ``at`` on. Raises OSError."""
        self._path, self._at, self._cuts, self.source = path, at, 0, Growing(name, keeps)
        self._handle: int | None = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        status = os.fstat(self._handle)
        self.identity: Identity = status.st_dev, status.st_ino

    def read(self) -> int:
        """Take what was added, `TURN` bytes at most; returns how many were taken."""
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
        """The file was cut; one that is written anew each second is cut day and night, and has one note of it."""
        self._cuts += 1
        times = f"{self._cuts} times, last " if self._cuts > 1 else ""
        self.source.notes[:] = [
            f"it was truncated {times}to {size} bytes after {self._at} had been read; reading continued from the start"
        ]
        self.source.feed(b"\n")
        self._at = 0

    def skip(self) -> None:
        """Pass over what was added since."""
        with contextlib.suppress(OSError):
            self._at = os.fstat(self._opened()).st_size

    def _opened(self) -> int:
        """The file, open again. Raises OSError also where another file has its path."""
        if self._handle is None:
            handle = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK)
            status = os.fstat(handle)
            if (status.st_dev, status.st_ino) != self.identity:
                os.close(handle)
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self._path)
            self._handle = handle
        return self._handle

    def is_binary(self) -> bool:
        """Does it begin as a program, a picture or a checkpoint does?"""
        return looks_binary(os.pread(self._opened(), _HEAD, 0))

    @property
    def is_open(self) -> bool:
        """Is the file held open?"""
        return self._handle is not None

    def close(self) -> None:
        """Close the file; it is opened again when it is read again."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


class Files:
    """The files behind some paths, as they are now: files, folders with what is below them, globs."""

    def __init__(
        self, paths: Sequence[str], name_of: Callable[[str], str] = str, *,
        but: Sequence[str] = (), since: float = 0, must_exist: bool = False,
    ) -> None:  # fmt: skip
        """``name_of`` gives the name under which a path is shown; files older than ``since`` (epoch) are passed over.

        So are the files at the paths ``but``, and those at `OWN`.

        Raises InputError if a path ``must_exist`` and does not.
        """
        self._paths, self._name_of, self._since = paths, name_of, since
        self._but = (*OWN, *but)
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
        """What all files gave, also those that are gone."""
        return [tail.source for tail in (*self._gone, *self._tails.values())]

    def read(self, *, all_of_it: bool = False) -> int:
        """Take what was added since, in turns; returns how many bytes. ``all_of_it``: until nothing is left."""
        looked = self._look(now=all_of_it)
        total = taken = self._turn(closed=looked)
        while all_of_it and taken:
            taken = self._turn(closed=True)
            total += taken
        return total

    def _turn(self, *, closed: bool) -> int:
        """Read once; those that are not held open only if ``closed``, as to open thousands takes its time."""
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
        """Find files that are new. A look that takes long is not made often; False if none was made."""
        begin = time.monotonic()
        if begin < self._next and not now:
            return False
        there = list(self._there())
        seen = {identity for _, identity in there}
        # an inode is given to another file once nobody holds the one that had it
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
            tail = Tail(path, self._name_of(path), keeps=keeps)
            is_binary = path not in self._paths and tail.is_binary()
        except OSError as error:
            self.refused[path] = reason_of(error)
            return
        if is_binary or len(self._tails) >= OPEN:  # of thousands that appear at once not all can be open
            tail.close()
        if is_binary:
            self._binary.add(tail.identity)
            return
        self.refused.pop(path, None)
        self._tails[path] = tail

    def _there(self) -> Iterator[tuple[str, Identity]]:
        """Paths of the regular files that are there, each with its device and inode."""
        for given in self._paths:
            matches = sorted(glob.glob(given)) if _is_glob(given) else [given]  # noqa: PTH207  (patterns may be absolute)
            for path in matches:
                for place in self._below(path) if os.path.isdir(path) else (path,):  # noqa: PTH112  (it never raises)
                    if place == given or not place.endswith(_COMPRESSED):
                        yield from ((place, identity) for identity in _identities(place, self._since))

    def _below(self, folder: str) -> Iterator[str]:
        """The files below a folder, sorted, none hidden, at most as many as are read of one."""
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
    """Raise InputError if there is nothing, or nothing that can be seen, at a path."""
    try:
        os.lstat(path)
    except OSError as error:
        msg = f"cannot read {path}: {reason_of(error)}"
        raise InputError(msg) from None


def _identities(path: str, since: float = 0) -> Iterator[Identity]:
    """That of a regular file, if there is one that was written since (epoch)."""
    with contextlib.suppress(OSError):
        status = Path(path).stat()
        if stat.S_ISREG(status.st_mode) and status.st_mtime >= since:
            yield status.st_dev, status.st_ino


def _is_glob(path: str) -> bool:
    return glob.has_magic(path) and not os.path.lexists(path)
