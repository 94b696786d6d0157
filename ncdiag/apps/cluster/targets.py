"""Parse the hosts of ``--nodes``: a node set with groups, a host file, or the list of ``mpirun -H``."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ncdiag.base.errors import UsageError

MISSING = "ClusterShell is not installed: pip install ClusterShell"

_SLOTS = re.compile(r"(?<=[\w\]]):\d{1,6}(?=,|$)")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,252}")
"""A host or a pod; with a leading hyphen it would be an option of ssh or kubectl."""


def targets(text: str) -> tuple[str, ...]:
    """The hosts of ``--nodes``, without repetitions, in the order of a node set. Raises UsageError if there are none.

    ``node[001-512]``, ``@group``, ``@slurm:gpu`` and their unions are parsed by ClusterShell; ``a:8,b:8`` is the form
    of ``mpirun -H``; a file name means the hosts in it (the first word of each line, without user and slots).
    """
    try:
        from ClusterShell.NodeSet import NodeSet, NodeSetException
        from ClusterShell.NodeUtils import GroupResolverError
    except ImportError:
        raise UsageError(MISSING) from None
    try:
        found = NodeSet()
        for piece in _pieces(text):
            found.update(NodeSet(_SLOTS.sub("", piece)))
    except NodeSetException as error:
        msg = f"--nodes {text}: {error}"
        raise UsageError(msg) from None
    except GroupResolverError as error:  # no source of groups is configured (groups.conf)
        msg = f"--nodes {text}: ClusterShell cannot look up the group ({error})"
        raise UsageError(msg) from None
    names = tuple(str(name) for name in found)
    if not names:
        msg = f"--nodes {text} contains no host"
        raise UsageError(msg)
    for name in names:
        if not is_name(name):
            msg = f"--nodes: {name!r} is not a valid host name"
            raise UsageError(msg)
    return names


def is_name(text: str) -> bool:
    """True if it is a valid name of a host or a pod."""
    return _NAME.fullmatch(text) is not None


def _pieces(text: str) -> list[str]:
    """The node sets in a text, or in the lines of the file that it names."""
    if "[" in text or not os.path.isfile(text):  # noqa: PTH113  (a long list is no path, at which Path.is_file fails)
        return [text]
    try:
        lines = Path(text).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        msg = f"cannot read {text}: {error.strerror}"
        raise UsageError(msg) from None
    words = (line.split("#", 1)[0].split() for line in lines)
    return [found[0].rpartition("@")[2] if not found[0].startswith("@") else found[0] for found in words if found]
