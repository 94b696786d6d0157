"""Hostile inputs for the fuzzer: what happens to logs on their way, and what somebody may send on purpose.

Two sorts of damage. Those in `HARMLESS` lose, move or repeat what stands in a log without adding a word: a job that
was well must not look ill after them. Those in `ROUGH` change bytes: the program must survive them, whatever it says.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from generate import healthy

PROJECT = Path(__file__).resolve().parent.parent.parent
Damage = Callable[[bytes, random.Random], bytes]


def healthy_logs() -> list[bytes]:
    """A log of every release on every network, of a job that was well; and with the trace of its collectives."""
    jobs = [healthy.healthy_job(release, fabric) for release in healthy.RELEASES for fabric in healthy.FABRICS]
    jobs += [healthy.Job(release, "ib", gpus=2, calls=20) for release in healthy.RELEASES]
    return [healthy.healthy_log(job, seed).encode() for seed, job in enumerate(jobs)]


def pasted() -> list[bytes]:
    """The specimens of the project: outputs of every tool that is read, and whole cases."""
    folders = [PROJECT / "fixtures" / name for name in ("sections", "cases")]
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in {".txt", ".log", ".xml"})
    return [path.read_bytes() for path in files]


def captures() -> list[bytes]:
    """What tools print on machines that are well."""
    folder = PROJECT / "fixtures" / "healthy"
    return [path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".toml"]


def cut(data: bytes, chance: random.Random) -> bytes:
    """A piece of the text, from any byte to any other."""
    begin, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    return data[begin:end]


def cut_between_lines(data: bytes, chance: random.Random) -> bytes:
    """Whole lines from anywhere to anywhere: half a number at the end of a paste is another number."""
    lines = data.splitlines(keepends=True)
    begin, end = sorted(chance.randrange(len(lines) + 1) for _ in range(2))
    return b"".join(lines[begin:end])


def tail_lost(data: bytes, chance: random.Random) -> bytes:
    """The job was stopped, or the disk was full."""
    return data[: chance.randrange(len(data) + 1)]


def head_lost(data: bytes, chance: random.Random) -> bytes:
    """The log was rotated."""
    return data[chance.randrange(len(data) + 1) :]


def shuffled(data: bytes, chance: random.Random) -> bytes:
    """A collector that keeps no order."""
    lines = data.splitlines(keepends=True)
    chance.shuffle(lines)
    return b"".join(lines)


def dropped(data: bytes, chance: random.Random) -> bytes:
    """A collector that loses lines."""
    share = chance.random()
    return b"".join(line for line in data.splitlines(keepends=True) if chance.random() > share)


def repeated(data: bytes, chance: random.Random) -> bytes:
    """A collector that sends again what was not acknowledged."""
    lines = data.splitlines(keepends=True)
    return b"".join(line for line in lines for _ in range(1 + (chance.random() < 0.2)))


def torn(data: bytes, chance: random.Random) -> bytes:
    """Lines broken anywhere, as terminals and mail do."""
    out = bytearray(data)
    for place in sorted((chance.randrange(len(data) + 1) for _ in range(chance.randint(1, 20))), reverse=True):
        out[place:place] = b"\n"
    return bytes(out)


def prefixed(data: bytes, chance: random.Random) -> bytes:
    """A launcher or collector that puts something before each line."""
    marks = [
        b"[1,0]<stdout>:",
        b"0: ",
        b"2026-03-02T04:11:09.123456Z ",
        b"worker-0 | ",
        b"(pid=812, ip=10.1.2.3) ",
        b"> ",
    ]
    mark = chance.choice(marks)
    return b"".join(mark + line for line in data.splitlines(keepends=True))


def crlf(data: bytes, _: random.Random) -> bytes:
    """A Windows editor."""
    return data.replace(b"\n", b"\r\n")


def coloured(data: bytes, chance: random.Random) -> bytes:
    """A console that paints."""
    marks = [b"\x1b[31m", b"\x1b[0m", b"\x1b]0;t\x07", b"\x1b[2K"]
    return b"".join(chance.choice(marks) + line for line in data.splitlines(keepends=True))


def recoded(data: bytes, chance: random.Random) -> bytes:
    """Another encoding."""
    encoding = chance.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
    return data.decode("utf-8", "replace").encode(encoding)


def flipped(data: bytes, chance: random.Random) -> bytes:
    """Single bytes changed."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 50) if out else 0):
        out[chance.randrange(len(out))] = chance.randrange(256)
    return bytes(out)


def salted(data: bytes, chance: random.Random) -> bytes:
    """Control bytes, half characters and odd numbers in between."""
    salts = [
        b"\0", b"\x1b", b"\x9b", b"\xe2\x80", b"\xf0\x9f", b"\xff\xfe", b"\xed\xa0\x80", "\u202e".encode(), b"\r",
        b"\x0c",
        "\u2028".encode(), "\u0663".encode(), b"9" * 5000, b"-1", b"1e999", b"NaN", b"0x", b"%s", b"{}", b"\\", b"'",
    ]  # fmt: skip
    out = bytearray(data)
    for _ in range(chance.randint(1, 30)):
        place = chance.randrange(len(out) + 1)
        out[place:place] = chance.choice(salts)
    return bytes(out)


def numbers(data: bytes, chance: random.Random) -> bytes:
    """Digits replaced by other digits, more of them, or none."""
    out = bytearray()
    for byte in data:
        digit = chr(byte).isdigit() and chance.random() < 0.1
        out += chance.choice([b"", b"-", b"999999999999999999999", b"7", b"0"]) if digit else bytes([byte])
    return bytes(out)


def without_breaks(data: bytes, _: random.Random) -> bytes:
    """All on one line."""
    return data.replace(b"\n", b" ")


def spliced(data: bytes, chance: random.Random) -> bytes:
    """Pieces put together anew in the middle of lines."""
    pieces = [cut(data, chance) for _ in range(chance.randint(2, 8))]
    return b"".join(pieces)


HARMLESS: tuple[Damage, ...] = (cut, tail_lost, head_lost, shuffled, dropped, repeated, prefixed, crlf, coloured)
ROUGH: tuple[Damage, ...] = (torn, flipped, salted, numbers, without_breaks, spliced, recoded)


def by_process(log: bytes) -> list[bytes]:
    """The lines of each process; a line that names none goes to the first."""
    found: dict[bytes, list[bytes]] = {}
    for line in log.splitlines(keepends=True):
        name = line.split(b" ", 1)[0].rpartition(b":")[0] if b" NCCL " in line else next(iter(found), b"")
        found.setdefault(b":".join(name.split(b":")[:2]), []).append(line)
    return [b"".join(lines) for lines in found.values()]


def interleaved(logs: list[bytes], chance: random.Random) -> bytes:
    """The lines of several texts in turn, each in its own order."""
    queues = [log.splitlines(keepends=True)[::-1] for log in logs]
    out = []
    while queues:
        queue = chance.choice(queues)
        if queue:
            out.append(queue.pop())
        else:
            queues.remove(queue)
    return b"".join(out)


def nested(chance: random.Random) -> bytes:
    """JSON, XML and program text that is deeper, longer or larger than anybody writes."""
    depth = chance.choice([100, 1000, 100_000])
    return chance.choice([
        b"[" * depth, b'{"a":' * depth, b"[" * depth + b"]" * depth, b'{"ranks": ' + b"[" * depth + b"]" * depth + b"}",
        b"<system>" * depth, b"<system>" * depth + b"</system>" * depth, b"<graphs version='1'>" + b"<graph>" * depth,
        b'{"n": ' + b"9" * depth + b"}", b'[{"a":1},' * depth,
        b'<!DOCTYPE x [<!ENTITY a "aaa">' + b'<!ENTITY b "&a;&a;&a;&a;">' * 30 + b"]><system>&b;</system>",
        b"((((" * depth, b"a" * depth, b"$ " * depth, b"-" * depth, b"mpirun " + b"-x A=1 " * depth,
        b"export A=" + b'"' * depth,
        b"host:1:2 [0] NCCL INFO Channel 00/01 : " * (depth // 10), b"Trees [0] " + b"1/-1/-1->0->" * depth,
    ])  # fmt: skip


def bombs() -> Iterator[tuple[str, bytes]]:
    """Small files that unpack to very much: 384 MiB each, above what is unpacked without asking."""
    size = 384 << 20
    for name, opened in (("gz", _gz), ("bz2", _bz2), ("xz", _xz)):
        yield name, opened(size)


def _gz(size: int) -> bytes:
    out = io.BytesIO()
    with gzip.open(out, "wb", 9) as packed:
        for _ in range(size >> 20):
            packed.write(bytes(1 << 20))
    return out.getvalue()


def _bz2(size: int) -> bytes:
    packer = bz2.BZ2Compressor(9)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)) + packer.flush()


def _xz(size: int) -> bytes:
    packer = lzma.LZMACompressor(preset=0)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)) + packer.flush()


def archive(logs: list[bytes], chance: random.Random) -> bytes:
    """An archive or compressed file that holds the logs, in order, cut short or with flipped bytes."""
    log = chance.choice(logs)
    packers: list[Callable[[], bytes]] = [
        lambda: gzip.compress(log), lambda: bz2.compress(log), lambda: lzma.compress(log),
        lambda: gzip.compress(gzip.compress(log)),
        lambda: _tar(logs, chance, "w"), lambda: _tar(logs, chance, "w:gz"), lambda: _zip(logs),
    ]  # fmt: skip
    made = chance.choice(packers)()
    return chance.choice([_same, tail_lost, flipped, head_lost])(made, chance)


def _same(data: bytes, _: random.Random) -> bytes:
    return data


def _tar(logs: list[bytes], chance: random.Random, mode: str) -> bytes:
    """A tar with odd members: links, devices, folders, names that climb out, names twice, sizes that lie."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as tar:  # type: ignore[call-overload]
        for log in logs:
            member = tarfile.TarInfo(
                chance.choice(["a.log", "../../etc/x", "/abs", "x" * 300, "\u202egol.txt", "a\nb", "."])
            )
            member.type = chance.choice(
                [tarfile.REGTYPE] * 3
                + [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
            )
            member.linkname = chance.choice(["", "/etc/passwd", "a.log"])
            member.size = len(log) if member.isreg() else 0
            tar.addfile(member, io.BytesIO(log))
    return out.getvalue()


def _zip(logs: list[bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for number, log in enumerate(logs):
            packed.writestr(f"../{number}/a.log", log)
    return out.getvalue()
