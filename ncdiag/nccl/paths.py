"""Path types: NCCL's names and numbers of distances between GPUs, NICs and CPUs, and how it reads a level.

The numbers differ between releases: a distance of 5 is PXN in 2.17 and P2C in 2.30. Never compare numbers of different
versions; convert them to names first. From the PATH_* definitions of every tag (src/graph/topo.h, src/include/graph.h;
the two oldest rows from ``pathDists``).
"""

from __future__ import annotations

from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.nccl import versions
from ncdiag.nccl.numbers import parse_number

TABLES: tuple[tuple[Version, tuple[str, ...]], ...] = (
    (Version(2, 0), ("PIX", "PXB", "PHB", "SOC")),
    (Version(2, 4, 6), ("PIX", "PXB", "PHB", "NODE", "SYS")),
    (Version(2, 6), ("LOC", "NVL", "PIX", "PXB", "PHB", "SYS", "NET")),
    (Version(2, 8), ("LOC", "NVL", "NVB", "PIX", "PXB", "PHB", "SYS")),
    (Version(2, 12), ("LOC", "NVL", "NVB", "PIX", "PXB", "PXN", "PHB", "SYS")),
    (Version(2, 18), ("LOC", "NVL", "NVB", "PIX", "PXB", "PXN", "PHB", "SYS", "NET", "DIS")),
    (Version(2, 26), ("LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "PXN", "PHB", "SYS", "NET", "DIS")),
    (Version(2, 27), ("LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "PXN", "P2C", "PHB", "SYS", "NET", "DIS")),
    (Version(2, 27, 5), ("LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS", "NET", "DIS")),
)
"""The first release of each numbering, with its names in order, nearest first."""

CHANGES = tuple(since for since, _ in TABLES)
NAMED_LEVELS = Version(2, 6)
"""The first release that accepts levels by name, not as numbers only (src/graph/paths.cc, ncclGetLevel, v2.6.4-1)."""

_OLD_LEVELS = ("LOC", "PIX", "PXB", "PHB", "SYS", "SYS")
"""The old number scale, kept for levels given as digits (src/graph/paths.cc:243, levelsOldToNew, v2.30.7-1)."""


def path_types(version: Version) -> tuple[str, ...]:
    """Return the names in that version, nearest first; the index is the number that its log prints."""
    return next((names for since, names in reversed(TABLES) if version >= since), TABLES[0][1])


def path_type(number: int, version: Version | VersionRange | None) -> str | None:
    """Return the name of a printed distance; None when the version is not known well enough or has no such number."""
    return versions.agreed(version, CHANGES, lambda exact: _at(path_types(exact), number))


def path_number(name: str, version: Version | VersionRange | None) -> int | None:
    """Return the number of a path type in that version; None when it has none or is not known well enough."""
    return versions.agreed(version, CHANGES, lambda exact: _index(path_types(exact), name))


def is_within(name: str, level: str, version: Version | VersionRange | None) -> bool | None:
    """Is a path of type ``name`` at most as far as ``level``? None when the names or their order are not known."""

    def compare(exact: Version) -> bool | None:
        types = path_types(exact)
        return types.index(name) <= types.index(level) if name in types and level in types else None

    return versions.agreed(version, CHANGES, compare)


def parse_level(text: str, version: Version | VersionRange | None) -> str | None:
    """Parse NCCL_NET_GDR_LEVEL or NCCL_P2P_LEVEL as that version does; returns the farthest path type that it allows.

    None when NCCL ignores the text, which it does without a message: lower case, NODE, NV12, a trailing blank. Digits
    are read on the old scale 0 LOC, 1 PIX, 2 PXB, 3 PHB, 4 and more SYS. None also when the possible versions differ;
    for a word, only releases that accept words are considered. Source: src/graph/paths.cc:243-283 (v2.30.7-1); up to
    2.5 NCCL_PARAM with the test ``distance < level``.
    """
    possible = versions.as_range(version)
    if text[:1].isalpha() and possible.low < NAMED_LEVELS <= possible.high:
        possible = VersionRange(NAMED_LEVELS, possible.high)
    return versions.agreed(possible, CHANGES, lambda exact: _level(text, exact))


def _level(text: str, version: Version) -> str | None:
    types = path_types(version)
    if version < NAMED_LEVELS:
        number = parse_number(text)
        if number is None:
            return None
        return "LOC" if number <= 0 else types[min(number, len(types)) - 1]
    if text in types[: types.index("SYS") + 1]:
        return text
    if not text[:1].isascii() or not text[:1].isdigit():
        return None
    number = parse_number(text)
    return _OLD_LEVELS[min(number, len(_OLD_LEVELS) - 1)] if number is not None else "SYS"


def default_gdr_level(version: Version | VersionRange | None, *, c2c: bool = True) -> str | None:
    """Return the default of the farthest GPU-NIC path with GPUDirect RDMA; None when the possible versions differ.

    ``c2c`` is NCCL_NET_GDR_C2C, on by default since 2.27. Source: src/graph/paths.cc (``distance < level`` with PHB up
    to 2.5, PXB from 2.6.4, P2C or PXB from 2.29.2). 2.3 tests inside net_ib.cu (two bridges at most), reported as PXB.
    """

    def level(exact: Version) -> str:
        return "P2C" if exact >= Version(2, 29) and c2c else "PXB"

    return versions.agreed(version, (Version(2, 29),), level)


def _at(names: tuple[str, ...], number: int) -> str | None:
    return names[number] if 0 <= number < len(names) else None


def _index(names: tuple[str, ...], name: str) -> int | None:
    return names.index(name) if name in names else None
