"""Encode bytes as lines that survive their transport, and end a process together with its caller.

``srun``, ``mpirun`` and shells mix banners, labels and the lines of other hosts with those of a host. Therefore each
line contains its host and its number; `ncdiag.apps.cluster.envelope` puts them together.
"""

import base64
import contextlib
import os
import signal
import socket
import stat
import sys
import threading
import zlib
from typing import Callable, Iterator, List

MARK = "NCDIAG1"
_WIDTH = 600
"""Characters of data in a line: Slurm cuts lines of 1,024."""
_RECORD = 4096
"""Bytes that mpirun reads at once (IOF_BASE_MSG_MAX): other ranks may be inserted between, in the middle of a line."""


def own_name() -> str:
    """The name under which this host was requested: Slurm's name in a Slurm step."""
    return os.environ.get("NCDIAG_HOST") or socket.gethostname()


def wrapped(data: bytes, host: str) -> Iterator[str]:
    """Records of lines: ``NCDIAG1 HOST NUMBER BASE64`` for each piece of the compressed data, then ``... end COUNT``.

    Blanks fill each record to `_RECORD` bytes.
    """
    name = "".join(letter if letter.isalnum() or letter in "-._" else "_" for letter in host) or "_"
    text = base64.b64encode(zlib.compress(data, 6)).decode("ascii")
    pieces = [text[begin : begin + _WIDTH] for begin in range(0, len(text), _WIDTH)]
    lines = ["{} {} {} {}".format(MARK, name, number, piece) for number, piece in enumerate(pieces)]
    record = ""
    for line in [*lines, "{} {} end {}".format(MARK, name, len(pieces))]:
        if len(record) + len(line) >= _RECORD:
            yield record[:-1].ljust(_RECORD - 1) + "\n"
            record = ""
        record += line + "\n"
    yield record[:-1].ljust(_RECORD - 1) + "\n"


def leave_with_caller(seconds: float, hear: Callable[[bytes], None] = lambda _: None) -> None:
    """End this process and its children when standard input ends, or after ``seconds``.

    The caller keeps standard input open while it wants an answer: if it is killed, or the connection breaks, nothing
    remains here. ``hear`` receives what it sends.
    """
    timer = threading.Timer(seconds, _leave)
    timer.daemon = True
    timer.start()
    with contextlib.suppress(OSError, ValueError, AttributeError):
        mode = os.fstat(sys.stdin.fileno()).st_mode
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):  # /dev/null, which mpirun gives to most ranks, ends at once
            threading.Thread(target=_until_stdin_ends, args=(hear,), daemon=True).start()


def _until_stdin_ends(hear: Callable[[bytes], None]) -> None:
    while True:
        data = os.read(0, 1 << 16)
        if not data:
            _leave()
        hear(data)


def _leave() -> None:
    for process in reversed(_below(os.getpid())):
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
    os._exit(143)


def _below(parent: int) -> List[int]:
    """All descendants of a process; each child comes after its parent."""
    parents = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat", "rb") as file:
            parents[int(name)] = int(file.read().rpartition(b")")[2].split()[1])
    found = [parent]
    for process in found:
        found += [child for child, owner in parents.items() if owner == process]
    return found[1:]
