"""Stacks of the threads of a process, as debuggers and profilers print them."""

from __future__ import annotations

import msgspec

from ncdiag.facts.model.base import Fact, HostName


class StackFrame(msgspec.Struct, frozen=True, omit_defaults=True):
    """A function on a stack; for compiled code without debug information ``file`` is the library."""

    function: str
    file: str | None = None
    line: int | None = None


class StackThread(msgspec.Struct, frozen=True, omit_defaults=True):
    """A thread with its stack, the innermost function first; ``is_main``: is it marked as the main thread?"""

    name: str | None = None
    is_main: bool | None = None
    frames: tuple[StackFrame, ...] = ()


class StackDump(Fact, frozen=True, kw_only=True):
    """The stacks of one process, as py-spy, gdb, pystack or Python's faulthandler prints them.

    ``local_rank`` is the option ``--local-rank`` of its command line. ``has_failed``: it was printed because the
    process failed (a signal, an exception), so it shows where that was, and not where the process waits.
    ``copies_in``: the function or library of MPI or UCX that was copying a message when the process failed.
    """

    host: HostName | None = None
    pid: int | None = None
    rank: int | None = None
    local_rank: int | None = None
    program: str | None = None
    has_failed: bool = False
    copies_in: str | None = None
    threads: tuple[StackThread, ...] = ()
