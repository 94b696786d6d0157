"""The process of one analysis, seen from the server: started, waited for, and ended when it takes too long.

Every analysis has a process of its own, so that neither its memory nor what goes wrong in it stays. Where the system
can, it is forked from one that has read the rules already (multiprocessing's fork server).
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
"""Bytes of an outcome that are sent to a browser."""


async def make_ready() -> None:
    """Start the process from which the others are forked; it reads the rules meanwhile."""
    if _FORKS:
        from multiprocessing import forkserver

        _CONTEXT.set_forkserver_preload(["ncdiag.apps.web.warm"])
        with _short_paths():
            await anyio.to_thread.run_sync(forkserver.ensure_running)


@contextlib.contextmanager
def _short_paths() -> Iterator[None]:
    """Let the fork server put its sockets where a path is short enough for one (unix(7): 108 bytes with its name).

    It makes its folder once, below tempfile's; Python 3.14 does the same by itself.
    """
    usual = tempfile.tempdir
    if len(os.fsencode(tempfile.gettempdir())) > _LONGEST_FOLDER:
        tempfile.tempdir = "/tmp"  # noqa: S108  (mkdtemp makes a private folder in it)
    try:
        yield
    finally:
        tempfile.tempdir = usual


async def run(work: Work) -> Outcome:
    """Do an analysis. When this is cancelled, its process ends with it."""
    process = _CONTEXT.Process(target=analyse, args=(work,), daemon=True)
    with anyio.CancelScope(shield=True):  # a process that is being started cannot be ended yet
        await anyio.to_thread.run_sync(process.start)
    try:
        ended = await anyio.to_thread.run_sync(_wait, process.sentinel, work.seconds, abandon_on_cancel=True)
    finally:
        _kill(process)  # at once: when the server ends, nothing that is waited for here comes to its end
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
    """End the process and what it may have started."""
    if process.is_alive():
        with contextlib.suppress(OSError, AttributeError):  # it ended, leads no group yet, or there are no groups here
            if process.pid is not None and os.getpgid(process.pid) == process.pid:
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()


def _outcome(path: Path) -> Outcome:
    """What the process left behind; nothing is there when the kernel ended it."""
    try:
        if path.stat().st_size > _OUTCOME_LIMIT:
            return Outcome(word="answer_too_large")
        return msgspec.json.decode(path.read_bytes(), type=Outcome)
    except FileNotFoundError:
        return Outcome(word="died")
