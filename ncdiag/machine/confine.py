"""Limits that a process sets itself before it touches an input that may be hostile. The kernel keeps them."""

from __future__ import annotations

import contextlib
import os
import resource
import signal


def confine(*, memory: int, seconds: float, written: int) -> None:
    """Bound this process: ``memory`` bytes of address space, ``seconds`` of time, ``written`` bytes in one file.

    It gets a session of its own, starts no process (setrlimit(2): that limit does not bind root), leaves no core dump,
    and after the time the kernel ends it, even if whoever started it is gone and whatever it does then.
    """
    with contextlib.suppress(OSError):  # it leads a group already
        os.setsid()
    _lower(resource.RLIMIT_AS, memory)
    _lower(resource.RLIMIT_FSIZE, written)
    _lower(resource.RLIMIT_NPROC, 0)
    _lower(resource.RLIMIT_CORE, 0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _lower(kind: int, value: int) -> None:
    """Set a limit, or leave the one that is lower; systems without one (macOS: address space) go without."""
    _, hard = resource.getrlimit(kind)
    with contextlib.suppress(OSError, ValueError):
        least = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (least, least))
