"""For the container of a Kubernetes manifest (Pod, PyTorchJob, MPIJob, ...)."""

from __future__ import annotations

import re

import msgspec

from ncdiag.base.patterns import lazy_regex
from ncdiag.fixes.render import Change, emptied, is_expanded, started_by

LAUNCHER = "k8s"
PROGRAMS = ("kubernetes",)
TAG = r"\[pod/"  # kubectl logs --prefix

_DOCKER_SIZE = lazy_regex(r"(?P<number>\d{1,6})(?P<unit>[kmgt])b?", re.IGNORECASE)


def line(change: Change) -> str | None:
    """``env:`` of the container, the right to lock memory, and a /dev/shm in memory.

    A variable of the image is set to nothing if NCCL treats that as unset; else the program is started with ``env -u``.
    """
    empty, removed = emptied(change.unset)
    pairs = [*(item for item in change.env.items() if not is_expanded(item[1])), *((name, "") for name in empty)]
    lines = ["env:"] if pairs else []
    for name, value in pairs:
        lines += [f"- name: {name}", f"  value: {_scalar(value)}"]
    first = started_by(change, removed)
    if first:
        lines += ["# remove them from env; where the image sets them, begin the command with:"] if removed else []
        lines += [f"command: {_list(first)}" + ("" if removed else "   # before the words of the command")]
    if change.memlock_unlimited:
        lines += ["securityContext:", "  capabilities:", '    add: ["IPC_LOCK"]']
    size = _DOCKER_SIZE.fullmatch(change.shm_size) if change.shm_size else None
    if size:
        lines += ["volumeMounts:", "- name: shm", "  mountPath: /dev/shm", "# beside containers:", "volumes:",
                  "- name: shm", "  emptyDir:", "    medium: Memory",
                  f"    sizeLimit: {size['number']}{size['unit'].upper()}i"]  # fmt: skip
    return "\n".join(lines) or None


def _list(words: list[str]) -> str:
    return f"[{', '.join(map(_scalar, words))}]"


def _scalar(value: str) -> str:
    """A double-quoted YAML scalar, which JSON's strings are; ``$(NAME)`` would be expanded by the kubelet."""
    sound = value.encode("utf-8", "replace").decode()
    return msgspec.json.encode(sound.replace("$(", "$$(")).decode()
