"""Raw bytes to clean text: line-aligned buffers of UTF-8 with LF line ends, whatever the file was written by.

Nothing here touches single lines of a clean log: a buffer is searched for the few bytes that ask for work (ESC, CR,
control characters, anything beyond ASCII) and passed on as it is when there are none. Memory is bounded by a few
buffers, also for one line of many gigabytes.

What counts as a line end, so that line numbers can be found again: LF, CRLF (also CR CR LF, as serial consoles write)
and a lone CR. A progress bar therefore has one line a redraw, as in editors that know all three line ends;
``sed -n 12p`` and vi do not count lone CRs, so a note tells how many there were.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator

from ncdiag.text.sources.records import unpacked, without_repeats

BUFFER_SIZE = 1 << 20
"""Bytes of one buffer, roughly, for it ends at a line end. With 4 MiB, beyond the caches, reading is half as fast."""

LINE_LIMIT = 64 << 10
"""Bytes of a line that are kept."""

_ESCAPE = re.compile(
    rb"\x1b(?:"
    rb"\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor movement
    rb"|[\]PX^_][^\x07\x1b\r\n]*(?:\x07|\x1b\\)"  # OSC, DCS, SOS, PM, APC with their text, only when terminated
    rb"|[ -/]+[0-~]"  # character sets and the like
    rb"|[0-~]"  # two-byte sequences; also what is left of an unterminated one
    rb")?"
)
_CRLF = re.compile(rb"(?<!\r)\r+\n")  # the look-behind keeps a long run of CRs linear
_ENVIRON = re.compile(rb"\w+=[^\0\n]*\0\w+=")
_CONTROLS = bytes(c for c in (*range(32), 127) if c not in b"\t\n\r\x1b")
_ODD = [bytes([c]) for c in _CONTROLS]
_TO_SPACE = bytes(0x20 if c in _CONTROLS else c for c in range(256))
_BINARY_SHARE = 20  # a line is binary when more than one byte in so many is a control character
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"), (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"),
)  # fmt: skip
_NO_BREAK = "\u00a0".encode()
"""Blanks as chat tools and web pages paste them."""
_HEAD = 4096


def encoding_of(head: bytes) -> str:
    """The encoding by byte order mark, else by where the zero bytes stand; ``utf-8`` when nothing speaks against it."""
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
    """Tell the beginning of a program, picture or checkpoint from that of a text in any encoding."""
    if encoding_of(head) != "utf-8" or _ENVIRON.match(head):
        return False
    return (len(head) - len(head.translate(None, _CONTROLS))) * _BINARY_SHARE > len(head)


def clean_text(chunks: Iterable[bytes], notes: list[str]) -> Iterator[bytes]:
    """Line-aligned buffers of clean UTF-8 from raw chunks of any size; at the end ``notes`` tells what was changed."""
    cleaner = Cleaner()
    for buffer in _aligned(_decoded(chunks, notes)):
        yield cleaner.clean(buffer)
    notes += cleaner.notes()


def clean_part(chunks: Iterable[bytes], cleaner: Cleaner, *, first: bool) -> Iterator[bytes]:
    """The same of a part of a text that `can_be_parted`; ``first``: its beginning.

    ``cleaner`` counts what was changed.
    """
    for buffer in _aligned(_decoded(chunks, []) if first else chunks):
        yield cleaner.clean(buffer)


def can_be_parted(head: bytes) -> bool:
    """Tell by its beginning whether a text can be read from any of its line ends: it is UTF-8, as lines."""
    return encoding_of(head[:_HEAD]) == "utf-8" and _ENVIRON.match(head) is None


def _decoded(chunks: Iterable[bytes], notes: list[str]) -> Iterator[bytes]:
    """The chunks in UTF-8, as far as the encoding of the whole can be told from the beginning."""
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
    elif _ENVIRON.match(head):
        notes.append("zero bytes were read as line ends, as in a process environment")
        yield head.replace(b"\0", b"\n")
        for part in parts:
            yield part.replace(b"\0", b"\n")
    else:
        yield head
        yield from parts


def _aligned(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Buffers that end at a line end; an endless line is shrunk while it comes in, its rest dropped."""
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
        from ncdiag.parsers.nccl_log.lines import settled  # a text that was cut off, of which a look at a host has none

        yield settled(last) + b"\n"


def _relieved(data: bytes) -> tuple[bytes, bytes, bool]:
    """Much data without LF: (what ends at a lone CR, what is kept of the rest, is more of this line to be dropped)."""
    core = data.rstrip(b"\r")  # a CR at the end may yet turn out to be a CRLF
    if not core:
        return data, b"", False
    at = core.rfind(b"\r") + 1
    if at:
        return data[:at], data[at:], False
    kept = core.translate(None, b"\0")  # a sparse file has gigabytes of them before its text
    if b"\x1b" in kept:
        kept = _ESCAPE.sub(b"", kept)
    kept = _whole_characters(kept[: LINE_LIMIT + 8])  # a little too much, so that the cut is seen and counted later
    ends = len(core) < len(data)
    return b"", kept + b"\r" * ends, len(kept) > LINE_LIMIT and not ends


class Cleaner:
    """Cleans buffer after buffer and counts what it changed."""

    def __init__(self) -> None:
        """Nothing changed yet."""
        self.binary = self.cut = self.returns = self.left_out = 0
        self.latin = False

    def clean(self, buffer: bytes) -> bytes:
        """The same lines in clean UTF-8; a buffer of clean ASCII is returned as it is."""
        buffer = unpacked(buffer)
        if b"\x1b" in buffer:
            buffer = _ESCAPE.sub(b"", buffer)
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
        buffer = _CRLF.sub(b"\n", buffer) if b"\r\r" in buffer else buffer.replace(b"\r\n", b"\n")
        self.returns += buffer.count(b"\r")
        return buffer.replace(b"\r", b"\n")

    def _without_controls(self, buffer: bytes) -> bytes:
        """Zero bytes removed (holes, UTF-16 appended to another file), others made spaces, binary lines emptied."""
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
        """Bytes that are no UTF-8 are taken as Latin-1, each for itself: logs mix both; no-break blanks are blanks."""
        buffer = buffer.replace(_NO_BREAK, b" ") if _NO_BREAK in buffer else buffer
        try:
            buffer.decode()
        except UnicodeDecodeError:
            self.latin = True
            escaped = buffer.decode("utf-8", "surrogateescape").encode("utf-8", "surrogatepass")
            # U+DC80..U+DCFF, the stand-ins of the stray bytes, to U+0080..U+00FF; ED B2 and ED B3 begin nothing else
            buffer = escaped.replace(b"\xed\xb2", b"\xc2").replace(b"\xed\xb3", b"\xc3")
        return buffer.replace(codecs.BOM_UTF8, b"") if codecs.BOM_UTF8 in buffer else buffer

    def _shortened(self, buffer: bytes) -> bytes:
        lines = buffer.split(b"\n")
        for index, line in enumerate(lines):
            if len(line) > LINE_LIMIT:
                lines[index] = line[:LINE_LIMIT].decode("utf-8", "ignore").encode()  # no half character at the cut
                self.cut += 1
        return b"\n".join(lines)

    def add(self, other: Cleaner) -> None:
        """Count what another one changed in another part of the text."""
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
    """Looks at one place in every 64 KiB only."""
    at, size = 0, len(buffer)
    while size - at > LINE_LIMIT + 1:
        end = buffer.rfind(b"\n", at, at + LINE_LIMIT + 1)
        if end < 0:
            return True
        at = end + 1
    return False


def _whole_characters(data: bytes) -> bytes:
    """Without the last character, which may have been cut in two."""
    at = len(data) - 1
    while at > max(0, len(data) - 4) and data[at] & 0xC0 == 0x80:  # noqa: PLR2004  (a continuation byte of UTF-8)
        at -= 1
    return data[:at] if at >= 0 and data[at] >= 0x80 else data  # noqa: PLR2004  (beyond ASCII)


def _lines(count: int) -> str:
    return f"{count} line" if count == 1 else f"{count} lines"
