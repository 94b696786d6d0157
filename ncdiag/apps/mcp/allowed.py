"""The files that an assistant may name: below an allowed folder after resolving links, and not hidden.

A file may be replaced before it is read: `opened` follows no link, and reading uses the descriptor that it returns.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from ncdiag.base.errors import InputError, UsageError

FILES = 2000
"""Maximum number of files that are read."""
_WITHOUT_LINKS = getattr(os, "O_NOFOLLOW", 0)
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | _WITHOUT_LINKS
"""Flags to open a folder on the path: it must be accessible, not readable."""
_READ = os.O_RDONLY | _WITHOUT_LINKS | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def folders(names: Sequence[Path]) -> tuple[Path, ...]:
    """The folders with links resolved. Raises UsageError if one is not a folder."""
    for name in names:
        if not name.is_dir():
            msg = f"--allow {name}: this is not a folder"
            raise UsageError(msg)
    return tuple(Path(os.path.realpath(name)) for name in names)


def files(paths: Sequence[str], below: Sequence[Path]) -> list[str]:
    """The files at the paths, including those of folders; links that lead out of the folders are not followed.

    A relative path is relative to an allowed folder. Raises InputError with the same text for paths outside and paths
    that do not exist, and if there are too many files.
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
    """The name of a file in an answer: relative to the allowed folder, or to the common parent of all of them."""
    return os.path.relpath(file, os.path.commonpath(below))


def opened(file: str) -> int:
    """A descriptor of a regular file found by `files`. Raises OSError, also if the path now contains a link."""
    path = Path(file)
    if os.open not in os.supports_dir_fd:  # Windows, where only an administrator can create links
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
    except (OSError, ValueError):  # a name with a NUL, a cycle of links
        return None


def _is_within(real: Path, below: Sequence[Path]) -> bool:
    """True if it is in one of the folders, not hidden and not in a hidden folder."""
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
