"""The commands behind the tools, for each call in a process of its own.

A hostile text costs its own time and memory alone; what a command prints never meets the protocol.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import msgspec

from ncdiag.errors import InputError

PASTE = "paste"
"""The file of a call that has its text."""
_GZIP = b"\x1f\x8b"
"""How a cleaned machine begins: what 'ncdiag collect --script' printed is one."""
_PROGRAM = "from ncdiag.assistant.running import work; work()"


class Call(msgspec.Struct, frozen=True):
    """What a process is to do.

    ``text`` goes into the file `PASTE`, ``beside`` are further words of the input, which ``commands`` name by their
    number. ``names``: the map of stand-ins to clean all this with, None to leave it as it is.
    """

    text: str
    beside: Sequence[str]
    names: str | None
    commands: Sequence[Sequence[str | int]]


class Done(msgspec.Struct, frozen=True):
    """What a command printed, and the last thing that it said on standard error."""

    output: str
    reason: str


class Outcome(msgspec.Struct, frozen=True):
    """What the commands of a call came to; ``problem`` says why none was run."""

    done: tuple[Done, ...] = ()
    problem: str = ""


async def run(call: Call, folder: Path) -> tuple[Done, ...]:
    """Run the commands in a folder of their own below ``folder``; cancelling kills the process. Raises InputError."""
    import anyio

    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "110"}
    with tempfile.TemporaryDirectory(dir=folder) as own:
        command = [sys.executable, "-c", _PROGRAM]
        made = await anyio.run_process(command, input=msgspec.json.encode(call), check=False, cwd=own, env=env)
    try:
        outcome = msgspec.json.decode(made.stdout, type=Outcome)
    except msgspec.MsgspecError as error:
        msg = "ncdiag ended without an answer; the text may need more memory than there is"
        raise InputError(msg) from error
    if outcome.problem:
        raise InputError(outcome.problem)
    return outcome.done


def work() -> None:
    """The process: a `Call` on standard input, an `Outcome` on standard output."""
    call = msgspec.json.decode(sys.stdin.buffer.read(), type=Call)
    try:
        outcome = Outcome(done=_done(call))
    except InputError as error:
        outcome = Outcome(problem=str(error))
    sys.stdout.buffer.write(msgspec.json.encode(outcome))


def _done(call: Call) -> tuple[Done, ...]:
    beside = list(call.beside)
    if call.names is None:
        Path(PASTE).write_bytes(call.text.encode("utf-8", "replace"))
    else:
        beside = _clean(call, call.names)
    return tuple(
        _ran([word if isinstance(word, str) else beside[word] for word in command]) for command in call.commands
    )


def _clean(call: Call, names: str) -> list[str]:
    """Write the text without names, addresses and secrets, and give what is beside it, with the same stand-ins.

    Raises InputError when that fails: nothing is judged then.
    """
    beside = [" ".join(line.split()) for line in call.beside]
    text = call.text if not call.text or call.text.endswith("\n") else f"{call.text}\n"
    given, made = Path("given"), Path(PASTE)
    given.write_bytes("".join([text, *(f"{line}\n" for line in beside)]).encode("utf-8", "replace"))
    if not given.stat().st_size:
        made.touch()
        return []
    said = _ran(["redact", "--quiet", f"--map={names}", f"--output={made}", str(given)])
    given.unlink()
    rows = made.read_bytes().split(b"\n")[:-1] if made.exists() else []
    if not rows or len(rows) < len(beside) or (beside and rows[0].startswith(_GZIP)):
        msg = f"the text could not be cleaned: {said.reason or 'it holds a machine, which is cleaned alone'}"
        raise InputError(msg)
    if not beside:
        return []
    made.write_bytes(b"".join(row + b"\n" for row in rows[: -len(beside)]))
    return [row.decode("utf-8", "replace") for row in rows[-len(beside) :]]


def _ran(arguments: Sequence[str]) -> Done:
    from ncdiag.cli import main

    printed, said = io.BytesIO(), io.StringIO()
    with redirect_stdout(io.TextIOWrapper(printed, encoding="utf-8", write_through=True)), redirect_stderr(said):
        main(arguments)
        output = printed.getvalue().decode("utf-8", "replace")
    return Done(output, said.getvalue().strip().rpartition("\n")[2].removeprefix("ncdiag: ")[:1000])
