"""The limit on the number of open files of this process."""

from __future__ import annotations

import contextlib
import resource

from ncdiag.base.errors import UsageError


def raised(wanted: int) -> int:
    """Raise the soft limit on open files to ``wanted``, or as far as allowed, and return it.

    The kernel lets every process raise it up to its hard limit (setrlimit(2)).
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        return most
    return soft


def make_room(needed: int, purpose: str) -> None:
    """Raise the soft limit on open files to ``needed``; raises UsageError, which names ``purpose``, if that fails."""
    if (most := raised(needed)) < needed:
        msg = f"{purpose} needs {needed} open files, but the limit is {most} (ulimit -Hn)"
        raise UsageError(msg)
