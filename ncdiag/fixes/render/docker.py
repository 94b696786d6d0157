"""For containers started with docker run (podman takes the same options)."""

from __future__ import annotations

from ncdiag.fixes.render import Change, assignment, quote

LAUNCHER = "docker"
PROGRAMS = ("docker run", "podman run", "nvidia-docker run", "nerdctl run")


def line(change: Change) -> str | None:
    """``docker run -e A=1 --shm-size=8g --ulimit memlock=-1 ...``.

    A variable of the image is emptied, which NCCL takes for unset; an empty NCCL_COMM_ID alone is an error to it.
    """
    options = [f"-e {assignment(*item)}" for item in change.env.items()]
    options += [f"-e {name}=" for name in change.unset if name != "NCCL_COMM_ID"]
    if change.shm_size:
        options.append(f"--shm-size={quote(change.shm_size)}")
    if change.memlock_unlimited:
        options.append("--ulimit memlock=-1")
    return f"docker run {' '.join(options)} ..." if options else None
