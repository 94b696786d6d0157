"""Compressed files and archives as streams: nothing is unpacked to disk, and a compression bomb is stopped.

The kind of a file is determined by its first bytes, not its name. A reader is any object with ``read(size)``: short
reads are allowed, ``b""`` is the end, errors are those in `BROKEN`, whose text can be shown.
"""

from __future__ import annotations

import importlib
import io
import itertools
import stat
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from ncdiag.text.sources import traces
from ncdiag.text.sources.pickles import SIZE_LIMIT, as_json, is_pickled_dict

if TYPE_CHECKING:
    import tarfile
    import zipfile

HEAD_SIZE = 512
"""Number of bytes that `kind_of` needs; the magic of a tar archive is at offset 257."""

FREE_OUTPUT = 64 << 20
"""Number of bytes decompressed before the compression ratio is checked."""

RATIO_LIMIT = 200
"""Maximum ratio of output to input bytes after `FREE_OUTPUT`; real logs reach 5 to 50."""

ZST_PIECE = 1 << 10
"""Bytes of a zst file decompressed at a time: four of them can expand to 128 KiB (RFC 8878, RLE blocks)."""

MEMBER_LIMIT = 10_000
"""Maximum number of members read from one archive."""

BROKEN = (OSError, EOFError, ValueError)
"""The exceptions raised by reading damaged or vanished data. Errors of archive modules are converted to OSError here,
because these modules are imported only when there is an archive.
"""

_MAGIC = {b"\x1f\x8b\x08": "gz", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zst", b"PK\x03\x04": "zip"}


class Reader(Protocol):
    """A source of bytes."""

    def read(self, size: int, /) -> bytes:
        """At most ``size`` bytes, perhaps fewer; none at the end."""


class Member:
    """A member of an archive: ``name`` within it, and either a ``reader`` or the ``reason`` why it is not read.

    ``link`` is the target of a symbolic link.
    """

    def __init__(self, name: str, reader: Reader | None = None, reason: str = "", link: str = "") -> None:
        """Store the parts."""
        self.name, self.reader, self.reason, self.link = name, reader, reason, link


class DamagedError(OSError):
    """Compressed data or an archive is damaged."""


class BombError(OSError):
    """Compressed data expands beyond `RATIO_LIMIT`."""


class Pushback:
    """A stream whose first bytes were already read."""

    def __init__(self, head: bytes, rest: Reader) -> None:
        """Reads ``head``, then ``rest``."""
        self._head, self._rest = head, rest

    def read(self, size: int = -1, /) -> bytes:
        """Bytes of the head first, then of the rest."""
        if self._head:
            size = size if size >= 0 else len(self._head)
            part, self._head = self._head[:size], self._head[size:]
            return part
        return self._rest.read(size)


class _Counting:
    """A reader that counts the bytes that pass through it."""

    def __init__(self, source: Reader) -> None:
        self._source, self.count = source, 0

    def read(self, size: int = -1, /) -> bytes:
        data = self._source.read(size)
        self.count += len(data)
        return data


class _Bounded:
    """The output of a decompressor; raises BombError if it expands beyond `RATIO_LIMIT`."""

    def __init__(self, source: Reader, consumed: Callable[[], int]) -> None:
        self._source, self._consumed, self._count = source, consumed, 0

    def read(self, size: int = -1, /) -> bytes:
        data = self._source.read(size)
        self._count += len(data)
        if self._count > FREE_OUTPUT and self._count > RATIO_LIMIT * self._consumed():
            msg = f"the data expands more than {RATIO_LIMIT}-fold; only the first {self._count >> 20} MiB were read"
            raise BombError(msg)
        return data


class _Guarded:
    """Calls ``method`` for each piece (``read1`` keeps what precedes damage) and converts errors to OSError."""

    def __init__(self, method: Callable[[int], bytes]) -> None:
        self._method = method

    def read(self, size: int = -1, /) -> bytes:
        try:
            return self._method(size)
        except BROKEN:
            raise
        except Exception as error:
            raise DamagedError(reason_of(error)) from error


def kind_of(head: bytes) -> str | None:
    """``gz``, ``bz2``, ``xz``, ``zst``, ``zip``, ``tar``, ``pickle`` or ``trace`` by the first bytes, else None."""
    if head[257:262] == b"ustar":
        return "tar"
    if is_pickled_dict(head):
        return "pickle"
    if traces.is_trace(head):
        return "trace"
    return next((kind for mark, kind in _MAGIC.items() if head.startswith(mark)), None)


def decompressed(kind: str, source: Reader) -> Reader:
    """The content of a gz, bz2, xz or zst stream; a pickle as JSON, a trace of a profiler as its sums.

    Raises OSError if the module is not installed.
    """
    if kind == "pickle":
        return _unpickled(source)
    if kind == "trace":
        return _Summed(source)
    counting = _Counting(source)
    opened: Any
    if kind == "zst":
        opened = _zstandard(counting)
    else:
        module, opener = {"gz": ("gzip", "GzipFile"), "bz2": ("bz2", "BZ2File"), "xz": ("lzma", "LZMAFile")}[kind]
        opened = getattr(importlib.import_module(module), opener)
        opened = opened(fileobj=counting) if kind == "gz" else opened(counting)
    return _Summed(_Bounded(_Guarded(opened.read1), lambda: counting.count))


class _Summed:
    """Reads a trace of a profiler as its summary, and every other content as it is; nothing before the first read.

    The error of a trace that breaks off is raised after the summary of what was read.
    """

    def __init__(self, source: Reader) -> None:
        self._raw, self._source = source, source
        self._is_open = False
        self._error: Exception | None = None

    def read(self, size: int = -1, /) -> bytes:
        if not self._is_open:
            self._is_open = True
            head = b""
            while len(head) < HEAD_SIZE and (part := self._raw.read(HEAD_SIZE)):
                head += part
            self._source = Pushback(head, self._raw)
            if traces.is_trace(head):
                self._source = io.BytesIO(traces.summary(itertools.chain([head], iter(self._piece, b""))))
        part = self._source.read(size)
        if not part and self._error is not None:
            raise self._error
        return part

    def _piece(self) -> bytes:
        try:
            return self._raw.read(1 << 20)
        except BROKEN as error:
            self._error = error
            return b""


def _unpickled(source: Reader) -> Reader:
    pickled = bytearray()
    while len(pickled) <= SIZE_LIMIT and (piece := source.read(1 << 20)):
        pickled += piece
    try:
        return io.BytesIO(as_json(bytes(pickled)))
    except ValueError as error:
        raise DamagedError(str(error)) from error


def _zstandard(source: _Counting) -> Any:  # noqa: ANN401  (two modules, the same reader)
    try:
        module = importlib.import_module("compression.zstd")  # in the standard library since Python 3.14
    except ImportError:
        try:
            module = importlib.import_module("zstandard")
        except ImportError:
            msg = "compressed with zstd; reading it requires the module zstandard (pip install zstandard)"
            raise OSError(msg) from None
        return _Frames(module.ZstdDecompressor().decompressobj, source)
    return module.ZstdFile(source)


class _Frames:
    """Reads zst with the module zstandard, whose reader does not report a truncated file."""

    def __init__(self, new_frame: Callable[[], Any], source: Reader) -> None:
        self._new_frame, self._source = new_frame, source
        self._frame: Any = None
        self._rest = b""
        self._ready = memoryview(b"")

    def read1(self, size: int = -1, /) -> bytes:
        while not self._ready:
            data = self._rest or self._source.read(ZST_PIECE)
            if not data:
                if self._frame is not None:
                    raise EOFError
                return b""
            self._frame = self._frame or self._new_frame()
            self._ready, self._rest = memoryview(self._frame.decompress(data)), b""
            if self._frame.eof:
                self._rest, self._frame = self._frame.unused_data, None
        size = size if size >= 0 else len(self._ready)
        part, self._ready = bytes(self._ready[:size]), self._ready[size:]
        return part


def tar_members(source: Reader, limit: int | None = None) -> Iterator[Member]:
    """The members of a tar stream in their order; each must be read before the next one is requested.

    After ``limit`` of them (default `MEMBER_LIMIT`) the last member has a reason instead of a reader.
    Names are shown and never opened, so absolute paths and links are harmless.
    """
    import tarfile

    limit = MEMBER_LIMIT if limit is None else limit
    try:
        stream: Any = source  # tarfile calls only read()
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for number, member in enumerate(archive):
                if number >= limit:
                    yield Member("", reason=f"only the first {limit} members of the archive were read")
                    return
                if member.isdir():
                    continue
                if not member.isreg() or member.issparse():
                    target = member.linkname if member.issym() else ""
                    yield Member(member.name, reason=f"not read: {_oddity(member)} in an archive", link=target)
                    continue
                content = archive.extractfile(member)
                if content is not None:
                    yield Member(member.name, _Guarded(content.read))
    except (*BROKEN, tarfile.TarError) as error:
        yield Member("", reason=f"the archive is damaged: {reason_of(error)}")


def _oddity(member: tarfile.TarInfo) -> str:
    if member.issparse():
        return "a sparse file"
    return "a link" if member.issym() or member.islnk() else "a device or pipe"


def zip_members(path: str) -> Iterator[Member]:
    """The files of a zip archive on disk, in the order of the archive."""
    import zipfile

    try:
        with zipfile.ZipFile(path) as archive:
            for number, entry in enumerate(archive.infolist()):
                if number >= MEMBER_LIMIT:
                    yield Member("", reason=f"only the first {MEMBER_LIMIT} members of the archive were read")
                    return
                mode = entry.external_attr >> 16
                if entry.is_dir():
                    continue
                if entry.flag_bits & 1:
                    yield Member(entry.filename, reason="not read: encrypted")
                elif mode and not stat.S_ISREG(mode) and stat.S_IFMT(mode):
                    yield Member(entry.filename, reason="not read: a link in an archive")
                else:
                    yield _zip_member(archive, entry)
    except (*BROKEN, zipfile.BadZipFile, NotImplementedError) as error:
        yield Member("", reason=f"the archive is damaged: {reason_of(error)}")


def _zip_member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Member:
    try:
        opened: Any = archive.open(entry)
    except Exception as error:  # noqa: BLE001  (BadZipFile, NotImplementedError, RuntimeError: one member, not all)
        return Member(entry.filename, reason=reason_of(error))
    size = entry.compress_size
    return Member(entry.filename, _Bounded(_Guarded(opened.read1), lambda: size))


def reason_of(error: BaseException) -> str:
    """The reason of an error for the user: the system's own text if there is one."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    text = str(error).strip() or type(error).__name__
    if isinstance(error, EOFError):
        return "the compressed data is truncated"
    return text[:1].lower() + text[1:]
