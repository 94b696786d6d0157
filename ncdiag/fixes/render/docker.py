"""For containers started with docker run (podman takes the same options)."""

from __future__ import annotations

import shlex

from ncdiag.fixes.render import Change, assignment, emptied, is_expanded, quote, started_by

LAUNCHER = "docker"
PROGRAMS = ("docker run", "podman run", "nvidia-docker run", "nerdctl run")


def line(change: Change) -> str | None:
    """``docker run -e A=1 -e B= --shm-size=8g --ulimit memlock=-1 ... IMAGE env -u C PROGRAM``.

    A variable that the image sets cannot be unset from outside: it is set to nothing if NCCL treats that as unset, else
    removed by ``env -u`` in the container. A value that contains the container's own is set there too.
    """
    empty, removed = emptied(change.unset)
    options = [f"-e {assignment(*item)}" for item in change.env.items() if not is_expanded(item[1])]
    options += [f"-e {name}=" for name in empty]
    if change.shm_size:
        options.append(f"--shm-size={quote(change.shm_size)}")
    if change.memlock_unlimited:
        options.append("--ulimit memlock=-1")
    first = started_by(change, removed)
    if not options and not first:
        return None
    inside = f" IMAGE {shlex.join(first)} PROGRAM ..." if first else ""
    return " ".join(["docker run", *options, "..."]) + inside
