"""For /etc/nccl.conf or ~/.nccl.conf, which NCCL reads for variables that the environment does not set.

Source: NCCL v2.30.7-1 src/misc/param.cc, setEnvFile: the rest of a line after ``=`` is the value, without quotes.
"""

from __future__ import annotations

from ncdiag.fixes.render import Change

LAUNCHER = "nccl.conf"
PROGRAMS: tuple[str, ...] = ()
VALUE_LIMIT = 1023


def line(change: Change) -> str | None:
    """One ``NAME=VALUE`` per line; None if a variable is not one of NCCL or is to be unset."""
    if change.unset or not all(name.startswith("NCCL_") for name in change.env):
        return None
    if any("\n" in value or "\r" in value or len(value) > VALUE_LIMIT for value in change.env.values()):
        return None
    return "\n".join(f"{name}={value}" for name, value in change.env.items()) or None
