"""The part of a sweep over the whole book that a run takes: a tenth in turn and what changed, or all of it.

A sweep is a test of every rule, message, sign or specimen. ``make test`` takes a tenth of the items, by a hash of
their names. Each commit takes the next tenth, so ten commits in a row cover all. An item is also taken when a file of
its name was changed: in the working tree, in the last commit, or since the branch left ``main``.
``NCDIAG_SWEEP=whole`` takes all items; ``make sweep`` sets it. Where many items prove one class, as each text in each
form does, it takes a part of them in turn too, which the test names. ``NCDIAG_SWEEP=full`` (``make lab``) takes all.
"""

from __future__ import annotations

import functools
import os
import subprocess
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import TypeVar

T = TypeVar("T")
PROJECT = Path(__file__).resolve().parent.parent
PARTS = 10
WHOLE = os.environ.get("NCDIAG_SWEEP") in {"whole", "full"}
"""True if all items are taken, but for tests that name a part."""
FULL = os.environ.get("NCDIAG_SWEEP") == "full"


def tenth(items: Iterable[T], name: Callable[[T], str] = str, *, one_in: int = 1) -> list[T]:
    """The items that this run takes, in their order; ``name(item)``: a name that stays, such as ``ibstat/two-ports``.

    Never empty unless ``items`` is. Of the changed items at most a tenth is taken, so that a commit that touches every
    rule does not make ``make test`` a whole sweep. ``one_in``: the part that a whole sweep takes in turn.
    """
    held = list(items)
    parts = (1 if FULL else one_in) if WHOLE else PARTS
    if parts == 1:
        return held
    in_turn = {name(item) for item in held if _hash(name(item)) % parts == turn(parts)}
    touched = sorted((name(item) for item in held if _is_changed(name(item))), key=_hash)
    taken = {*in_turn, *touched[: max(PARTS, len(held) // parts)]} or {min(map(name, held), key=_hash, default="")}
    return [item for item in held if name(item) in taken]


def at_least(number: int) -> int:
    """The least number of cases that a sweep must see: ``number`` of the whole, and 1 of a tenth."""
    return number if WHOLE else 1


@functools.cache
def turn(parts: int = PARTS) -> int:
    """The part whose turn it is, from 0: the number of commits, or 0 without git."""
    count = _git("rev-list", "--count", "HEAD").strip()
    return int(count or 0) % parts


@functools.cache
def changed() -> frozenset[str]:
    """The names, without folder and suffixes, of the files that differ from the commit before or from ``main``.

    Files of the engine are among them, but no item has their name: they select nothing.
    """
    head = _git("rev-parse", "HEAD").strip()
    left = _git("merge-base", "HEAD", "main").strip() or _git("merge-base", "HEAD", "origin/HEAD").strip()
    base = left if left and left != head else "HEAD~1"
    paths = _git("diff", "--name-only", base) + _git("ls-files", "--others", "--exclude-standard")
    return frozenset(PurePosixPath(path).name.partition(".")[0] for path in paths.splitlines())


def _hash(name: str) -> int:
    """The same in every process, unlike `hash`: workers of xdist must collect the same tests."""
    return zlib.crc32(name.encode())


def _is_changed(name: str) -> bool:
    return not changed().isdisjoint(name.split("/"))


def _git(*arguments: str) -> str:
    """What git prints; nothing where git, the repository or the commit is missing."""
    command = ["git", "-C", str(PROJECT), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
