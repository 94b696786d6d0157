"""Receive uploads of browsers and programs piece by piece, into files that only this user can read.

Memory use does not depend on the size. File names are untrusted and are sanitised; they are kept if possible, because
the answer names lines by them.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

import anyio
import anyio.to_thread
import msgspec
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from ncdiag.base.patterns import lazy_regex

PASTE = "paste.txt"
"""The file with the content of the paste field."""
FILES_LIMIT = 500
SILENCE = 60.0
"""Seconds without data after which an upload is cancelled."""
TOTAL = 60.0
"""Seconds that an upload of any length may take."""
RATE = 16 << 10
"""Bytes for which an upload may take a further second."""
_FILE = "file"
"""The form field for files."""
WINDOW = ("since", "until", "compare")
"""Fields of the window of time, in the order of the arguments of `ncdiag.text.window_of`."""
_FIELDS = frozenset({"format", "redact", *WINDOW})
"""Small fields that are read; others are dropped, so that a form with millions of them costs no memory."""
_FIELD_LIMIT = 200
_PARTS_LIMIT = FILES_LIMIT + 100
_HEADER_LIMIT = 4096
_NAME_LIMIT = 100
"""Maximum length of a file name in bytes, of which the end is kept; file systems allow 255."""
_STRANGE = lazy_regex(r"[^\w.,+@=-]+")
_PIECE = 1 << 20


class Received(msgspec.Struct):
    """An upload: small ``fields`` by name, and the ``names`` of the files in the folder, in their order."""

    fields: dict[str, str] = {}
    names: list[str] = []


class UploadError(Exception):
    """A rejected upload: the HTTP ``status`` and the ``word`` for its sentence (`words.toml`)."""

    def __init__(self, status: int, word: str) -> None:
        self.status, self.word = status, word
        super().__init__(word)


def is_too_large(request: Request, limit: int) -> bool:
    """True if the request says that its body has more than ``limit`` bytes."""
    declared = request.headers.get("content-length", "")
    return declared.isascii() and declared.isdigit() and int(declared) > limit


async def drop(request: Request, limit: int, heard: Callable[[], None] = lambda: None) -> None:
    """Read a body that is not needed, as long as one of ``limit`` bytes could take (`receive`)."""
    with contextlib.suppress(UploadError):
        await _take(request, None, limit, heard)


async def receive(request: Request, folder: Path, limit: int, heard: Callable[[], None] = lambda: None) -> Received:
    """Receive a form (``multipart/form-data``) or a plain text into the folder, at most ``limit`` bytes.

    Calls ``heard`` whenever data arrives. Raises UploadError, also for an upload that is silent for `SILENCE` seconds,
    or that takes more than `TOTAL` seconds and one for each `RATE` bytes that have arrived. Data beyond the limit is
    read and dropped up to three times that size, because a browser shows no answer before it has sent everything.
    """
    received = Received(fields=dict(request.query_params))
    with _Writer(folder, received) as writer:
        try:
            await _take(request, _taking(request, writer), limit, heard)
        except FormParserError:
            raise UploadError(400, "broken_upload") from None
    return received


def _taking(request: Request, writer: _Writer) -> _Form | _Bare:
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind == b"multipart/form-data" and options.get(b"boundary"):
        return _Form(options[b"boundary"], writer)
    if kind in {b"text/plain", b"application/octet-stream"}:
        return _Bare(writer)
    raise UploadError(415, "wrong_kind")


async def _take(request: Request, taking: _Form | _Bare | None, limit: int, heard: Callable[[], None]) -> None:
    """Read the body; ``taking`` None drops it."""
    size = 0
    pieces = request.stream()
    began = anyio.current_time()
    too_large = taking is None
    try:
        while True:
            with anyio.fail_after(min(SILENCE, began + TOTAL + size / RATE - anyio.current_time())):
                piece = await anext(pieces, b"")
            if not piece:
                break
            heard()
            size += len(piece)
            too_large = too_large or size > limit
            if size > 3 * limit:
                break
            if taking is not None and not too_large:
                taking.feed(piece)
                if taking.writer.waiting >= _PIECE:
                    await anyio.to_thread.run_sync(taking.writer.flush)
        if taking is None or too_large:
            raise UploadError(413, "too_large")
        taking.end()
    except ClientDisconnect:
        raise UploadError(400, "broken_upload") from None
    except TimeoutError:
        raise UploadError(408, "broken_upload") from None
    except OSError:  # no room is left
        raise UploadError(507, "no_room") from None


class _Writer:
    """Writes parts into files of the folder; data is held until `flush`."""

    def __init__(self, folder: Path, received: Received) -> None:
        self._folder, self._received = folder, received
        self._file: BinaryIO | None = None
        self._held: list[bytes] = []
        self.waiting = 0

    def __enter__(self) -> _Writer:  # noqa: PYI034  (Self is in typing since 3.11)
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:  # after an error the held data is not needed
            self._file.close()

    def open(self, name: str) -> None:
        """Begin a file. Raises UploadError if there are too many."""
        if len(self._received.names) >= FILES_LIMIT:
            raise UploadError(413, "too_many")
        self.close()
        name = harmless(name, self._received.names)
        made = os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._file = os.fdopen(made, "wb", buffering=0)
        self._received.names.append(name)

    def write(self, piece: bytes) -> None:
        """Add bytes to the file."""
        self._held.append(piece)
        self.waiting += len(piece)

    def field(self, name: str, value: bytes) -> None:
        """Store a small field that is needed."""
        if name in _FIELDS:
            self._received.fields[name] = value.decode("utf-8", "replace").strip()

    def flush(self) -> None:
        """Write the held data. Raises OSError."""
        if self._file is not None and self._held:
            whole = memoryview(b"".join(self._held))
            while whole:
                whole = whole[self._file.write(whole) or 0 :]
        self._held, self.waiting = [], 0

    def close(self) -> None:
        """End the file; an empty one is deleted."""
        if self._file is None:
            return
        with contextlib.closing(self._file):
            self.flush()
            empty = not self._file.tell()
        self._file = None
        if empty:
            (self._folder / self._received.names.pop()).unlink()


class _Bare:
    """A body that is plain text."""

    def __init__(self, writer: _Writer) -> None:
        self.writer = writer
        writer.open(PASTE)

    def feed(self, piece: bytes) -> None:
        self.writer.write(piece)

    def end(self) -> None:
        self.writer.close()


class _Form:
    """A form: the paste field and chosen files go to files, other fields are small."""

    def __init__(self, boundary: bytes, writer: _Writer) -> None:
        self.writer = writer
        self._parts = 0
        self._is_whole = False
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._begin, "on_header_field": self._header_name, "on_header_end": self._header_end,
                "on_header_value": self._header_value, "on_headers_finished": self._headers_end,
                "on_part_data": self._data, "on_part_end": self._end, "on_end": self._ended,
            },
        )  # fmt: skip

    def feed(self, piece: bytes) -> None:
        self._parser.write(piece)

    def end(self) -> None:
        if not self._is_whole:
            raise UploadError(400, "broken_upload")

    def _ended(self) -> None:
        self._is_whole = True

    def _begin(self) -> None:
        self._parts += 1
        if self._parts > _PARTS_LIMIT:
            raise UploadError(413, "too_many")
        self._name = self._value = self._disposition = b""
        self._field = ""
        self._kept: bytes | None = b""

    def _header_name(self, data: bytes, start: int, end: int) -> None:
        self._name = _longer(self._name, data[start:end])

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value = _longer(self._value, data[start:end])

    def _header_end(self) -> None:
        if self._name.lower() == b"content-disposition":
            self._disposition = self._value
        self._name = self._value = b""

    def _headers_end(self) -> None:
        _, options = parse_options_header(self._disposition)
        self._field = options.get(b"name", b"").decode("utf-8", "replace")
        if b"filename" in options or self._field == _FILE:
            self._kept = None
            name = options.get(b"filename", _FILE.encode())
            if name:  # browsers send one without a name if none was chosen
                self.writer.open(name.decode("utf-8", "replace"))
        elif self._field == "text":
            self._kept = None
            self.writer.open(PASTE)

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._kept is None:
            self.writer.write(data[start:end])
        elif len(self._kept) < _FIELD_LIMIT:
            self._kept += data[start:end]

    def _end(self) -> None:
        if self._kept is None:
            self.writer.close()
        else:
            self.writer.field(self._field, self._kept[:_FIELD_LIMIT])


def _longer(header: bytes, more: bytes) -> bytes:
    """Raises UploadError for a header that no browser would send."""
    if len(header) + len(more) > _HEADER_LIMIT:
        raise UploadError(400, "broken_upload")
    return header + more


def harmless(name: str, taken: Iterable[str]) -> str:
    """A safe name for a file of the folder, as similar to the given one as possible, and not yet taken.

    It has no folder, does not begin with a dot or a dash, and contains neither blanks nor characters that are special
    in a shell, a glob or a terminal.
    """
    base = _STRANGE.sub("_", re.split(r"[/\\]", name)[-1]).encode()[-_NAME_LIMIT:].decode(errors="ignore")
    base = base.lstrip(".-") or _FILE
    stem, dot, ending = base.partition(".")
    made, number = base, 1
    used = {other.casefold() for other in taken}
    while made.casefold() in used:
        number += 1
        made = f"{stem}-{number}{dot}{ending}"
    return made
