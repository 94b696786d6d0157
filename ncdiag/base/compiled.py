"""Cache of compiled definitions: what is slow to read from TOML is kept as one msgpack file.

A wheel ships these files in ``ncdiag/_compiled`` instead of the TOML files they are compiled from. For a checkout and
for private packs they are in the user's cache folder. Their key is a hash of the version and of the names, times and
sizes of the source files, including code. When the cache cannot be read or written, the definitions are built anew.
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
"""The folder of a wheel's compiled files (`ncdiag.catalogue.build` writes them)."""

PACKED = frozenset({"examples", "explained", "library-codes", "rules-zh", "phrases-zh"})
"""Definitions that a wheel ships compressed by xz: large, and read by `explain` alone or for one language."""
_FOLDER = f"{PACKAGE}{os.sep}"
_KEPT = 8
"""Maximum number of cache files with one name: several checkouts and packs may be in use at the same time."""
_HELD: dict[str, object] = {}
"""The results of `hold`, by name."""


def load(name: str, sources: Iterable[str | Path], build: Callable[[], T], kind: Any) -> T:  # noqa: ANN401
    """A shipped definition: read from the wheel under this name, or in a checkout the result of `cached`.

    Raises NcdiagError if an installed ncdiag lacks the file; in a checkout whatever ``build`` raises.
    """
    if is_checkout():
        return cached(name, sources, build, kind)
    path = SHIPPED / f"{name}.msgpack"
    shipped: T | None = unpacked(path, kind) if name in PACKED else read(path, __version__, kind)
    if shipped is None:
        msg = f"{path} is missing or damaged; install ncdiag again"
        raise NcdiagError(msg)
    return shipped


def hold(
    name: str,
    sources: Iterable[str | Path],
    build: Callable[[], T],
    kind: Any,  # noqa: ANN401
    then: Callable[[T], T] | None = None,
) -> T:
    """`load`, called once per process: even checking whether hundreds of sources have changed is slow.

    A change of a source takes effect in the next process, as a change of the code does. ``then``: what is done to the
    definition once it is loaded.
    """
    if name not in _HELD:
        loaded = load(name, sources, build, kind)
        _HELD[name] = loaded if then is None else then(loaded)
    return cast("T", _HELD[name])


def cached(name: str, sources: Iterable[str | Path], build: Callable[[], T], kind: Any) -> T:  # noqa: ANN401
    """The result of ``build()``, from the user's cache folder if an earlier call stored it for the same ``sources``.

    ``kind`` is the type that msgspec decodes; ``sources`` are all files on which the result depends. Raises only what
    ``build`` raises.
    """
    path = cache_file(name, sources)
    found: T | None = None if path is None else read(path, path.stem, kind)
    if found is None:
        found = build()
        if path is not None:
            with contextlib.suppress(OSError):
                write(path, path.stem, found)
                _prune(path.parent, name)
    return found


def files(folder: str | Path, suffix: str, depth: int = 8) -> Iterator[str]:
    """Paths of the files below ``folder`` whose names end in ``suffix``, in a fixed order; none if it cannot be read.

    ``depth``: the number of folder levels to enter, because links may make a folder its own subfolder.
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
    """True in a source tree, where definitions may change at any time and are newer than any shipped file."""
    return (PACKAGE.parent / "pyproject.toml").exists()


def read(path: Path, stamp: str, kind: Any) -> Any:  # noqa: ANN401
    """What ``write`` stored with the same stamp; None if the file is missing, damaged or owned by another user."""
    try:
        with path.open("rb") as file:
            if path.parent != SHIPPED and os.fstat(file.fileno()).st_uid != _user():
                return None
            head = msgspec.msgpack.encode(stamp)
            return msgspec.msgpack.decode(file.read(), type=kind) if file.read(len(head)) == head else None
    except (OSError, ValueError, RecursionError):
        return None


def unpacked(path: Path, kind: Any) -> Any:  # noqa: ANN401
    """What `packed` made of a file of `write`, with the version as its stamp; None if it is missing or damaged.

    Raises NcdiagError if this Python was built without lzma, which most commands do not need.
    """
    try:
        import lzma
    except ImportError:
        msg = "this Python was built without the module lzma; install Python with it"
        raise NcdiagError(msg) from None

    try:
        data = lzma.decompress(path.with_name(f"{path.name}.xz").read_bytes())
        head = msgspec.msgpack.encode(__version__)
        return msgspec.msgpack.decode(data[len(head) :], type=kind) if data.startswith(head) else None
    except (OSError, ValueError, EOFError, lzma.LZMAError):
        return None


def packed(path: Path) -> None:
    """Replace a file of `write` by one compressed by xz, for a wheel."""
    import lzma

    path.with_name(f"{path.name}.xz").write_bytes(lzma.compress(path.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    path.unlink()


def _user() -> int:
    """The numeric id of the user, as in the owner of a file; 0 on Windows, which has no such ids."""
    return os.getuid() if hasattr(os, "getuid") else 0


def write(path: Path, stamp: str, content: Any) -> None:  # noqa: ANN401
    """Write a file atomically, readable only by its owner; raises OSError if that fails."""
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


def cache_file(name: str, sources: Iterable[str | Path]) -> Path | None:
    """The cache file of this name and these sources; None if one cannot be read or the user has no home folder."""
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
    """The name, time and size of a file; raises OSError if it cannot be read."""
    state = os.stat(path)  # noqa: PTH116  (hundreds of files: a Path for each costs more than the look)
    return f"{path}\0{state.st_mtime_ns}\0{state.st_size}"


_own = functools.cache(_state)
"""`_state` for files of ncdiag: several caches depend on them, so each is checked once."""


def _prune(folder: Path, name: str) -> None:
    """Delete the oldest cache files of one name."""
    files = sorted(folder.glob(f"{name}-*.msgpack"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files[_KEPT:]:
        path.unlink(missing_ok=True)
