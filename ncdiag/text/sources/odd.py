"""What an input is that holds no text of the field: a core dump, a program, nothing, zero bytes, a foreign folder.

Source of the format: System V ABI, ELF header and notes; Linux include/uapi/linux/elf.h and include/linux/elfcore.h
(``NT_PRSTATUS`` begins with the signal, ``NT_PRPSINFO`` has the name of the program) for 64-bit machines.
"""

from __future__ import annotations

import signal
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from ncdiag.base.patterns import lazy_regex
from ncdiag.text.sources import archives

_ELF, _CORE, _LIBRARY, _64_BIT = b"\x7fELF", 4, 3, 2
_NOTES = 4  # PT_NOTE
_PRSTATUS, _PRPSINFO, _NAME_AT, _NAME_LENGTH = 1, 3, 40, 16
_MOST_HEADERS, _MOST_NOTES = 4096, 1 << 20
_FIELD = lazy_regex(
    rb"(?i)\b(?:nccl|rccl|hccl|cuda|nvidia|amdgpu|rocm|ascend|gpus?|torch|tensorflow|jax|mpirun|mpi|slurm\w*|srun|ranks?"
    rb"|mlx\d|infiniband|roce|rdma|ibv_\w+|efa|nvlink|xid|traceback|killed"
    rb"|inet6?|mtu|qdisc|iptables|firewalld?|docker|podman|kubectl|ulimit|memlock|ssh|bandwidth)\b"
)
"""Words of which a log, an output or a question about a job has at least one."""
_FEW, _READ = 8, 1 << 16
_PLACES, _BLOCK = 16, 4096
_WANTS = "give the output of the job or of a tool"


def what_else(opened: BinaryIO, head: bytes, size: int) -> str | None:
    """What the file is if it holds no text, as the end of a sentence (``empty (0 bytes)``); None for a possible text.

    ``head``: its first bytes. Of a large file, the beginning and some places are read.
    """
    if not head:
        return "empty (0 bytes)"
    if head.startswith(_ELF):
        return _of_elf(opened, head)
    if not any(head) and not any(any(block) for block in _blocks(opened, size)):
        return f"full of zero bytes ({size} bytes)"
    return None


def is_foreign(paths: Iterable[str]) -> bool:
    """Are these several texts, with no word of the field in the beginning of any? Packed files are not opened."""
    count = 0
    for count, path in enumerate(paths, 1):  # noqa: B007  (the last number is the count)
        with Path(path).open("rb") as opened:
            head = opened.read(_READ)
        if archives.kind_of(head) is not None or _FIELD.search(head):
            return False
    return count >= _FEW


def _blocks(opened: BinaryIO, size: int) -> Iterator[bytes]:
    """Blocks from places that are evenly spread over the file."""
    for place in range(_PLACES + 1):
        opened.seek(max(0, size * place // _PLACES - _BLOCK))
        yield opened.read(_BLOCK)


def _of_elf(opened: BinaryIO, head: bytes) -> str:
    if len(head) < 64 or head[4] != _64_BIT:  # noqa: PLR2004  (the length of the header)
        return f"a program or core dump (ELF); {_WANTS}"
    order = ">" if head[5] == 2 else "<"  # noqa: PLR2004
    kind = struct.unpack_from(f"{order}H", head, 16)[0]
    if kind != _CORE:
        return f"a {'library or program' if kind == _LIBRARY else 'program or object file'} (ELF); {_WANTS}"
    try:
        name, number = _of_core(opened, head, order)
    except (struct.error, OSError, ValueError):
        name, number = "", 0
    of = f" of {name}" if name else ""
    return f"a core dump{of}{_ended(number)}; {_WANTS}"


def _ended(number: int) -> str:
    try:
        return f" ({signal.Signals(number).name})"
    except ValueError:
        return ""


def _of_core(opened: BinaryIO, head: bytes, order: str) -> tuple[str, int]:
    """The name of the program and the number of the signal that ended it; empty and 0 where no note has them."""
    start, size, count = struct.unpack_from(f"{order}32xQ14xHH", head)
    name, number = "", 0
    for index in range(min(count, _MOST_HEADERS)):
        opened.seek(start + index * size)
        kind, _, offset, _, _, length = struct.unpack(f"{order}IIQQQQ", opened.read(40))
        if kind != _NOTES:
            continue
        opened.seek(offset)
        for note, text in _notes(opened.read(min(length, _MOST_NOTES)), order):
            if note == _PRSTATUS and not number:
                number = struct.unpack_from(f"{order}i", text)[0]
            elif note == _PRPSINFO and not name:
                name = text[_NAME_AT : _NAME_AT + _NAME_LENGTH].split(b"\0")[0].decode("ascii", "replace")
    return name, number


def _notes(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Type and content of each note; names and contents are padded to 4 bytes."""
    at = 0
    while at + 12 <= len(data):
        named, length, note = struct.unpack_from(f"{order}III", data, at)
        start = at + 12 + (named + 3) // 4 * 4
        yield note, data[start : start + length]
        at = start + (length + 3) // 4 * 4
