"""Parse the hosts of ``--nodes``: a node set with groups, a host file, or the list of ``mpirun -H``."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from pathlib import Path

from ncdiag.base.errors import UsageError
from ncdiag.base.patterns import lazy_regex

MISSING = "ClusterShell is not installed: pip install ClusterShell"

_SLOTS = lazy_regex(r"(?<=[\w\]]):\d{1,6}(?=,|$)")
_NAME = lazy_regex(r"[A-Za-z0-9_][A-Za-z0-9_.:-]{0,252}")
"""A host or a pod; with a leading hyphen it would be an option of ssh or kubectl."""
_MOST = 100_000
"""Maximum number of hosts of a set; ClusterShell keeps each in memory."""
_ELEMENT = lazy_regex(r"(?:[^\s,!&^\[\]]|\[[^\[\]]*\])+")
_RANGES = lazy_regex(r"\[([^\[\]]*)\]")
_RANGE = lazy_regex(r"(\d{1,40})-(\d{1,40})(?:/(\d{1,40}))?")
_TOO_LONG = lazy_regex(r"\d{41}")
"""More digits than `_RANGE` reads; hosts have no such numbers."""
_LOOKED_UP = lazy_regex(r"[@*?]")
"""A part of a set for which ClusterShell asks its groups."""
_PACKAGED_GROUP = "all: example[4-6,32-159]"
"""A line of the groups that ClusterShell is packaged with (groups.d/local.cfg)."""
_PACKAGED_HOST = lazy_regex(r"example\d+")


def targets(text: str) -> tuple[str, ...]:
    """The hosts of ``--nodes``, without repetitions, in the order of a node set. Raises UsageError if there are none.

    ``node[001-512]``, ``@group``, ``@slurm:gpu`` and their unions are parsed by ClusterShell; ``a:8,b:8`` is the form
    of ``mpirun -H``; a file name means the hosts in it (the first word of each line, without user and slots). A set of
    more than 100,000 hosts is refused before it is expanded, and so are groups that only ClusterShell's packaged
    examples define.
    """
    pieces = [_SLOTS.sub("", piece) for piece in _pieces(text)]
    _refuse_over_most(text, sum(map(_size, pieces)))
    try:
        from ClusterShell.NodeSet import NodeSet, NodeSetException
        from ClusterShell.NodeUtils import GroupResolverError
    except ImportError:
        raise UsageError(MISSING) from None
    try:
        found = NodeSet()
        for piece in pieces:
            found.update(NodeSet(piece))
    except NodeSetException as error:
        msg = f"--nodes {text}: {error}"
        raise UsageError(msg) from None
    except GroupResolverError as error:  # no source of groups is configured (groups.conf)
        msg = f"--nodes {text}: ClusterShell cannot look up the group ({error})"
        raise UsageError(msg) from None
    _refuse_over_most(text, len(found))
    names = tuple(str(name) for name in found)
    if any(map(_LOOKED_UP.search, pieces)) and any(map(_PACKAGED_HOST.fullmatch, names)) and _has_packaged_groups():
        msg = f"--nodes {text} means the example groups packaged with ClusterShell: define this site's in groups.conf"
        raise UsageError(msg)
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


def _size(piece: str) -> int:
    """The number of names that a set has at most, without expanding it; a group counts as one. Raises UsageError."""
    if _TOO_LONG.search(piece):
        msg = f"--nodes: {piece!r} is not a valid host name"
        raise UsageError(msg)
    return sum(math.prod(map(_numbers, _RANGES.findall(element))) for element in _ELEMENT.findall(piece))


def _numbers(ranges: str) -> int:
    """The count of numbers in ``1-3,7,10-20/2``."""
    found = (_RANGE.fullmatch(part.strip()) for part in ranges.split(","))
    return sum(max(0, int(one[2]) - int(one[1])) // max(1, int(one[3] or 1)) + 1 if one else 1 for one in found)


def _refuse_over_most(text: str, count: int) -> None:
    """Raises UsageError for more hosts than a set may have."""
    if count > _MOST:
        msg = f"--nodes {text} names {min(count, 10**18):,} hosts, more than the maximum of {_MOST:,}"
        raise UsageError(msg)


def _has_packaged_groups() -> bool:
    """True if the groups in use are those that ClusterShell is packaged with."""
    from ClusterShell.NodeSet import std_group_resolver

    files: Iterable[str] = getattr(std_group_resolver(), "filenames", ())
    used = [Path(file) for file in files if os.access(file, os.R_OK)][-1:]  # the last one counts
    try:
        return any(_PACKAGED_GROUP in (file.parent / "groups.d" / "local.cfg").read_text("utf-8") for file in used)
    except (OSError, ValueError):
        return False


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
