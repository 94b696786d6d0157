"""The process of one analysis, as controlled by the server: start, wait, and end when it takes too long.

Every analysis has a separate process, so that its memory is freed and its errors affect nothing else. If the system
supports it, it is forked from a process that has already loaded the rules (multiprocessing's fork server).
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import tempfile
from collections.abc import Iterator
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import anyio
import anyio.to_thread
import msgspec

from ncdiag.apps.web.worker import OUTCOME, Outcome, Work, analyse

_FORKS = "forkserver" in multiprocessing.get_all_start_methods()
_CONTEXT = multiprocessing.get_context("forkserver") if _FORKS else multiprocessing.get_context("spawn")
_LONGEST_FOLDER = 60
_OUTCOME_LIMIT = 64 << 20
"""Maximum size in bytes of an outcome that is sent to a browser."""


async def make_ready() -> None:
    """Start the process from which the others are forked; it loads the rules in the meantime."""
    if _FORKS:
        from multiprocessing import forkserver

        _CONTEXT.set_forkserver_preload(["ncdiag.apps.web.warm"])
        with _short_paths():
            await anyio.to_thread.run_sync(forkserver.ensure_running)


@contextlib.contextmanager
def _short_paths() -> Iterator[None]:
    """Let the fork server put its sockets into a folder with a short path (unix(7): 108 bytes including the name).

    It creates its folder once, below tempfile's; Python 3.14 does this by itself.
    """
    usual = tempfile.tempdir
    if len(os.fsencode(tempfile.gettempdir())) > _LONGEST_FOLDER:
        tempfile.tempdir = "/tmp"  # noqa: S108  (mkdtemp makes a private folder in it)
    try:
        yield
    finally:
        tempfile.tempdir = usual


async def run(work: Work) -> Outcome:
    """Run an analysis. If this is cancelled, its process ends."""
    process = _CONTEXT.Process(target=analyse, args=(work,), daemon=True)
    with anyio.CancelScope(shield=True):  # a process that is being started cannot be ended yet
        await anyio.to_thread.run_sync(process.start)
    try:
        ended = await anyio.to_thread.run_sync(_wait, process.sentinel, work.seconds, abandon_on_cancel=True)
    finally:
        _kill(process)  # at once: when the server ends, awaits here do not complete
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(process.join)
    if not ended:
        return Outcome(word="too_slow")
    return _outcome(Path(work.folder, OUTCOME))


def end_all() -> None:
    """End the analyses that still run."""
    for process in multiprocessing.active_children():
        _kill(process)
        process.join()


def _wait(sentinel: int, seconds: float) -> bool:
    return bool(connection.wait([sentinel], seconds))


def _kill(process: BaseProcess) -> None:
    """End the process and its children."""
    if process.is_alive():
        with contextlib.suppress(OSError, AttributeError):  # it ended, leads no group yet, or there are no groups
            if process.pid is not None and os.getpgid(process.pid) == process.pid:
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()


def _outcome(path: Path) -> Outcome:
    """The outcome that the process wrote; a failure if there is none because the kernel ended it."""
    try:
        if path.stat().st_size > _OUTCOME_LIMIT:
            return Outcome(word="answer_too_large")
        return msgspec.json.decode(path.read_bytes(), type=Outcome)
    except FileNotFoundError:
        return Outcome(word="died")
