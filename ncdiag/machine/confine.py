"""Limits that a process sets for itself before it reads untrusted input. The kernel enforces them."""

from __future__ import annotations

import contextlib
import os
import resource
import signal


def confine(*, memory: int, seconds: float, written: int) -> None:
    """Limit this process: ``memory`` bytes of address space, ``seconds`` of time, ``written`` bytes per file.

    It gets a new session, cannot start processes (setrlimit(2): not enforced for root) and leaves no core dump. After
    ``seconds`` the kernel ends it, even if its parent has ended and whatever it is doing.
    """
    with contextlib.suppress(OSError):  # it already leads a group
        os.setsid()
    _lower(resource.RLIMIT_AS, memory)
    _lower(resource.RLIMIT_FSIZE, written)
    _lower(resource.RLIMIT_NPROC, 0)
    _lower(resource.RLIMIT_CORE, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _lower(kind: int, value: int) -> None:
    """Lower a limit, if it is not lower already; systems without this limit (macOS: address space) are skipped."""
    _, hard = resource.getrlimit(kind)
    with contextlib.suppress(OSError, ValueError):
        least = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (least, least))
