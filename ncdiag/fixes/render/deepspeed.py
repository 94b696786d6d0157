"""For DeepSpeed's launcher: it exports the lines of ~/.deepspeed_env on every host.

Source: DeepSpeed deepspeed/launcher/runner.py: one NAME=VALUE per line, no comments, and older releases insert the
value unchanged into a shell command; variables whose names begin with NCCL are also passed on from the launching shell.
"""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.fixes.render import Change, assignment

LAUNCHER = "deepspeed"
PROGRAMS = ("deepspeed",)

_PLAIN = lazy_regex(r"[\w@%+:,./^=-]*")
"""A value that a shell does not change in an assignment, quoted or not."""


def line(change: Change) -> str | None:
    """Append the lines to the file; variables to unset are removed from the launching shell."""
    if not all(_PLAIN.fullmatch(value) for value in change.env.values()):
        return None
    parts = []
    if change.env:
        lines = " ".join(assignment(*item) for item in change.env.items())
        parts.append(f"printf '%s\\n' {lines} >> ~/.deepspeed_env")
    if change.unset:
        parts.append(f"env {' '.join(f'-u {name}' for name in change.unset)} deepspeed ...")
    return "\n".join(parts) or None
