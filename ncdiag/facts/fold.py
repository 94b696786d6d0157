"""Fold sets of hosts and ranks into short texts: ``node[1-3]`` and ``0-7,16``; and unfold them."""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.scalars import ip_address

_NUMBERED = lazy_regex(r"([^.]*?)(\d{1,9})([^.\d]*(?:\..*)?)")
"""The last number in the first label of a host name: ``ip-10-0-3-17.ec2.internal`` is folded at 17, not at ec2."""

_SET = lazy_regex(r"([^\[\],]*)(?:\[([0-9,-]+)\]([^\[\],]*))?")
_NUMBER = lazy_regex(r"[0-9]{1,9}")
MOST_HOSTS = 4096
"""The largest number of names that a folded set of hosts is unfolded to."""


def fold_ranks(ranks: Iterable[int]) -> str:
    """Return the sorted, distinct rank numbers as ``0-7,16``."""
    return _ranges(sorted(set(ranks)), 0)


def fold_hosts(names: Iterable[str]) -> str:
    """Return host names as ``node[1-3,7],login``, in the notation of ClusterShell and Slurm; addresses are not folded.

    Zero-padded numbers keep their padding (``node[08-11]``). Names without a number are listed as they are, at the end.
    """
    return _of_names(frozenset(names))


@functools.lru_cache(maxsize=128)
def _of_names(names: frozenset[str]) -> str:
    """`fold_hosts` with a cache: most sets are that of all hosts of the cluster."""
    groups: dict[tuple[str, int, str], list[int]] = defaultdict(list)
    plain: list[str] = []
    split = {name: None if ip_address(name) else _NUMBERED.fullmatch(name) for name in names}
    padded = {(m[1], len(m[2]), m[3]) for m in split.values() if m and len(m[2]) > 1 and m[2].startswith("0")}
    for name, found in split.items():
        if found is None:
            plain.append(name)
            continue
        width = len(found[2]) if (found[1], len(found[2]), found[3]) in padded else 0
        groups[found[1], width, found[3]].append(int(found[2]))
    return ",".join([_folded(*key, sorted(numbers)) for key, numbers in sorted(groups.items())] + sorted(plain))


def unfold_hosts(folded: str, limit: int = MOST_HOSTS) -> Iterator[str]:
    """Yield at most ``limit`` names of ``node[1-3,7],login``, as `fold_hosts` or a person writes it."""
    return itertools.islice(_unfolded(folded), limit)


def _unfolded(folded: str) -> Iterator[str]:
    for found in filter(None, map(_SET.fullmatch, _apart(folded))):
        prefix, ranges, suffix = found.groups("")
        if not ranges and prefix:
            yield prefix
        for piece in ranges.split(","):
            first, _, last = piece.partition("-")
            if _NUMBER.fullmatch(first) and _NUMBER.fullmatch(last or first):
                for number in range(int(first), int(last or first) + 1):
                    yield f"{prefix}{number:0{len(first)}d}{suffix}"


def _apart(folded: str) -> Iterator[str]:
    """Split the text at commas outside brackets."""
    begin, inside = 0, False
    for place, letter in enumerate(folded):
        if letter in "[]":
            inside = letter == "["
        elif letter == "," and not inside:
            yield folded[begin:place]
            begin = place + 1
    yield folded[begin:]


def _folded(prefix: str, width: int, suffix: str, numbers: list[int]) -> str:
    text = _ranges(numbers, width)
    return f"{prefix}[{text}]{suffix}" if len(numbers) > 1 else f"{prefix}{text}{suffix}"


def _ranges(numbers: list[int], width: int) -> str:
    """Return sorted, distinct numbers as ranges, padded with zeros to ``width``."""
    pieces: list[list[int]] = []
    for number in numbers:
        if pieces and number == pieces[-1][-1] + 1:
            pieces[-1] = [pieces[-1][0], number]
        else:
            pieces.append([number])
    return ",".join("-".join(f"{end:0{width}d}" for end in piece) for piece in pieces)
