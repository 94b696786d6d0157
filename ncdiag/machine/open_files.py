"""How many files this process may have open."""

from __future__ import annotations

import contextlib
import resource

from ncdiag.base.errors import UsageError


def raised(wanted: int) -> int:
    """How many files may be open, after the soft limit was raised to ``wanted`` or as far as that is allowed.

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
    """Raise the soft limit of open files to ``needed``; UsageError, which names the purpose, when that is refused."""
    if (most := raised(needed)) < needed:
        msg = f"{purpose} needs {needed} open files, but the limit is {most} (ulimit -Hn)"
        raise UsageError(msg)
