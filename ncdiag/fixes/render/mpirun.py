"""For Open MPI: ``-x NAME=VALUE`` gives every rank the variable, whatever its host's environment says."""

from __future__ import annotations

from ncdiag.fixes.render import Change, assignment

LAUNCHER = "mpirun"
PROGRAMS = ("mpirun", "mpiexec", "orterun", "prterun")
TAG = r"\[(?:\d{1,9}|[\w.-]{1,200}@\d{1,9}),[^\]]{1,200}\]<std(?:out|err)>"  # --tag-output, --output tag


def line(change: Change) -> str | None:
    """``env -u B mpirun -x A=1 ...``: mpirun cannot unset, so the variable must not reach it, nor are behind -x."""
    without = "".join(f"-u {name} " for name in change.unset)
    options = "".join(f"-x {assignment(*item)} " for item in change.env.items())
    if not without and not options:
        return None
    return f"env {without}mpirun {options}..." if without else f"mpirun {options}..."
