"""Cleaning of bytes: what comes out, line numbers, memory, and that the size of the pieces never matters."""

from __future__ import annotations

import subprocess
import sys

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from linear import assert_linear_time

from ncdiag.text.sources import text
from ncdiag.text.sources.text import LINE_LIMIT, clean_text, encoding_of, looks_binary

LINE = "node7:4021:4021 [2] NCCL INFO Bootstrap : Using bond0:10.20.30.7<0>"


def cleaned(data: bytes, size: int = 1 << 22) -> tuple[bytes, list[str]]:
    notes: list[str] = []
    pieces = (data[at : at + size] for at in range(0, len(data), size))
    buffers = list(clean_text(pieces, notes))
    assert all(buffer.endswith(b"\n") for buffer in buffers)
    return b"".join(buffers), notes


CASES = [
    ("empty", b"", b"", []),
    ("clean", b"a\nb\n", b"a\nb\n", []),
    ("no newline at the end", b"a\nb", b"a\nb\n", []),
    ("CRLF", b"a\r\nb\r\n\r\nc", b"a\nb\n\nc\n", []),
    ("CR CR LF of a serial console", b"a\r\r\nb\r\r\n", b"a\nb\n", []),
    ("progress bar", b"1%\r2%\rdone\n", b"1%\n2%\ndone\n", ["2 lone carriage returns"]),
    ("CR at the very end", b"a\r", b"a\n", []),
    ("colours", b"\x1b[1;31mred\x1b[0m \x1b[Kend\n", b"red end\n", []),
    ("window title", b"\x1b]0;node7: top\x07a\x1b]8;;http://x\x1b\\b\n", b"ab\n", []),
    ("unterminated title keeps its text", b"\x1b]0;half\nnext\n", b"0;half\nnext\n", []),
    ("lone escape", b"a\x1b\nb\x1b", b"a\nb\n", []),
    ("charset and keypad", b"\x1b(B\x1b=\x1b>x\x1bM\n", b"x\n", []),
    ("bell, backspace", b"x" * 60 + b"\x07 \x08\n", b"x" * 60 + b"   \n", []),
    ("UTF-8 mark", b"\xef\xbb\xbfa\n", b"a\n", []),
    ("mark in the middle, two files joined", b"\xc3\xa4\n\xef\xbb\xbfb\n", b"\xc3\xa4\nb\n", []),
    ("Latin-1 and UTF-8 mixed", b"gr\xfc\xdfe gr\xc3\xbc\xc3\x9fe\n", "grüße grüße\n".encode(), ["not UTF-8"]),
    ("surrogates and stray bytes", b"\xed\xa0\x80|\x80\xbf\xc0\xff\n", "|\x80¿Àÿ\n".encode(), ["not UTF-8"]),
    ("marks of UTF-16 and cut characters", b"n\xff\xfe4 \xe4\xb8\n\xf0\x9f\x98 x\n", b"n4 \n x\n", []),
    ("Latin-1 at the end of a line", b"caf\xe9\n\xe9t\xe9 \xb0\n", "café\nété °\n".encode(), ["not UTF-8"]),
    ("VT, NEL and U+2028", "a\vb\u0085c\u2028d\u2029e\n".encode(), b"a\nb\nc\nd\ne\n", []),
    ("pages", b"\fa\n\fb\n\f\nc\fd\n", b"a\nb\n\nc\nd\n", []),
    ("zero bytes as line ends", b"one line\0and more\0\0a third\0", b"one line\nand more\n\na third\n", ["zero bytes"]),
    ("zero bytes between words", b"mpirun\0-np\0./train\0", b"mpirun-np./train\n", []),
    ("colours of cat -v", b"^[[1;31mbad^[[0m^M\n^[[32mok^[[m^M\n", b"bad\nok\n", []),
    ("colours without ESC", b"[1;31mbad[0m\n[32mok[m\n", b"bad\nok\n", []),
    ("colours of rsyslog", b"#033[32mok#033[0m\n", b"ok\n", []),
    ("no colours", b"a[3m] x[12] [7m\n", b"a[3m] x[12] [7m\n", []),
    ("hole of a sparse file", b"\0" * 9000 + b"text\n", b"text\n", []),
    ("UTF-16 appended to ASCII", b"plain words, enough of them\n" + "wide\n".encode("utf-16-le"), None, []),
    ("process environment", b"PATH=/bin\0NCCL_DEBUG=INFO\0", b"PATH=/bin\nNCCL_DEBUG=INFO\n", ["zero bytes were read"]),
]


@pytest.mark.parametrize(("name", "data", "expected", "notes"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize("size", [1, 3, 1 << 22])
def test_cleaning(name: str, data: bytes, expected: bytes | None, notes: list[str], size: int) -> None:
    result, told = cleaned(data, size)
    if expected is None:
        assert result.split(b"\n")[:2] == [b"plain words, enough of them", b"wide"]
    else:
        assert result == expected
    assert len(told) == len(notes), name
    assert all(note in sentence for note, sentence in zip(notes, told, strict=True))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("mark", [True, False])
@pytest.mark.parametrize("size", [1, 7, 4096, 1 << 22])
def test_wide_encodings_with_and_without_mark(encoding: str, mark: bool, size: int) -> None:
    content = "\r\n".join([LINE, "Größe 漢字 😀", ""] * 40)
    data = (("\ufeff" if mark else "") + content).encode(encoding)
    result, notes = cleaned(data, size)
    assert result.decode() == content.replace("\r\n", "\n")
    assert notes == [f"read as {encoding.upper()}"]


def test_a_cut_wide_character_is_no_error() -> None:
    result, _ = cleaned(LINE.encode("utf-16")[:-1])
    assert result.decode().startswith(LINE[:-1])


@pytest.mark.parametrize("head", [b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x03\0>\0\x01\0\0\0", bytes(range(256))])
def test_binary_is_told_from_text(head: bytes) -> None:
    assert looks_binary(head * 4)
    assert not looks_binary(LINE.encode() * 4)
    assert not looks_binary(LINE.encode("utf-16"))


def test_binary_lines_are_emptied_and_keep_their_numbers() -> None:
    junk = b"\x7fELF\x02\x01\x01\0\0\x03\0>\0\x01\xff\xfe\n" * 3
    result, notes = cleaned(LINE.encode() + b"\n" + junk + LINE.encode() + b"\n")
    assert result.decode().split("\n") == [LINE, "", "", "", LINE, ""]
    assert "binary data: 3 lines skipped" in notes


@pytest.mark.parametrize("length", [LINE_LIMIT - 1, LINE_LIMIT, LINE_LIMIT + 1, 3 * LINE_LIMIT, 9 << 20])
@pytest.mark.parametrize("size", [65536, 1 << 22])
@pytest.mark.parametrize("tail", [b"\nafter\n", b"\r\nafter\n", b"\rafter\n"])
def test_long_lines_are_cut_and_the_next_line_is_kept(length: int, size: int, tail: bytes) -> None:
    line = b"x" * (length - 3) + b"end"
    result, notes = cleaned(b"before\n" + line + tail, size)
    assert result == b"before\n" + line[:LINE_LIMIT] + b"\nafter\n"
    assert [note for note in notes if "longer" in note] == ["1 line longer than 64 KiB truncated"] * (
        length > LINE_LIMIT
    )


def test_a_long_line_is_cut_between_characters() -> None:
    for text_ in ("ä" * 3_000_000, "x" + "漢" * 3_000_000, "😀" * 40_000):
        result, notes = cleaned(text_.encode())
        assert text_.startswith(result.decode().rstrip("\n"))
        assert LINE_LIMIT - 4 < len(result) <= LINE_LIMIT + 1
        assert notes == ["1 line longer than 64 KiB truncated"]


def test_an_endless_progress_bar_loses_nothing() -> None:
    bar = b"".join(b"\r%7d it/s" % number for number in range(700_000))
    result, _ = cleaned(bar + b"\n" + LINE.encode() + b"\n", 65536)
    lines = result.decode().split("\n")
    assert lines[1] == "      0 it/s"
    assert lines[700_000:] == [" 699999 it/s", LINE, ""]


def test_a_hole_larger_than_all_buffers_does_not_swallow_the_text_behind_it() -> None:
    result, _ = cleaned(b"\0" * (9 << 20) + LINE.encode() + b"\n", 1 << 20)
    assert result.decode() == LINE + "\n"


pieces = st.sampled_from(
    [b"\n", b"\r", b"\r\n", b"\0", b"\x1b[31m", b"\x1b", b"]", b"\x07", b"A=1", b"\xc3\xa4", b"\xff", b"word "]
)


@examples(150)
@given(st.lists(pieces, max_size=60), st.integers(1, 9))
def test_the_size_of_the_pieces_does_not_matter(parts: list[bytes], size: int) -> None:
    data = b"".join(parts)
    assert cleaned(data, size) == cleaned(data)


@examples(200)
@given(st.binary(max_size=400))
def test_any_bytes_become_clean_lines(data: bytes) -> None:
    result, _ = cleaned(data)
    assert not set(result.decode()) & {chr(c) for c in range(32) if chr(c) not in "\t\n"}


@pytest.mark.parametrize("unit", [b"\x1b", b"\x1b[", b"\x1b]", b"\r", b"\x1b[0;0;0;0", b"\x1b ", b"\xed", b"\x07"])
def test_hostile_repetition_takes_linear_time(unit: bytes) -> None:
    assert_linear_time(cleaned, lambda size: unit * size, 125_000 // len(unit))


def test_memory_does_not_grow_with_one_endless_line() -> None:
    script = (
        "from ncdiag.text.sources.files import TextSource; import io\n"
        "class Endless(io.RawIOBase):\n"
        "    left = 600\n"
        "    def read(self, size=-1):\n"
        "        self.left -= 1\n"
        "        return b'x' * (1 << 20) if self.left >= 0 else b''\n"
        "source = TextSource('endless', Endless)\n"
        "print(sum(len(b) for b in source.buffers()), source.notes)\n"
        "print(next(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM')))\n"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    first, peak = ran.stdout.splitlines()
    assert first == f"{LINE_LIMIT + 1} ['1 line longer than 64 KiB truncated']"
    assert int(peak) < 60_000, f"peak {peak} KiB"


def test_a_clean_buffer_is_passed_on_untouched() -> None:
    buffer = (LINE + "\n").encode() * 50_000
    assert text.Cleaner().clean(buffer) is buffer


@pytest.mark.parametrize("head", [b"", b"\0", b"\0\0", b"a", b"\xff\xfe", b"\xff\xfe\0\0", bytes(range(64))])
def test_any_head_has_an_encoding(head: bytes) -> None:
    assert encoding_of(head) in {"utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"}
