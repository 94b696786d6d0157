"""Containers that the input shows, and what of the host they are given to see.

Sources: pyxis (``--container-mounts=SRC:DST[:FLAGS],...``), docker run (``-v``, ``--mount``).
"""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.model import Job, Launch
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.launches import POD
from ncdiag.facts.vocabulary.platforms import platforms

PYXIS = "--container-image"
PYXIS_MOUNTS = lazy_regex(
    r"--container-mounts[=\s](?P<mounts>\"[^\"\n]{1,800}\"|'[^'\n]{1,800}'|[^\s'\"]{1,800})(?=\s|$)"
)
"""The whole value, with its quotation marks: a part of it would lose mounts."""
_VOLUME = lazy_regex(r"(?:-v|--volume)[=\s][\"']?(?P<mount>[^\s\"']{1,300})")
_BIND = lazy_regex(r"--mount[=\s]\S{0,200}?\b(?:dst|destination|target)=(?P<target>[^\s,\"']{1,200})")


def is_docker(launch: Launch) -> bool:
    """Does the line start a container of docker, podman or Compose?"""
    return launch.program.startswith(("docker", "podman", "nvidia-docker", "nerdctl")) or "compose" in launch.program


def has_own_files(launch: Launch) -> bool:
    """Does the line start a container with its own file system?"""
    return PYXIS in launch.text or is_docker(launch)


def is_in_container(job: Job, view: View) -> bool:
    """Does the job run in containers, which have files of their own?"""
    return any(map(has_own_files, job.launches)) or POD in platforms(job, view)


def is_mounted(path: str, job: Job) -> bool:
    """Does a launch mount something over the path?"""
    return any(path == target or path.startswith(target.rstrip("/") + "/") for target in _targets(job))


def _targets(job: Job) -> Iterator[str]:
    for launch in job.launches:
        mounts = [
            part for found in PYXIS_MOUNTS.finditer(launch.text) for part in found["mounts"].strip("\"'").split(",")
        ]
        mounts += [found["mount"] for found in _VOLUME.finditer(launch.text)]
        yield from ([*mount.split(":"), mount][1] for mount in mounts)
        yield from (found["target"] for found in _BIND.finditer(launch.text))
