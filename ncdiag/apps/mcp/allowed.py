"""Which files an assistant may name: those below a folder that was allowed, wherever links lead, and none hidden.

What is found may be replaced before it is read: `opened` follows no link, and what it opened is what is read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from ncdiag.base.errors import InputError, UsageError

FILES = 2000
"""Files that are read at most."""
_WITHOUT_LINKS = getattr(os, "O_NOFOLLOW", 0)
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _WITHOUT_LINKS
"""How a folder on the way is opened: it has to be entered, and not to be listed."""
_READ = os.O_RDONLY | _WITHOUT_LINKS | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def folders(names: Sequence[Path]) -> tuple[Path, ...]:
    """The folders, without links. Raises UsageError for what is not a folder."""
    for name in names:
        if not name.is_dir():
            msg = f"--allow {name}: this is not a folder"
            raise UsageError(msg)
    return tuple(Path(os.path.realpath(name)) for name in names)


def files(paths: Sequence[str], below: Sequence[Path]) -> list[str]:
    """The files that the paths name, those of folders with them; what a link leads out of the folders to is not read.

    A relative path is one below an allowed folder. Raises InputError, in the same words for what is outside and for
    what does not exist, and where there are too many.
    """
    found: dict[str, None] = {}
    for path in paths:
        for file in _named(path, below):
            found[file] = None
            if len(found) > FILES:
                msg = f"more than {FILES} files; give fewer, or an archive of them"
                raise InputError(msg)
    return list(found)


def shown(file: str, below: Sequence[Path]) -> str:
    """The name of a file in an answer: from the allowed folder, or from the one that all allowed folders are in."""
    return os.path.relpath(file, os.path.commonpath(below))


def opened(file: str) -> int:
    """A descriptor of a regular file that `files` found. Raises OSError, also for a link that is on the way by now."""
    path = Path(file)
    if os.open not in os.supports_dir_fd:  # Windows, where only an administrator makes links
        return _regular_one(os.open(path, _READ))
    at = os.open(path.anchor, _STEP)
    try:
        for part in path.parts[1:-1]:
            inner = os.open(part, _STEP, dir_fd=at)
            os.close(at)
            at = inner
        return _regular_one(os.open(path.name, _READ, dir_fd=at))
    finally:
        os.close(at)


def _regular_one(descriptor: int) -> int:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        msg = "not a regular file"
        raise OSError(msg)
    return descriptor


def _named(path: str, below: Sequence[Path]) -> Iterator[str]:
    for real in (_real(folder, path) for folder in below):
        if real is not None and _is_within(real, below) and os.path.lexists(real):
            yield from _regular(real, below)
            return
    msg = f"{path!r} is not a file or folder below {' or '.join(map(str, below))}"
    raise InputError(msg)


def _real(folder: Path, path: str) -> Path | None:
    try:
        return Path(os.path.realpath(folder / path))
    except (OSError, ValueError):  # a name with a NUL, a circle of links
        return None


def _is_within(real: Path, below: Sequence[Path]) -> bool:
    """True if it is in one of the folders and neither hidden there nor in a hidden folder."""
    found = [real.relative_to(folder) for folder in below if real == folder or folder in real.parents]
    return any(not any(part.startswith(".") for part in inner.parts) for inner in found)


def _regular(path: Path, below: Sequence[Path]) -> Iterator[str]:
    """The regular files at or below a path that are not hidden, sorted."""
    if not path.is_dir():
        if not _is_regular(path):
            msg = f"{str(path)!r} is not a regular file"
            raise InputError(msg)
        yield str(path)
        return
    for where, inner, names in os.walk(path):
        inner[:] = sorted(name for name in inner if not name.startswith("."))
        for name in sorted(names):
            real = Path(os.path.realpath(Path(where, name)))
            if not name.startswith(".") and _is_within(real, below) and _is_regular(real):
                yield str(real)


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False
