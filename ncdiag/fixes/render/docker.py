"""For containers started with docker run (podman takes the same options)."""

from __future__ import annotations

from ncdiag.fixes.render import Change, assignment, emptied, quote

LAUNCHER = "docker"
PROGRAMS = ("docker run", "podman run", "nvidia-docker run", "nerdctl run")


def line(change: Change) -> str | None:
    """``docker run -e A=1 -e B= --shm-size=8g --ulimit memlock=-1 ... IMAGE env -u C PROGRAM``.

    A variable that the image sets cannot be unset from outside: it is set to nothing if NCCL treats that as unset, else
    removed by ``env -u`` in the container.
    """
    empty, removed = emptied(change.unset)
    options = [f"-e {assignment(*item)}" for item in change.env.items()]
    options += [f"-e {name}=" for name in empty]
    if change.shm_size:
        options.append(f"--shm-size={quote(change.shm_size)}")
    if change.memlock_unlimited:
        options.append("--ulimit memlock=-1")
    if not options and not removed:
        return None
    inside = f" IMAGE env {' '.join(f'-u {name}' for name in removed)} PROGRAM ..." if removed else ""
    return " ".join(["docker run", *options, "..."]) + inside
