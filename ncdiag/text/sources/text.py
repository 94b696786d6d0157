"""Raw bytes to clean text: line-aligned buffers of UTF-8 with LF line ends, from any platform.

Clean logs are not processed line by line: each buffer is searched for the few bytes that need work (ESC, CR, control
characters, non-ASCII) and is passed on unchanged if it has none. Memory is limited to a few buffers, even for a single
line of many gigabytes.

Line ends are LF, CRLF (also CR CR LF, as serial consoles write) and a lone CR. A progress bar therefore has one line
per redraw, as in editors that support all three. ``sed -n 12p`` and vi do not count lone CRs, so a note says how many
there were.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.text.sources.characters import plain, sound
from ncdiag.text.sources.records import unpacked, without_repeats

BUFFER_SIZE = 1 << 20
"""Approximate size of a buffer in bytes; it ends at a line end. With 4 MiB, larger than the caches, reading takes twice
as long.
"""

LINE_LIMIT = 64 << 10
"""Maximum number of bytes of a line that are kept."""

_ESCAPE = lazy_regex(
    rb"\x1b(?:"
    rb"\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movement
    rb"|[\]PX^_][^\x07\x1b\r\n]*(?:\x07|\x1b\\)"  # OSC, DCS, SOS, PM, APC with their text, only when terminated
    rb"|[ -/]+[0-~]"  # character sets and similar sequences
    rb"|[0-~]"  # two-byte sequences; also the rest of an unterminated one
    rb")?"
)
_REDRAWN = lazy_regex(rb"(?<=\n)\r(?![\r\n])")
"""A CR at the start of a line, before its text, ends no line."""
_CRLF = lazy_regex(rb"(?<!\r)\r+\n")  # the look-behind keeps a long run of CRs linear
_ENVIRON = lazy_regex(rb"\w+=[^\0\n]*\0\w+=")
_ZEROS_APART = 4
"""Fewer zero bytes than this in a row may be line ends; more are a hole in a file."""
_CONTROLS = bytes(c for c in (*range(32), 127) if c not in b"\t\n\v\f\r\x1b")
_ODD = [bytes([c]) for c in _CONTROLS]
_TO_SPACE = bytes(0x20 if c in _CONTROLS else c for c in range(256))
_BINARY_SHARE = 20  # a line is binary if more than one in this number of its bytes is a control character
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"), (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
_QUOTES = (b'["', b'{"', b"['", b'"', b"'", b"b'", b'b"')
"""Beginnings of a text that is JSON or a Python literal in one line, which is complete as it is."""
_NO_BREAK = "\u00a0".encode()
"""The non-breaking blank, which chat tools and web pages use for blanks."""
_HEAD = 4096


def encoding_of(head: bytes) -> str:
    """The encoding from the byte order mark, else from the positions of zero bytes; by default ``utf-8``."""
    for mark, name in _BOMS:
        if head.startswith(mark):
            return name
    lanes = [head[i:_HEAD:4] for i in range(4)]
    zero = [len(lane) > 1 and lane.count(0) * 10 > len(lane) * 9 for lane in lanes]
    used = [lane.count(0) * 10 < len(lane) for lane in lanes]
    if zero[2] and zero[3] and used[0]:
        return "utf-32-le"
    if zero[0] and zero[1] and used[3]:
        return "utf-32-be"
    pairs = len(head[:_HEAD]) // 2
    even, odd = (head[i:_HEAD:2].count(0) for i in range(2))
    if pairs > 1 and odd * 2 > pairs and even * 10 < pairs:
        return "utf-16-le"
    if pairs > 1 and even * 2 > pairs and odd * 10 < pairs:
        return "utf-16-be"
    return "utf-8"


def looks_binary(head: bytes) -> bool:
    """True if the first bytes are those of a program, picture or checkpoint, not of a text in any encoding."""
    if encoding_of(head) != "utf-8" or _has_zeros_as_ends(head):
        return False
    return (len(head) - len(head.translate(None, _CONTROLS))) * _BINARY_SHARE > len(head)


def clean_text(chunks: Iterable[bytes], notes: list[str]) -> Iterator[bytes]:
    """Line-aligned buffers of clean UTF-8 from raw chunks of any size; at the end, ``notes`` lists what was changed."""
    cleaner = Cleaner()
    for buffer in _aligned(_decoded(chunks, notes)):
        yield cleaner.clean(buffer)
    notes += cleaner.notes()


def clean_part(chunks: Iterable[bytes], cleaner: Cleaner, *, first: bool) -> Iterator[bytes]:
    """Like `clean_text`, for a part of a text that `can_be_parted`; ``first``: it is the beginning of the text.

    ``cleaner`` counts the changes.
    """
    for buffer in _aligned(_decoded(chunks, []) if first else chunks):
        yield cleaner.clean(buffer)


def can_be_parted(head: bytes) -> bool:
    """True if a text with these first bytes can be read from any of its line ends: it is plain UTF-8 lines."""
    return encoding_of(head[:_HEAD]) == "utf-8" and not _has_zeros_as_ends(head)


def _has_zeros_as_ends(head: bytes) -> bool:
    """True if zero bytes end the lines: in a process environment, or in a text without LF whose parts hold blanks."""
    if b"\0" not in head:
        return False
    if _ENVIRON.match(head):
        return True
    parts = head.split(b"\0")
    return (
        len(parts) >= _ZEROS_APART
        and b"\n" not in head
        and b"\0" * _ZEROS_APART not in head
        and 2 * sum(b" " in part for part in parts) > sum(map(bool, parts))
        and not head.translate(None, b"\0").translate(None, bytes(set(range(256)) - set(_CONTROLS)))
    )


def _decoded(chunks: Iterable[bytes], notes: list[str]) -> Iterator[bytes]:
    """The chunks converted to UTF-8, if the first bytes show another encoding."""
    parts = iter(chunks)
    head = b""
    for part in parts:
        head += part
        if len(head) >= _HEAD:
            break
    if not head:
        return
    encoding = encoding_of(head)
    mark = next((mark for mark, name in _BOMS if name == encoding and head.startswith(mark)), b"")
    head = head[len(mark) :]
    if encoding != "utf-8":
        notes.append(f"read as {encoding.upper()}")
        decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
        yield decoder.decode(head).encode()
        for part in parts:
            yield decoder.decode(part).encode()
        yield decoder.decode(b"", final=True).encode()
    elif _has_zeros_as_ends(head):
        notes.append("zero bytes were read as line ends, as in a process environment")
        yield head.replace(b"\0", b"\n")
        for part in parts:
            yield part.replace(b"\0", b"\n")
    else:
        yield head
        yield from parts


def _aligned(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Buffers that end at a line end; an endless line is cut at ``LINE_LIMIT`` while it is read."""
    held: list[bytes] = []
    size, dropping = 0, False
    for chunk in chunks:
        part = chunk
        if dropping:
            ends = [at for at in (part.find(b"\n"), part.find(b"\r")) if at >= 0]
            if not ends:
                continue
            part, dropping = part[min(ends) :], False
        end = part.rfind(b"\n") + 1
        if end:
            yield b"".join([*held, memoryview(part)[:end]])
            held, size = [part[end:]], len(part) - end
            continue
        held.append(part)
        size += len(part)
        if size >= BUFFER_SIZE:
            ready, rest, dropping = _relieved(b"".join(held))
            if ready:
                yield ready
            held, size = [rest], len(rest)
    last = b"".join(held)
    if last:
        if last.lstrip().startswith(_QUOTES):
            yield last + b"\n"
            return
        from ncdiag.parsers.nccl_log.lines import settled  # a truncated text; the inspection of a host has none

        yield settled(last) + b"\n"


def _relieved(data: bytes) -> tuple[bytes, bytes, bool]:
    """Split a long piece without LF: (text up to a lone CR, the kept rest, whether more of this line is dropped)."""
    core = data.rstrip(b"\r")  # a CR at the end may turn out to be part of a CRLF
    if not core:
        return data, b"", False
    at = core.rfind(b"\r") + 1
    if at:
        return data[:at], data[at:], False
    kept = core.translate(None, b"\0")  # a sparse file has gigabytes of them before its text
    if b"\x1b" in kept:
        kept = _ESCAPE.sub(b"", kept)
    kept = _whole_characters(kept[: LINE_LIMIT + 8])  # a little more, so that the cut is seen and counted later
    ends = len(core) < len(data)
    return b"", kept + b"\r" * ends, len(kept) > LINE_LIMIT and not ends


class Cleaner:
    """Cleans one buffer after the other and counts the changes."""

    def __init__(self) -> None:
        """All counts are 0."""
        self.binary = self.cut = self.returns = self.left_out = 0
        self.latin = False

    def clean(self, buffer: bytes) -> bytes:
        """The same lines in clean UTF-8; a buffer of clean ASCII is returned as it is."""
        buffer = unpacked(buffer)
        if b"\x1b" in buffer:
            buffer = _ESCAPE.sub(b"", buffer)
        buffer = plain(buffer)
        if b"\r" in buffer:
            buffer = self._line_ends(buffer)
        if any(odd in buffer for odd in _ODD):  # 29 searches at memory speed: ten times as fast as one regex
            buffer = self._without_controls(buffer)
        if not buffer.isascii():
            buffer = self._utf8(buffer)
        buffer, left_out = without_repeats(buffer)
        self.left_out += left_out
        return self._shortened(buffer) if _has_long_line(buffer) else buffer

    def _line_ends(self, buffer: bytes) -> bytes:
        buffer = _REDRAWN.sub(b"", buffer)
        buffer = _CRLF.sub(b"\n", buffer) if b"\r\r" in buffer else buffer.replace(b"\r\n", b"\n")
        self.returns += buffer.count(b"\r")
        return buffer.replace(b"\r", b"\n")

    def _without_controls(self, buffer: bytes) -> bytes:
        """Remove zero bytes (holes, appended UTF-16), replace other controls by spaces, empty binary lines."""
        lines = buffer.translate(None, b"\0").split(b"\n")
        for index, line in enumerate(lines):
            odd = len(line) - len(line.translate(None, _CONTROLS))
            if odd * _BINARY_SHARE > len(line):
                lines[index] = b""
                self.binary += 1
            elif odd:
                lines[index] = line.translate(_TO_SPACE)
        return b"\n".join(lines)

    def _utf8(self, buffer: bytes) -> bytes:
        """Decode bytes that are not UTF-8 one by one as Latin-1, because logs mix both; replace non-breaking blanks."""
        buffer = buffer.replace(_NO_BREAK, b" ") if _NO_BREAK in buffer else buffer
        try:
            buffer.decode()
        except UnicodeDecodeError:
            buffer = sound(buffer)
            escaped = buffer.decode("utf-8", "surrogateescape").encode("utf-8", "surrogatepass")
            # U+DC80..U+DCFF, which represent the invalid bytes, to U+0080..U+00FF; ED B2 and ED B3 begin nothing else
            self.latin |= escaped != buffer
            buffer = escaped.replace(b"\xed\xb2", b"\xc2").replace(b"\xed\xb3", b"\xc3")
        return buffer.replace(codecs.BOM_UTF8, b"") if codecs.BOM_UTF8 in buffer else buffer

    def _shortened(self, buffer: bytes) -> bytes:
        lines = buffer.split(b"\n")
        for index, line in enumerate(lines):
            if len(line) > LINE_LIMIT:
                lines[index] = line[:LINE_LIMIT].decode("utf-8", "ignore").encode()  # no truncated character at the cut
                self.cut += 1
        return b"\n".join(lines)

    def add(self, other: Cleaner) -> None:
        """Add the counts of the cleaner of another part of the text."""
        self.binary += other.binary
        self.cut += other.cut
        self.returns += other.returns
        self.left_out += other.left_out
        self.latin |= other.latin

    def notes(self) -> list[str]:
        """One sentence for each kind of change that loses something or moves line numbers."""
        told = []
        if self.latin:
            told.append("bytes that are not UTF-8 were read as Latin-1")
        if self.binary:
            told.append(f"binary data: {_lines(self.binary)} skipped")
        if self.left_out:
            told.append(f"Ray omitted {_lines(self.left_out)} as repetitions (RAY_DEDUP_LOGS=0 keeps them)")
        if self.cut:
            told.append(f"{_lines(self.cut)} longer than {LINE_LIMIT >> 10} KiB truncated")
        if self.returns:
            told.append(f"{self.returns} lone carriage returns were read as line ends (sed and vi do not count these)")
        return told


def _has_long_line(buffer: bytes) -> bool:
    """True if some line is too long; checks only one position in every 64 KiB."""
    at, size = 0, len(buffer)
    while size - at > LINE_LIMIT + 1:
        end = buffer.rfind(b"\n", at, at + LINE_LIMIT + 1)
        if end < 0:
            return True
        at = end + 1
    return False


def _whole_characters(data: bytes) -> bytes:
    """The bytes without the last character, which may be truncated."""
    at = len(data) - 1
    while at > max(0, len(data) - 4) and data[at] & 0xC0 == 0x80:  # noqa: PLR2004  (a continuation byte of UTF-8)
        at -= 1
    return data[:at] if at >= 0 and data[at] >= 0x80 else data  # noqa: PLR2004  (beyond ASCII)


def _lines(count: int) -> str:
    return f"{count} line" if count == 1 else f"{count} lines"
