"""Files, folders, archives and streams, real ones; what cannot be read is told, never raised twice, never lost."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import importlib.util
import io
import lzma
import os
import random
import re
import socket
import stat
import struct
import sys
import tarfile
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ncdiag.base.errors import InputError, NoTextError
from ncdiag.text.sources import archives, files
from ncdiag.text.sources.files import File, TextSource, open_sources
from ncdiag.text.sources.model import Packed, Unreadable

LOG = b"node3:71:71 [0] NCCL INFO cudaDriverVersion 12040\nnode3:71:88 [0] NCCL INFO NET/IB : No device found.\n"


def read(*paths: str | Path, stdin: bytes | None = None) -> list[tuple[str, bytes, list[str]]]:
    """(name, content, notes) of every source, (name, b"!" + reason, []) of what is not readable."""
    result: list[tuple[str, bytes, list[str]]] = []
    stream = io.BytesIO(stdin) if stdin is not None else None
    for source in open_sources([str(path) for path in paths], stdin=stream):
        if isinstance(source, Unreadable):
            result.append((source.name, b"!" + source.reason.encode(), []))
        else:
            assert not isinstance(source, Packed)
            content = b"".join(source.buffers())
            result.append((source.name, content, source.notes))
    return result


def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "rank0.log"
    path.write_bytes(LOG)
    source = next(open_sources([str(path)]))
    assert isinstance(source, File)
    assert (source.name, source.path) == (str(path), str(path))
    assert b"".join(source.buffers()) == LOG
    assert b"".join(source.buffers()) == LOG, "a file can be read again"


def test_a_file_with_one_line_end(tmp_path: Path) -> None:
    (tmp_path / "blank").write_bytes(b"\n")
    assert read(tmp_path / "blank") == [(str(tmp_path / "blank"), b"\n", [])]


def _core(*, order: str = "<") -> bytes:
    """A core dump of ``trainer`` that SIGBUS ended: a header, a program header and two notes."""
    state = struct.pack(f"{order}III", 5, 16, 1) + b"CORE\0\0\0\0" + struct.pack(f"{order}i", 7) + bytes(12)
    info = struct.pack(f"{order}III", 5, 56, 3) + b"CORE\0\0\0\0" + bytes(40) + b"trainer".ljust(16, b"\0")
    notes = state + info
    ident = b"\x7fELF\x02" + (b"\x01" if order == "<" else b"\x02") + b"\x01" + bytes(9)
    header = ident + struct.pack(f"{order}HHIQQQIHHHHHH", 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    return header + struct.pack(f"{order}IIQQQQQQ", 4, 0, 120, 0, 0, len(notes), 0, 4) + notes


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "empty (0 bytes)"),
        (bytes(9000), "full of zero bytes (9000 bytes)"),
        (_core(), "a core dump of trainer (SIGBUS); give"),
        (_core(order=">"), "a core dump of trainer (SIGBUS); give"),
        (_core()[:90], "a core dump; give"),
        (b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\0" + bytes(60), "a program or object file (ELF); give"),
        (b"\x7fELF\x01", "a program or core dump (ELF); give"),
    ],
    ids=["empty", "zeros", "core", "core of another byte order", "cut core", "program", "cut"],
)
def test_what_a_file_without_text_is(tmp_path: Path, content: bytes, what: str) -> None:
    place = tmp_path / "odd"
    place.write_bytes(content)
    with pytest.raises(NoTextError, match=re.escape(f"{place} has no text to judge: {what}")):
        list(open_sources([str(place)]))
    (tmp_path / "n1.log").write_bytes(LOG)
    named = [
        source for source in open_sources([str(place), str(tmp_path / "n1.log")]) if isinstance(source, Unreadable)
    ]
    assert [each.reason.startswith(what) for each in named] == [True]


def test_a_text_after_zero_bytes_is_read(tmp_path: Path) -> None:
    (tmp_path / "sparse.log").write_bytes(bytes(9000) + LOG)
    assert [source.name for source in open_sources([str(tmp_path / "sparse.log")])] == [str(tmp_path / "sparse.log")]


@pytest.mark.parametrize(("word", "foreign"), [("settings", True), ("NCCL", False)])
def test_a_folder_without_a_word_of_the_field(tmp_path: Path, word: str, foreign: bool) -> None:
    for number in range(9):
        (tmp_path / f"{number}.cnf").write_text(f"some {word} of a program\n", encoding="utf-8")
    with pytest.raises(NoTextError, match="without a word about GPUs") if foreign else contextlib.nullcontext():
        list(open_sources([str(tmp_path)]))


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda _: None, "No such file or directory"),
        (lambda path: path.mkdir(), "the folder contains no visible file"),
        (lambda path: path.symlink_to(path), "Too many levels of symbolic links"),
        (lambda path: socket.socket(socket.AF_UNIX).bind(str(path)), "it is a socket"),
    ],
    ids=["missing", "empty folder", "link to itself", "socket"],
)
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_what_cannot_be_read_is_told_in_a_sentence(tmp_path: Path, make: Callable[[Path], None], reason: str) -> None:
    bad, good = tmp_path / "bad", tmp_path / "good.log"
    make(bad)
    good.write_bytes(LOG)
    with pytest.raises(InputError, match=f"^cannot read {bad}: {reason}"):
        read(bad)
    with pytest.raises(InputError, match=r"^none of the 2 inputs could be read$"):
        read(bad, bad)
    first, second = read(bad, good)
    assert first[0] == str(bad)
    assert first[1].decode().startswith("!" + reason)
    assert second == (str(good), LOG, [])


def test_a_device_is_refused_and_dev_null_is_empty() -> None:
    with pytest.raises(InputError, match="cannot read /dev/zero: it is a device"):
        read("/dev/zero")
    assert read("/dev/null") == [("/dev/null", b"", [])]


def test_a_name_with_a_zero_byte_is_no_traceback() -> None:
    with pytest.raises(InputError, match="null byte"):
        read("a\0b")


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_permission_denied() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder, secret = Path(name), Path(name) / "secret.log"
        secret.write_bytes(LOG)
        folder.chmod(0o755)  # another user has to get as far as the file
        secret.chmod(0)
        with as_nobody():
            if os.access(secret, os.R_OK, effective_ids=True):
                pytest.skip("this user may read everything")
            with pytest.raises(InputError, match=r"secret\.log: Permission denied$"):
                read(secret)
            assert read(folder) == [(str(secret), b"!Permission denied", [])]


def test_a_folder_is_read_sorted_without_hidden_and_binary_files(tmp_path: Path) -> None:
    for name in ("b/rank1.log", "b/rank0.log", "a/x/deep.log", ".git/config", "b/.swp", "z.log"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(LOG)
    (tmp_path / "core.1").write_bytes(b"\x7fELF" + bytes(range(256)) * 40)
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "link.log").symlink_to(tmp_path / "z.log")
    os.mkfifo(tmp_path / "pipe")
    found = read(tmp_path)
    names = [name.removeprefix(f"{tmp_path}/") for name, content, _ in found if content == LOG]
    assert names == ["link.log", "z.log", "a/x/deep.log", "b/rank0.log", "b/rank1.log"]
    told = {name.removeprefix(f"{tmp_path}/"): content for name, content, _ in found if content != LOG}
    assert told == {"pipe": b"!not read: not a regular file", str(tmp_path): b"!1 binary file in the folder not read"}


def test_a_folder_with_too_many_files_is_read_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        (tmp_path / f"{number}.log").write_bytes(LOG)
    monkeypatch.setattr(files, "FOLDER_LIMIT", 3)
    found = read(tmp_path)
    assert len(found) == 4
    assert found[-1][1] == b"!only the first 3 files of the folder were read"


def test_a_quoted_glob(tmp_path: Path) -> None:
    for name in ("r1.log", "r0.log", "other.txt"):
        (tmp_path / name).write_bytes(LOG)
    assert [Path(name).name for name, *_ in read(f"{tmp_path}/r*.log")] == ["r0.log", "r1.log"]
    with pytest.raises(InputError, match="No such file"):
        read(f"{tmp_path}/nothing*")


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gz", "bz2", "xz"])
def test_compressed_files_whatever_their_name(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "log.txt"
    path.write_bytes(pack(LOG) + pack(LOG))
    assert read(path) == [(str(path), LOG * 2, [])]
    assert read("-", stdin=path.read_bytes()) == [("-", LOG * 2, [])]


@pytest.fixture
def zstd(need: Callable[[str, object, str], None]) -> Any:  # noqa: ANN401
    """The module with which zst files are read."""
    need("zstandard", importlib.util.find_spec("zstandard"), "the module is not installed (pip install zstandard)")
    return importlib.import_module("zstandard")


def test_zst_files(tmp_path: Path, zstd: Any) -> None:  # noqa: ANN401
    path = tmp_path / "log"
    path.write_bytes(zstd.compress(LOG) + zstd.ZstdCompressor(write_checksum=True).compress(LOG))
    assert read(path) == [(str(path), LOG * 2, [])]
    assert read("-", stdin=path.read_bytes()) == [("-", LOG * 2, [])]


def test_a_tar_of_zst(tmp_path: Path, zstd: Any) -> None:  # noqa: ANN401
    path = tmp_path / "logs.tar.zst"
    inner = zstd.compress(LOG)
    path.write_bytes(zstd.compress(tar_of((entry("r0.log"), LOG), (entry("r1.log.zst"), inner), mode="w")))
    assert read(path) == [(f"{path}:r0.log", LOG, []), (f"{path}:r1.log.zst", LOG, [])]


def test_a_zst_cut_short_or_damaged(tmp_path: Path, zstd: Any) -> None:  # noqa: ANN401
    log = b"".join(b"line %d of a log that was cut\n" % number for number in range(200_000))
    packed = zstd.ZstdCompressor(write_checksum=True).compress(log)
    path = tmp_path / "log.zst"
    path.write_bytes(packed[: len(packed) // 2])
    [(_, content, notes)] = read(path)
    assert log.startswith(content[:-1])
    assert notes == ["not read to the end: the compressed data is truncated"]
    path.write_bytes(packed[:200] + bytes(100) + packed[300:])
    [(_, _, notes)] = read(path)
    assert notes[-1].startswith("not read to the end")


def test_a_bomb_of_zst_is_stopped(tmp_path: Path, zstd: Any) -> None:  # noqa: ANN401
    path = tmp_path / "bomb.zst"
    path.write_bytes(zstd.compress(bytes(512 << 20)))
    assert path.stat().st_size < 1 << 20
    [(_, content, notes)] = read(path)
    assert content == b""
    assert [note for note in notes if "expands more than 200-fold" in note]


def test_zst_without_the_module_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("compression.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)
    path = tmp_path / "log.zst"
    path.write_bytes(b"\x28\xb5\x2f\xfd\x20" + bytes(9))
    [(_, content, notes)] = read(path)
    assert not content
    assert "pip install zstandard" in notes[0]


@pytest.mark.parametrize("keep", [12, 300, -9])
def test_a_truncated_gz_gives_what_is_there(tmp_path: Path, keep: int) -> None:
    log = b"".join(b"line %d of a log that was cut\n" % number for number in range(20_000))
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(log)[:keep])
    [(_, content, notes)] = read(path)
    assert log.startswith(content[:-1])
    assert (len(content) > 1000) == (keep != 12)
    assert notes == ["not read to the end: the compressed data is truncated"]


def test_damaged_compressed_data_is_a_note(tmp_path: Path) -> None:
    path = tmp_path / "bad.gz"
    packed = bytearray(gzip.compress(random.Random(1).randbytes(5000)))
    packed[200:260] = bytes(60)
    path.write_bytes(packed)
    [(_, _, notes)] = read(path)
    assert notes[-1].startswith("binary data") or any(note.startswith("not read to the end") for note in notes)


def test_a_compression_bomb_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=1) as packed:
        for _ in range(512):
            packed.write(bytes(1 << 20))
    assert path.stat().st_size < 4 << 20
    [(_, content, notes)] = read(path)
    assert content == b""
    assert [note for note in notes if "expands more than 200-fold" in note]


def tar_of(*members: tuple[tarfile.TarInfo, bytes | None], mode: str = "w:gz") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:  # type: ignore[call-overload]
        for info, content in members:
            if content is not None:
                info.size = len(content)
            archive.addfile(info, io.BytesIO(content) if content is not None else None)
    return out.getvalue()


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
def test_tar_members_odd_ones_too(tmp_path: Path, mode: str) -> None:
    data = tar_of(
        (entry("job", tarfile.DIRTYPE), None),
        (entry("job/rank0.log"), LOG),
        (entry("/etc/absolute.log"), LOG),
        (entry("../../up.log"), LOG),
        (entry("passwd", tarfile.SYMTYPE, "/etc/passwd"), None),
        (entry("hard", tarfile.LNKTYPE, "job/rank0.log"), None),
        (entry("null", tarfile.CHRTYPE), None),
        (entry("job/rank1.log.gz"), gzip.compress(LOG)),
        (entry("inner.tar"), tar_of((entry("x"), LOG), mode="w")),
        mode=mode,
    )
    path = tmp_path / "job.tgz"
    path.write_bytes(data)
    before = sorted(tmp_path.rglob("*"))
    for found in (read(path), read("-", stdin=data)):
        prefix = found[0][0].split(":")[0]
        told = {name.removeprefix(f"{prefix}:"): content for name, content, _ in found}
        assert told == {
            "job/rank0.log": LOG, "/etc/absolute.log": LOG, "../../up.log": LOG, "job/rank1.log.gz": LOG,
            "passwd": b"!not read: a link in an archive", "hard": b"!not read: a link in an archive",
            "null": b"!not read: a device or pipe in an archive",
            "inner.tar": b"!not read: an archive within an archive",
        }  # fmt: skip
    assert sorted(tmp_path.rglob("*")) == before, "nothing is unpacked"


def test_a_tar_cut_short_keeps_its_first_members(tmp_path: Path) -> None:
    data = tar_of((entry("a.log"), LOG), (entry("b.log"), random.Random(1).randbytes(40_000)), mode="w")
    path = tmp_path / "cut.tar"
    path.write_bytes(data[:20_000])
    found = read(path)
    assert found[0] == (f"{path}:a.log", LOG, [])
    assert any("not read to the end" in note for _, _, notes in found for note in notes) or b"damaged" in found[-1][1]


def test_members_of_one_archive_are_capped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MEMBER_LIMIT", 2)
    path = tmp_path / "many.tar"
    path.write_bytes(tar_of(*[(entry(f"{n}.log"), LOG) for n in range(4)], mode="w"))
    found = read(path)
    assert len(found) == 3
    assert b"only the first 2 members" in found[-1][1]


def test_a_stale_member_says_so(tmp_path: Path) -> None:
    path = tmp_path / "two.tar"
    path.write_bytes(tar_of((entry("a"), LOG * 900), (entry("b"), LOG), mode="w"))
    first, second = open_sources([str(path)])
    assert isinstance(first, TextSource)
    assert b"".join(first.buffers()) != LOG * 900
    assert first.notes[0].startswith("not read to the end")
    assert isinstance(second, TextSource)


def test_zip_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "FREE_OUTPUT", 1 << 20)
    path = tmp_path / "job.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("logs/", "")
        archive.writestr("logs/0.log", LOG)
        archive.writestr("bomb", bytes(30 << 20))
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
    zero, bomb, odd = read(path)
    assert zero == (f"{path}:logs/0.log", LOG, [])
    assert "expands more than" in bomb[2][0]
    assert odd[1] == b"!not read: a link in an archive"
    with pytest.raises(InputError, match="zip archive cannot be read from a stream"):
        read("-", stdin=path.read_bytes()[:5000])


@pytest.mark.parametrize("mark", [b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\x00", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"])
def test_a_file_that_only_pretends_to_be_an_archive(tmp_path: Path, mark: bytes) -> None:
    path = tmp_path / "odd"
    path.write_bytes(mark + LOG)
    [(_, content, notes)] = read(path)
    assert notes or content.startswith(b"!")


def test_a_fifo_is_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_bytes(gzip.compress(LOG)))
    writer.start()
    assert read(path) == [(str(path), LOG, [])]
    writer.join()


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read("-", stdin=LOG) == [("-", LOG, [])]
    with io.TextIOWrapper(io.BytesIO(LOG)) as fake:
        monkeypatch.setattr(sys, "stdin", fake)
        assert read("-") == [("-", LOG, [])]


def test_a_stream_is_read_once() -> None:
    [source] = open_sources(["-"], stdin=io.BytesIO(LOG))
    assert isinstance(source, TextSource)
    assert b"".join(source.buffers()) == LOG
    assert b"".join(source.buffers()) == b""
    assert source.notes == ["not read to the end: a stream can be read only once"]


def test_a_file_that_vanishes_between_opening_and_reading(tmp_path: Path) -> None:
    path = tmp_path / "gone.log"
    path.write_bytes(LOG)
    [source] = open_sources([str(path)])
    path.unlink()
    assert isinstance(source, TextSource)
    assert list(source.buffers()) == []
    assert source.notes == ["not read to the end: No such file or directory"]
