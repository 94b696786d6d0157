"""Write a file atomically.

A new file has no name until it is complete, if the file system supports that (O_TMPFILE, open(2)): nothing is left
behind if the program is killed. Otherwise, and to replace an existing file, a hidden file in the same folder is used.
"""

import contextlib
import errno
import os
import stat
import tempfile
from typing import Iterable, Optional

_LINKS = 40
"""Maximum number of links that lead to a file, as in Linux."""


def place(pieces: Iterable[bytes], path: str, mode: int = 0o600) -> None:
    """Create or replace the file ``path`` atomically; devices and pipes are written in place.

    Raises OSError, also for a link that another user owns, who would choose the file.
    """
    path = _resolved(path)
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(os.lstat(path).st_mode):
            with open(path, "wb") as device:
                device.writelines(pieces)
            return
    handle = _nameless(os.path.dirname(path))
    if handle is None:
        _named(pieces, path, mode)
        return
    with os.fdopen(handle, "w+b") as target:
        _fill(target.fileno(), pieces, mode)
        if not _linked(target.fileno(), path):
            target.seek(0)
            _named(iter(lambda: target.read(1 << 20), b""), path, mode)


def _resolved(path: str) -> str:
    """The path of the file to which links of this user and of root lead; it may not exist. Raises OSError."""
    for _ in range(_LINKS):
        folder, name = os.path.split(path.rstrip(os.sep) or path)
        path = os.path.join(os.path.realpath(folder), name)
        try:
            found = os.lstat(path)
        except FileNotFoundError:
            return path
        if not stat.S_ISLNK(found.st_mode):
            return path
        if hasattr(os, "geteuid") and found.st_uid not in (0, os.geteuid()):
            raise PermissionError(errno.EPERM, "it is a link that another user owns")
        path = os.path.join(os.path.dirname(path), os.readlink(path))
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _nameless(folder: str) -> Optional[int]:
    try:
        return os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except (OSError, AttributeError):  # not supported here; a missing folder is reported later
        return None


def _linked(handle: int, path: str) -> bool:
    """Link an open file to ``path``; to replace a file, it has a hidden name for a moment."""
    folder, name = os.path.split(path)
    source = f"/proc/self/fd/{handle}"
    hidden = os.path.join(folder, f".{name}.{os.getpid()}.{os.urandom(4).hex()}")
    at = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)  # with it the link in /proc is followed (linkat(2))
    try:
        try:
            os.link(source, path, src_dir_fd=at)
        except FileExistsError:
            os.link(source, hidden, src_dir_fd=at)
            os.replace(hidden, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(hidden)
        return False
    finally:
        os.close(at)
    return True


def _named(pieces: Iterable[bytes], path: str, mode: int) -> None:
    handle, hidden = tempfile.mkstemp(prefix=f".{os.path.basename(path)}.", dir=os.path.dirname(path))
    try:
        with os.fdopen(handle, "wb") as target:
            _fill(target.fileno(), pieces, mode)
        os.replace(hidden, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(hidden)
        raise


def _fill(handle: int, pieces: Iterable[bytes], mode: int) -> None:
    for piece in pieces:
        left = memoryview(piece)
        while left:
            left = left[os.write(handle, left) :]
    if hasattr(os, "fchmod"):
        os.fchmod(handle, mode)
    os.fsync(handle)
