"""How many files this process may have open."""

from __future__ import annotations

import resource

from ncdiag.errors import UsageError


def make_room(needed: int, purpose: str) -> None:
    """Raise the soft limit of open files to ``needed``; UsageError, which names the purpose, when that is refused.

    The kernel lets every process raise it up to its hard limit (setrlimit(2)).
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if needed <= soft or soft == resource.RLIM_INFINITY:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    except (OSError, ValueError):
        msg = f"{purpose} takes {needed} open files, and {hard} are allowed (ulimit -Hn)"
        raise UsageError(msg) from None
