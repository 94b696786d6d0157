"""Run the commands of the tools, each call in a separate process.

A hostile text costs only the time and memory of its call; the output of a command cannot disturb the protocol.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import FrameType

import msgspec

from ncdiag.apps.mcp import allowed
from ncdiag.base.errors import InputError

PASTE = "paste"
"""The file with the text of a call."""
_GZIP = b"\x1f\x8b"
"""First bytes of a redacted machine, such as the output of 'ncdiag collect --script'."""
_LINKS = Path("/proc/self/fd")
"""Here an open file can be opened again, even if its path now leads elsewhere."""
_LOOKS = 1.0
"""Seconds between checks that the server still runs."""
_SPARE = 64
"""Maximum number of files that the command itself has open."""
PROGRAM = "from ncdiag.cli import main; from ncdiag.apps.mcp.running import work; work(main)"
"""The code of a call's process; the command line is passed as an argument, because apps do not import it."""
Main = Callable[[Sequence[str]], int]
"""The command line (`ncdiag.cli.main`): words in, exit code out."""


class Call(msgspec.Struct, frozen=True):
    """The task of a process.

    ``text`` goes into the file `PASTE`, ``beside`` are further words of the input, which ``commands`` refer to by their
    number. ``names``: the map of stand-ins for redaction, None for none. ``files`` are appended to each command, by the
    names that they have in its answer. ``server``: the calling process.
    """

    text: str
    beside: Sequence[str]
    names: str | None
    commands: Sequence[Sequence[str | int]]
    files: Mapping[str, str] = {}
    server: int = msgspec.field(default_factory=os.getpid)


class Done(msgspec.Struct, frozen=True):
    """The output of a command, and the last line of its standard error."""

    output: str
    reason: str


class Outcome(msgspec.Struct, frozen=True):
    """The results of a call; ``unread`` says why files were left out, ``problem`` why no command was run."""

    done: tuple[Done, ...] = ()
    unread: tuple[str, ...] = ()
    problem: str = ""


async def run(call: Call, folder: Path) -> Outcome:
    """Run the commands in a new folder below ``folder``; cancelling kills the process. Raises InputError."""
    import anyio

    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "110"}
    with tempfile.TemporaryDirectory(dir=folder) as own:
        command = [sys.executable, "-c", PROGRAM]
        made = await anyio.run_process(command, input=encoded(call), check=False, cwd=own, env=env)
    try:
        outcome = msgspec.json.decode(made.stdout, type=Outcome)
    except msgspec.MsgspecError as error:
        msg = "ncdiag ended without an answer; the text may need more memory than is available"
        raise InputError(msg) from error
    if outcome.problem:
        raise InputError(outcome.problem)
    return outcome


def encoded(call: Call) -> bytes:
    """The call as JSON for `work`, by the standard library, because msgspec rejects file names that are not UTF-8."""
    return json.dumps(msgspec.to_builtins(call)).encode()


def work(main: Main) -> None:
    """The process of a call: reads a `Call` from standard input, writes its `Outcome` to standard output."""
    call = msgspec.convert(json.loads(sys.stdin.buffer.read()), Call)
    _end_with(call.server)
    try:
        outcome = _outcome(call, main)
    except InputError as error:
        outcome = Outcome(problem=str(error))
    sys.stdout.buffer.write(msgspec.json.encode(outcome))


def _end_with(server: int) -> None:
    """End this process once the server has ended, because no time limit would.

    Uses a timer: a process with a second thread cannot fork its workers.
    """

    def look(_number: int, _frame: FrameType | None) -> None:
        if os.getppid() != server:
            os._exit(1)

    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, look)
        signal.setitimer(signal.ITIMER_REAL, _LOOKS, _LOOKS)


def _outcome(call: Call, main: Main) -> Outcome:
    beside = list(call.beside)
    if call.names is None:
        Path(PASTE).write_bytes(call.text.encode("utf-8", "replace"))
    else:
        beside = _clean(call, call.names, main)
    files, unread = placed(call.files)
    commands = ([word if isinstance(word, str) else beside[word] for word in command] for command in call.commands)
    return Outcome(tuple(_ran([*command, *files], main) for command in commands), unread)


def placed(files: Mapping[str, str]) -> tuple[list[str], tuple[str, ...]]:
    """Link each file, as it is when it is opened, into this folder; returns (names, why others are left out).

    A later change of a path has no effect. Raises InputError if no file can be read, or if there are too many.
    """
    room = _open_at_once(len(files) + _SPARE) - _SPARE
    if len(files) > room:
        msg = f"{len(files)} files were given, but only {room} can be open at once; give fewer, or an archive of them"
        raise InputError(msg)
    reasons = {name: _place(Path(name), file) for name, file in files.items()}
    count = Counter(filter(None, reasons.values()))
    unread = tuple(f"{n} {'file was' if n == 1 else 'files were'} not read: {why}" for why, n in sorted(count.items()))
    placed = [name for name, why in reasons.items() if not why]
    if files and not placed:
        raise InputError("; ".join(unread))
    return placed, unread


def _place(place: Path, file: str) -> str:
    """Link one file into this folder; returns why that failed, or an empty text."""
    try:
        descriptor = allowed.opened(file)
        place.parent.mkdir(parents=True, exist_ok=True)
        if _LINKS.is_dir():  # it stays open as long as the process lives, whose number its workers need
            place.symlink_to(f"/proc/{os.getpid()}/fd/{descriptor}")
        else:
            with os.fdopen(descriptor, "rb") as held, place.open("xb") as copy:
                shutil.copyfileobj(held, copy)
    except OSError as error:
        return error.strerror or str(error)
    return ""


def _open_at_once(wanted: int) -> int:
    """How many files may be open at once, after raising the limit to ``wanted`` if possible."""
    try:
        from ncdiag.machine import open_files
    except ImportError:  # Windows
        return wanted
    return open_files.raised(wanted)


def _clean(call: Call, names: str, main: Main) -> list[str]:
    """Write the text without names, addresses and secrets, and return ``beside`` with the same stand-ins.

    Raises InputError if that fails: then nothing is judged.
    """
    beside = [" ".join(line.split()) for line in call.beside]
    text = call.text if not call.text or call.text.endswith("\n") else f"{call.text}\n"
    given, made = Path("given"), Path(PASTE)
    given.write_bytes("".join([text, *(f"{line}\n" for line in beside)]).encode("utf-8", "replace"))
    if not given.stat().st_size:
        made.touch()
        return []
    said = _ran(["redact", "--quiet", f"--map={names}", f"--output={made}", str(given)], main)
    given.unlink()
    rows = made.read_bytes().split(b"\n")[:-1] if made.exists() else []
    if not rows or len(rows) < len(beside) or (beside and rows[0].startswith(_GZIP)):
        why = said.reason or "it is a recorded host, which must be redacted on its own"
        msg = f"the text could not be redacted: {why}"
        raise InputError(msg)
    if not beside:
        return []
    made.write_bytes(b"".join(row + b"\n" for row in rows[: -len(beside)]))
    return [row.decode("utf-8", "replace") for row in rows[-len(beside) :]]


def _ran(arguments: Sequence[str], main: Main) -> Done:
    printed, said = io.BytesIO(), io.StringIO()
    with redirect_stdout(io.TextIOWrapper(printed, encoding="utf-8", write_through=True)), redirect_stderr(said):
        main(arguments)
        output = printed.getvalue().decode("utf-8", "replace")
    return Done(output, said.getvalue().strip().rpartition("\n")[2].removeprefix("ncdiag: ")[:1000])
