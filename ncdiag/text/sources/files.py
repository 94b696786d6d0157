"""Open files, folders, archives and standard input as sources of clean text.

`open_sources` finds the sources, `TextSource.buffers` reads one; `ncdiag.text.sources.text` describes how bytes are
cleaned. A path that cannot be read gives one sentence: an `InputError` if no other path was given, else an
`Unreadable` among the sources.
"""

from __future__ import annotations

import contextlib
import functools
import glob
import io
import itertools
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from ncdiag.base.errors import InputError, NoTextError
from ncdiag.text.sources import archives, machines
from ncdiag.text.sources.archives import BROKEN, HEAD_SIZE, Pushback, Reader, decompressed, kind_of, reason_of
from ncdiag.text.sources.model import Packed, Source, Text, Unreadable
from ncdiag.text.sources.odd import is_foreign, what_else
from ncdiag.text.sources.text import BUFFER_SIZE, clean_text, looks_binary

FOLDER_LIMIT = 10_000
"""Maximum number of files read from one folder and its subfolders."""

_SMALL = BUFFER_SIZE // 2  # smaller pieces are joined, so that buffers are large after a decompressor too
_NULL = os.makedev(1, 3)  # /dev/null, the only useful character device besides a terminal
_OURS = {"script": machines.SCRIPT_MARK, "partial": machines.PARTIAL_MARK}
"""First bytes of texts that ncdiag wrote: the output of ``collect --script`` and ``parse --partial``."""
_CONVERTED = frozenset({"pickle", "trace"})
_STREAMS = frozenset({"gz", "bz2", "xz", "zst", *_CONVERTED})

Opener = Callable[[], AbstractContextManager[Reader]]


class TextSource(Text):
    """A text of raw bytes that are cleaned while they are read; its ``name`` inside an archive is ``archive:member``.

    A stream or a member of an archive can be read only once, a member only before the next source is opened.
    """

    def __init__(self, name: str, opener: Opener) -> None:
        """``opener`` returns a reader at the first byte; errors of it or its reader become notes."""
        self.name = name
        self.notes: list[str] = []
        self.opener = opener

    @staticmethod
    def of_bytes(name: str, data: bytes) -> TextSource:
        """A source from bytes in memory: pasted text, the output of a command."""
        return TextSource(name, lambda: io.BytesIO(data))

    def buffers(self) -> Iterator[bytes]:
        """The text, cleaned by `ncdiag.text.sources.text`."""
        self.notes = []
        yield from clean_text(self._pieces(), self.notes)

    def _pieces(self) -> Iterator[bytes]:
        held: list[bytes] = []
        size = 0
        try:
            with self.opener() as reader:
                while piece := reader.read(BUFFER_SIZE):
                    held.append(piece)
                    size += len(piece)
                    if size >= _SMALL:
                        yield held[0] if len(held) == 1 else b"".join(held)
                        held, size = [], 0
        except BROKEN as error:
            self.notes.append(f"not read to the end: {reason_of(error)}")
        yield b"".join(held)


class File(TextSource):
    """A text in a file of ``size`` bytes that can be opened again, also by another process: it can be pickled.

    ``path`` is the file that holds the text unchanged, None if the file is compressed.
    """

    def __init__(self, name: str, opener: Opener, size: int, path: str | None = None) -> None:
        """As `TextSource`."""
        super().__init__(name, opener)
        self.size, self.path = size, path


class _RefusedError(Exception):
    """The reason why a path cannot be read."""


class _NoText(_RefusedError):  # noqa: N818  (not an error: what the file is)
    """What a file is that holds no text."""


def open_sources(paths: Sequence[str], *, stdin: BinaryIO | None = None) -> Iterator[Source]:
    """The sources in ``paths``: files, folders (all files below, sorted, without hidden ones), archives, globs, ``-``.

    A packed machine (a bundle, for example) is one source, wherever it is found.

    Raises InputError if none of the paths can be read; otherwise each unreadable path gives an `Unreadable` first.
    """
    expanded = [match for path in paths for match in _expanded(path)]
    unread = 0
    for path in expanded:
        try:
            yield from _open(path, stdin)
        except _RefusedError as refused:  # noqa: PERF203  (one bad path does not stop the others)
            if len(expanded) == 1 and isinstance(refused, _NoText):
                msg = f"{path} has no text to judge: {refused}"
                raise NoTextError(msg) from None
            if len(expanded) == 1:
                msg = f"cannot read {path}: {refused}"
                raise InputError(msg) from None
            unread += 1
            yield Unreadable(path, str(refused))
    if unread and unread == len(expanded):
        msg = f"none of the {unread} inputs could be read"
        raise InputError(msg)


def _expanded(path: str) -> list[str]:
    """The paths that match a quoted glob; a file with exactly that name takes precedence."""
    if path == "-" or not glob.has_magic(path) or os.path.lexists(path):
        return [path]
    return sorted(glob.glob(path)) or [path]  # noqa: PTH207  (Path.glob takes no absolute patterns)


def _open(path: str, stdin: BinaryIO | None) -> Iterator[Source]:
    if path == "-":
        stream = stdin if stdin is not None else sys.stdin.buffer
        yield from _stream("-", stream, contextlib.nullcontext())
        return
    try:
        status = Path(path).stat()
    except (OSError, ValueError) as error:
        raise _RefusedError(reason_of(error)) from None
    mode = status.st_mode
    if stat.S_ISDIR(mode):
        yield from _folder(path)
    elif stat.S_ISREG(mode):
        yield from _file(path)
    elif stat.S_ISFIFO(mode) or (stat.S_ISCHR(mode) and (status.st_rdev == _NULL or _is_terminal(path))):
        opened = _opened(path)
        yield from _stream(path, opened, opened)
    else:
        raise _RefusedError("it is a socket" if stat.S_ISSOCK(mode) else "it is a device")


def _opened(path: str) -> io.FileIO:
    try:
        return io.FileIO(path)
    except OSError as error:
        raise _RefusedError(reason_of(error)) from None


def _is_terminal(path: str) -> bool:
    with _opened(path) as opened:
        return opened.isatty()


def _folder(path: str) -> Iterator[Source]:
    if machines.is_root(path):
        yield _root(path)
    elif _is_foreign(path):
        msg = "a folder without a word about GPUs, networks or a job; give the output of the job or of a tool"
        raise _NoText(msg)
    else:
        yield from _texts(path)


def _is_foreign(path: str) -> bool:
    files = itertools.islice(_files_below(path, []), FOLDER_LIMIT)
    try:
        return is_foreign(file for file in files if not file.endswith("/"))
    except OSError:
        return False  # reading it says why


def _root(folder: str) -> Packed:
    return Packed(folder, "sos" if machines.is_sos(folder) else "tree")


def _texts(path: str) -> Iterator[Source]:
    failures: list[OSError] = []
    count = binary = 0
    for place in _files_below(path, failures):
        count += 1
        if count > FOLDER_LIMIT:
            yield Unreadable(path, f"only the first {FOLDER_LIMIT} files of the folder were read")
            break
        try:
            if place.endswith("/"):
                yield _root(place.rstrip("/"))
            elif _is_binary(place):
                binary += 1
            else:
                yield from _file(place)
        except _RefusedError as refused:
            yield Unreadable(place, str(refused))
        except OSError as error:
            yield Unreadable(place, reason_of(error))
    if binary:
        yield Unreadable(path, f"{binary} binary {'file' if binary == 1 else 'files'} in the folder not read")
    if not count:
        raise _RefusedError(reason_of(failures[0]) if failures else "the folder contains no visible file")
    for failure in failures:
        yield Unreadable(str(failure.filename), reason_of(failure))


def _files_below(path: str, failures: list[OSError]) -> Iterator[str]:
    """Paths of all files that are not hidden, folder by folder, sorted; links to folders are not followed.

    A folder that is the root of a machine is not entered; its path is returned with a trailing slash.
    """
    for folder, below, files in os.walk(path, onerror=failures.append):
        roots = [name for name in below if machines.is_root(f"{folder}/{name}")]
        yield from (f"{folder}/{name}/" for name in sorted(roots))
        below[:] = sorted(name for name in below if not name.startswith(".") and name not in roots)
        for name in sorted(files):
            if not name.startswith("."):
                yield f"{folder.rstrip('/')}/{name}"


def _is_binary(path: str) -> bool:
    if not stat.S_ISREG(Path(path).stat().st_mode):
        msg = "not read: not a regular file"
        raise _RefusedError(msg)
    with _opened(path) as opened:
        head = opened.read(HEAD_SIZE * 8)
    return kind_of(head) is None and looks_binary(head)


def _file(path: str) -> Iterator[Source]:
    """The sources in a regular file: a text, a compressed text or an archive."""
    with _opened(path) as opened:
        try:
            head = opened.read(HEAD_SIZE)
            size = os.fstat(opened.fileno()).st_size
            odd = what_else(opened, head, size)
        except OSError as error:
            raise _RefusedError(reason_of(error)) from None
    if odd is not None:
        raise _NoText(odd)
    kind = _kind_of(head)
    if kind in _OURS:
        with _opened(path) as opened:
            yield _ours(str(kind), path, opened)
    elif kind is None:
        yield File(path, functools.partial(io.FileIO, path), size, path)
    elif kind == "zip":
        yield from _members(path, archives.zip_members(path))
    elif kind == "tar":
        with _opened(path) as opened:
            yield from _members(path, _tar_members(opened))
    elif kind not in _CONVERTED and _holds_tar(kind, path):
        with _opened(path) as opened:
            yield from _members(path, _tar_members(decompressed(kind, opened)))
    else:
        yield File(path, functools.partial(_decompressed_file, kind, path), size)


def _kind_of(head: bytes) -> str | None:
    """The result of `kind_of`, or a key of `_OURS`."""
    return next((form for form, mark in _OURS.items() if head.startswith(mark)), None) or kind_of(head)


def _ours(form: str, name: str, reader: Reader) -> Packed:
    return Packed(name, form, iter([archives.Member("", reader)]))


@contextlib.contextmanager
def _decompressed_file(kind: str, path: str) -> Iterator[Reader]:
    with io.FileIO(path) as raw:
        yield decompressed(kind, raw)


def _holds_tar(kind: str, path: str) -> bool:
    try:
        with _decompressed_file(kind, path) as inner:
            return kind_of(_head(inner)) == "tar"
    except BROKEN:
        return False


def _head(reader: Reader) -> bytes:
    head = b""
    while len(head) < HEAD_SIZE and (part := reader.read(HEAD_SIZE - len(head))):
        head += part
    return head


def _stream(
    name: str, stream: Reader, closing: AbstractContextManager[object]
) -> Iterator[Source]:  # fmt: skip
    """The sources in a stream, which may be compressed or an archive: it can be read only once."""
    reader, kind = _recognised(stream)
    if kind in _STREAMS:
        try:
            reader, kind = _recognised(decompressed(str(kind), reader))
        except OSError as error:
            raise _RefusedError(reason_of(error)) from None
    if kind in _OURS:
        with closing:
            yield _ours(str(kind), name, reader)
    elif kind == "tar":
        with closing:
            yield from _members(name, _tar_members(reader))
    elif kind == "zip":
        msg = "a zip archive cannot be read from a stream; give a file name"
        raise _RefusedError(msg)
    else:
        yield TextSource(name, _once(reader, closing))


def _tar_members(reader: Reader) -> Iterator[archives.Member]:
    """All members, without the limit on their number that `_members` sets for archives that are not a machine."""
    return archives.tar_members(reader, machines.MEMBER_LIMIT)


def _recognised(stream: Reader) -> tuple[Reader, str | None]:
    """The stream, still at its first byte, and its kind; a read error is raised later, to the actual reader."""
    head = b""
    try:
        while len(head) < HEAD_SIZE and (part := stream.read(HEAD_SIZE - len(head))):
            head += part
    except BROKEN as error:
        return Pushback(head, _Failed(error)), _kind_of(head)
    return Pushback(head, stream), _kind_of(head)


class _Failed:
    """A stream that failed when its first bytes were read; raises the same error to its reader."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def read(self, _size: int, /) -> bytes:
        raise self._error


def _once(reader: Reader, closing: AbstractContextManager[object], kind: str | None = None) -> Opener:
    """An opener for the only reading of a stream, which decompresses it if ``kind`` requires."""
    left = [reader]

    @contextlib.contextmanager
    def opener() -> Iterator[Reader]:
        if not left:
            msg = "a stream can be read only once"
            raise OSError(msg)
        with closing:
            yield decompressed(kind, left.pop()) if kind else left.pop()

    return opener


def _members(name: str, members: Iterator[archives.Member]) -> Iterator[Source]:
    first = next(members, None)
    form = machines.form_of(first.name) if first else None
    if first is None:
        return
    members = itertools.chain([first], members)
    if form:
        yield Packed(name, form, members)
        return
    for number, member in enumerate(members):
        if number >= archives.MEMBER_LIMIT:
            yield Unreadable(name, f"only the first {archives.MEMBER_LIMIT} members of the archive were read")
            return
        label = f"{name}:{member.name}" if member.name else name
        if member.reader is None:
            yield Unreadable(label, member.reason)
            continue
        reader, kind = _recognised(member.reader)
        if kind in {"tar", "zip"}:
            yield Unreadable(label, "not read: an archive within an archive")
        elif kind in _OURS:
            yield _ours(str(kind), label, reader)
        else:
            yield TextSource(label, _once(reader, contextlib.nullcontext(), kind))
