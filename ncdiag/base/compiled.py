"""Definitions compiled once: what takes long to read from TOML is kept as one msgpack file.

A wheel carries the files under ``ncdiag/_compiled``, in place of the TOML that they come from. A checkout and private
packs keep theirs in the user's cache folder, under a key made of the names, times and sizes of the files they come
from, code included, and of the version. A cache that cannot be read or written is as good as none.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from ncdiag.base.errors import NcdiagError
from ncdiag.base.version import __version__

T = TypeVar("T")

PACKAGE = Path(__file__).parents[1]
SHIPPED = PACKAGE / "_compiled"
"""Where a wheel has its compiled files (`ncdiag.catalogue.build` writes them)."""

_FOLDER = f"{PACKAGE}{os.sep}"
_KEPT = 8
"""Files of one name that stay in the cache: checkouts and packs in use at the same time."""
_HELD: dict[str, object] = {}
"""What `hold` gives out for each name."""


def load(name: str, sources: Iterable[str | Path], build: Callable[[], T], kind: Any) -> T:  # noqa: ANN401
    """A shipped definition: what a wheel carries under this name, in a checkout what `cached` returns.

    Raises NcdiagError where an installed ncdiag lacks the file; in a checkout what ``build`` raises.
    """
    if is_checkout():
        return cached(name, sources, build, kind)
    path = SHIPPED / f"{name}.msgpack"
    shipped: T | None = read(path, __version__, kind)
    if shipped is None:
        msg = f"{path} is missing or damaged; install ncdiag again"
        raise NcdiagError(msg)
    return shipped


def hold(name: str, sources: Iterable[str | Path], build: Callable[[], T], kind: Any) -> T:  # noqa: ANN401
    """`load`, once in a process: for shipped definitions, of which even the look at hundreds of sources takes long.

    A source that changes counts in the next process, as the code beside it does.
    """
    if name not in _HELD:
        _HELD[name] = load(name, sources, build, kind)
    return cast("T", _HELD[name])


def cached(name: str, sources: Iterable[str | Path], build: Callable[[], T], kind: Any) -> T:  # noqa: ANN401
    """``build()``, or what an earlier call for the same ``sources`` built and left in the user's cache folder.

    ``kind`` is the type that msgspec decodes; ``sources`` are all files on which the result depends. Raises what
    ``build`` raises, and nothing else.
    """
    path = _cache_file(name, sources)
    found: T | None = None if path is None else read(path, path.stem, kind)
    if found is None:
        found = build()
        if path is not None:
            with contextlib.suppress(OSError):
                write(path, path.stem, found)
                _prune(path.parent, name)
    return found


def files(folder: str | Path, suffix: str, depth: int = 8) -> Iterator[str]:
    """Paths of the files below ``folder`` whose names end so, in a fixed order; none when it cannot be read.

    ``depth``: levels of folders that are entered, as links may make a folder its own subfolder.
    """
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith(suffix):
            yield entry.path
        elif depth and entry.name != "__pycache__" and entry.is_dir():
            yield from files(entry.path, suffix, depth - 1)


def is_checkout() -> bool:
    """True in a source tree, where definitions change under the program; its files are newer than any shipped ones."""
    return (PACKAGE.parent / "pyproject.toml").exists()


def read(path: Path, stamp: str, kind: Any) -> Any:  # noqa: ANN401
    """What ``write`` wrote with the same stamp; None when there is no such file, it is damaged or somebody else's."""
    try:
        with path.open("rb") as file:
            if path.parent != SHIPPED and os.fstat(file.fileno()).st_uid != _user():
                return None
            head = msgspec.msgpack.encode(stamp)
            return msgspec.msgpack.decode(file.read(), type=kind) if file.read(len(head)) == head else None
    except (OSError, ValueError, RecursionError):
        return None


def _user() -> int:
    """The user, as files name their owner; Windows has no such numbers and says 0."""
    return os.getuid() if hasattr(os, "getuid") else 0


def write(path: Path, stamp: str, content: Any) -> None:  # noqa: ANN401
    """Put a file in place at once, readable by its owner alone; OSError when that cannot be done."""
    import tempfile  # not needed when the cache is only read

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    data = msgspec.msgpack.encode(stamp) + msgspec.msgpack.encode(content)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.stem}-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(temporary).unlink()
        raise


def _cache_file(name: str, sources: Iterable[str | Path]) -> Path | None:
    """The cache file for these sources; None when one of them cannot be looked at or there is no home."""
    seen = [f"{__version__} {sys.version_info[:2]}"]
    try:
        seen += [_own(path) if path.startswith(_FOLDER) else _state(path) for path in map(str, sources)]
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    except (OSError, RuntimeError, ValueError):
        return None
    # 64 bits that Python computes itself: importing hashlib would cost more than reading the cache
    digest = importlib.util.source_hash("\n".join(seen).encode(errors="surrogateescape")).hex()
    return Path(base) / "ncdiag" / f"{name}-{digest}.msgpack"


def _state(path: str) -> str:
    """The file as it is now; OSError when it cannot be looked at."""
    state = os.stat(path)  # noqa: PTH116  (hundreds of files: a Path for each costs more than the look)
    return f"{path}\0{state.st_mtime_ns}\0{state.st_size}"


_own = functools.cache(_state)
"""The same of a file of ncdiag, on which several caches depend: it is looked at once."""


def _prune(folder: Path, name: str) -> None:
    """Drop the oldest files of one name."""
    files = sorted(folder.glob(f"{name}-*.msgpack"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files[_KEPT:]:
        path.unlink(missing_ok=True)
