"""The job as a child process: started as a shell does, with signals passed on and its exit status reported.

With a terminal, the job stays in the process group of ncdiag: Ctrl-C and Ctrl-Z reach both from the kernel, as without
ncdiag, and only signals that others send to ncdiag are passed on, to the job's first process. ncdiag stops when the job
has stopped. Without a terminal, the job has a separate process group, and every signal is passed on to all of it, once.

Signals are waited for (sigtimedwait(2)), not handled: none interrupts other work, and the end of the job is noticed at
once.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from ncdiag.apps.watching.outputs import Action
from ncdiag.base.errors import NcdiagError

NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""Exit codes for a command that does not exist or cannot be executed, as in shells."""
_PASSED_ON = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGTSTP", "SIGCONT")
_LONG = 3600.0
"""Maximum seconds of one call; longer waits (``inf``) are split."""
_KEYS = frozenset({signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP} if os.name == "posix" else ())
"""Signals that the kernel sends to all processes at the terminal when a key is pressed."""


class NotStartedError(NcdiagError):
    """The command could not be started."""

    def __init__(self, sentence: str, exit_code: int) -> None:
        """``exit_code`` is the one that a shell would return."""
        super().__init__(sentence)
        self.exit_code = exit_code


class Job:
    """A running command."""

    def __init__(
        self, argv: Sequence[str], environment: Mapping[str, str], actions: Sequence[Action],
        resized: Callable[[], bool] = lambda: False,
    ) -> None:  # fmt: skip
        """Start it. ``resized`` copies the size of the terminal, and is True if it changed. Raises NotStartedError."""
        if not argv[0]:  # an unset variable
            msg = "the command to run is empty"
            raise NotStartedError(msg, NOT_FOUND)
        self.code: int | None = None
        """Its exit code once it has ended; the negative number of the signal that killed it."""
        self.stops = 0
        """How often ncdiag was stopped with it."""
        self.interrupted = -math.inf
        """The time of the last SIGINT, by `time.monotonic`."""
        self._resized = resized
        self._has_group = not _has_terminal()
        numbers = {getattr(signal, name) for name in (*_PASSED_ON, "SIGWINCH")}
        # signals that are ignored here (nohup) are ignored by the job
        self._taken = {number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN}
        self._before = signal.pthread_sigmask(signal.SIG_BLOCK, {*self._taken, signal.SIGCHLD})
        spawn = functools.partial(os.posix_spawnp, setpgroup=0) if self._has_group else os.posix_spawnp
        try:
            self.pid = spawn(
                argv[0], list(argv), dict(environment), file_actions=list(actions), setsigmask=self._before,
                setsigdef=[signal.SIGPIPE, signal.SIGXFSZ],  # Python ignores these
            )  # fmt: skip
        except OSError as error:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._before)
            missing = isinstance(error, FileNotFoundError)
            msg = f"cannot run {argv[0]}: {error.strerror}"
            raise NotStartedError(msg, NOT_FOUND if missing else NOT_EXECUTABLE) from None

    def wait(self, seconds: float) -> bool:
        """Pass signals on until the job has ended (True) or the time is over."""
        deadline = time.monotonic() + seconds
        while not self._has_ended():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            taken = signal.sigtimedwait({*self._taken, signal.SIGCHLD}, min(left, _LONG))
            if taken is not None and taken.si_signo != signal.SIGCHLD:
                self._pass_on(taken)
        return True

    def _has_ended(self) -> bool:
        if self.code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG | os.WUNTRACED)
            if pid and os.WIFSTOPPED(status):  # the parent of ncdiag sees that the job stopped
                self._stop()
            elif pid:
                self.code = os.waitstatus_to_exitcode(status)
                if signal.SIGINT in signal.sigpending():  # the kernel sent it to the job, too
                    self.interrupted = time.monotonic()
        return self.code is not None

    def _pass_on(self, taken: signal.struct_siginfo) -> None:
        number, by_kernel = taken.si_signo, taken.si_code > 0
        if number in {signal.SIGWINCH, signal.SIGCONT}:  # no message on a new size while in the background
            self._follow_size()
        if number == signal.SIGWINCH:
            return
        if number == signal.SIGINT:
            self.interrupted = time.monotonic()
        if self._has_group or not (by_kernel and number in _KEYS):
            self._send(number)

    def _follow_size(self) -> None:
        """The kernel reported a new size to the job before its pseudo-terminal had it: report it again."""
        if self._resized():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid if self._has_group else os.getpgrp(), signal.SIGWINCH)

    def _send(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._has_group:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)

    def _stop(self) -> None:
        """Stop as the job did, until both are continued.

        Without a shell that could do that, the kernel does not stop it.
        """
        self.stops += 1
        os.kill(os.getpid(), signal.SIGTSTP)  # while it is blocked it is one with that of the key, if that still waits
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTSTP})
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTSTP} & self._taken)

    def end(self, grace: float) -> None:
        """End the job and all its descendants: SIGTERM, and SIGKILL ``grace`` seconds later."""
        started = [self.pid, *descendants(self.pid)]
        for number in (signal.SIGTERM, signal.SIGCONT):
            _kill(started, number)
        if not self.wait(grace):
            _kill(started := [*started, *descendants(self.pid)], signal.SIGKILL)
            self.wait(grace)
        else:
            _kill(started[1:], signal.SIGKILL)

    def release(self) -> None:
        """Signals go to ncdiag again; pending ones that came too late for the job are dropped."""
        while self._taken and signal.sigtimedwait(self._taken, 0) is not None:
            pass
        signal.pthread_sigmask(signal.SIG_SETMASK, self._before)


def die_of(number: int) -> None:
    """End this process by the signal that ended the job, without a core dump, so that callers see the same status."""
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)
    with contextlib.suppress(OSError):  # SIGKILL has no handler to reset
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)


_SET_DUMPABLE = 4  # PR_SET_DUMPABLE, prctl(2)


def _has_terminal() -> bool:
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True


def _kill(pids: Sequence[int], number: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def descendants(pid: int) -> list[int]:
    """All descendants of a process."""
    parents: dict[int, list[int]] = {}
    for child, parent in _parents():
        parents.setdefault(parent, []).append(child)
    found, at = [pid], 0
    while at < len(found):
        found += parents.get(found[at], ())
        at += 1
    return found[1:]


def _parents() -> Iterator[tuple[int, int]]:
    """(process, parent) of each process (proc_pid_stat(5): the fields after the name in parentheses)."""
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            yield int(place.name), int((place / "stat").read_text().rpartition(")")[2].split()[1])
