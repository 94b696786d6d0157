"""Store the files that readers will need, without knowing the readers: patterns in, contents out.

A pattern is a path without its leading slash. ``*`` matches within one part of it, ``@name`` is a value that only the
machine knows (`variables`). If it ends in a slash, the folder is listed; else the file is read, the link is followed,
and for a folder its existence is recorded.
"""

import errno
import fnmatch
import os
import re
import stat
from typing import Callable, Dict, Iterable, List, Mapping, Optional, Tuple

from ncdiag.agent.hide import file_without_secrets

READ_LIMIT = 1 << 20
"""Maximum number of bytes read of one file."""

SIZE_LIMIT = 128 << 20
"""Maximum number of bytes kept for one set of patterns."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  # Linux has one, Windows the other
_NUMBERS = re.compile(r"(\d{1,18})")
_DEPTH = 32  # maximum depth of a control group
_ABSENT = (errno.ENOENT, errno.ENOTDIR)


def natural(text: str) -> List[Tuple[int, str]]:
    """Sort key that puts ``mlx5_2`` before ``mlx5_10``."""
    parts = _NUMBERS.split(text)
    return [(int(part), "") if index % 2 else (0, part) for index, part in enumerate(parts)]


def content(place: str, limit: int = READ_LIMIT) -> bytes:
    """The start of a file; a pipe does not block. Raises OSError."""
    handle = os.open(place, _FLAGS)
    try:
        parts = []
        while limit > 0:
            part = os.read(handle, limit)
            if not part:
                break
            parts.append(part)
            limit -= len(part)
    finally:
        os.close(handle)
    return b"".join(parts)


def variables(pid: Optional[int] = None, root: str = "/") -> Dict[str, List[str]]:
    """The values of ``@process`` (this process, the inspected one) and ``@group`` (control groups, up to the root)."""
    processes = ["self"] if pid is None else ["self", str(pid)]
    groups: Dict[str, None] = {"": None}
    for process in processes:
        try:
            lines = content(os.path.join(root, "proc", process, "cgroup")).decode("utf-8", "replace").splitlines()
        except OSError:
            continue
        for path in [line.split(":", 2)[-1].strip("/") for line in lines]:
            parts = path.split("/")[:_DEPTH] if ".." not in path.split("/") else []
            groups.update({"/".join(parts[:length]): None for length in range(1, len(parts) + 1)})
    return {"process": processes, "group": list(groups)}


def matches(
    pattern: str, names: Callable[[str], Optional[Iterable[str]]], known: Mapping[str, Iterable[str]]
) -> List[str]:
    """Paths that a pattern matches: ``*`` within one part of a path, ``@word`` each of its known values.

    ``names`` lists a folder.
    """
    found = [""]
    for part in pattern.strip("/").split("/"):
        if part.startswith("@"):
            found = [f"{base}{value}/" if value else base for base in found for value in known[part[1:]]]
        elif "*" in part:
            found = [
                f"{base}{name}/" for base in found
                for name in names(base.rstrip("/")) or () if fnmatch.fnmatchcase(name, part)
            ]  # fmt: skip
        else:
            found = [f"{base}{part}/" for base in found]
    return [path.rstrip("/") for path in found]


class Record:
    """The recorded data under ``root``: contents, listings and links by path, and reasons of failures."""

    def __init__(self, known: Dict[str, List[str]], root: str = "/") -> None:
        self.known, self.root = known, root
        self.files: Dict[str, bytes] = {}
        self.folders: Dict[str, List[str]] = {}
        self.links: Dict[str, str] = {}
        self.present: List[str] = []
        self.refused: Dict[str, str] = {}
        self._left = SIZE_LIMIT

    def take(self, patterns: Iterable[str]) -> None:
        """Record everything that the patterns match."""
        for pattern in patterns:
            for path in matches(pattern.rstrip("/"), self.names, self.known):
                if pattern.endswith("/"):
                    self.names(path)
                else:
                    self._look(path)

    def names(self, path: str) -> Optional[List[str]]:
        """Entries of a folder; None if it does not exist or cannot be read."""
        if path not in self.folders:
            try:
                self.folders[path] = sorted(os.listdir(self._place(path)), key=natural)
            except OSError as error:
                self._refuse(path, error)
        return self.folders.get(path)

    def _look(self, path: str) -> None:
        try:
            mode = os.lstat(self._place(path)).st_mode
            self.present.append(path)
            if stat.S_ISLNK(mode):
                self.links[path] = os.readlink(self._place(path))
                mode = os.stat(self._place(path)).st_mode
            if stat.S_ISREG(mode) and self._left > 0:
                self.files[path] = file_without_secrets(path, content(self._place(path)))
                self._left -= len(self.files[path])
        except OSError as error:
            self._refuse(path, error)

    def _refuse(self, path: str, error: OSError) -> None:
        if error.errno not in _ABSENT:
            self.refused[path] = error.strerror or str(error)

    def _place(self, path: str) -> str:
        return os.path.join(self.root, path)
