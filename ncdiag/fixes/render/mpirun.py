"""For Open MPI: ``-x NAME=VALUE`` sets the variable for every rank, whatever its host's environment contains."""

from __future__ import annotations

from ncdiag.fixes.render import Change, assignment

LAUNCHER = "mpirun"
PROGRAMS = ("mpirun", "mpiexec", "orterun", "prterun")
TAG = r"\[(?:\d{1,9}|[\w.-]{1,200}@\d{1,9}),[^\]]{1,200}\]<std(?:out|err)>"  # --tag-output, --output tag


def line(change: Change) -> str | None:
    """``env -u B mpirun -x A=1 ...``: mpirun cannot unset, so the variable must neither reach it nor follow -x."""
    given = " ".join(f"-x {assignment(*item)}" for item in change.passed.items() if item[0] in change.unset)
    without = "".join(f"-u {name} " for name in change.unset if name not in change.passed)
    options = "".join(f"-x {assignment(*item)} " for item in change.env.items())
    if not without and not options and not given:
        return None
    command = f"env {without}mpirun {options}..." if without else f"mpirun {options}..."
    return f"{command}  # without {given}" if given else command
