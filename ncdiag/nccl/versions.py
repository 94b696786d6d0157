"""Changes between NCCL releases, as far as the program depends on them.

Read from the release tags of github.com/NVIDIA/nccl. A change in the first published patch of a minor release (2.28.3)
is dated to the minor release (2.28.0), so that it applies to a version known only as "2.28".
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from ncdiag.facts.scalars import NEWEST, OLDEST, Version, VersionRange

EXACT_NAMES = Version(2, 5)
"""NCCL_SOCKET_IFNAME and NCCL_IB_HCA support a leading ``=`` (src/include/socket.h:63, v2.5.6-1)."""

BOOTSTRAP_LIST = Version(2, 4, 8)
"""The bootstrap chooses its interface separately and prints it (src/bootstrap.cc:31, v2.4.8-1)."""

COMM_ID_DECIDES = Version(2, 8)
"""With NCCL_COMM_ID the bootstrap uses only the interface in its subnet (src/bootstrap.cc:22, v2.8.3-1)."""

GID_CHOICE = Version(2, 21)
"""NCCL chooses the GID index of a RoCE port itself (src/transport/net_ib.cc:292, v2.21.5-1)."""

GID_FLID = Version(2, 22)
"""On InfiniBand the user's GID index is ignored (src/transport/net_ib.cc:307, v2.22.3-1)."""

CONF_FILE_VARIABLE = Version(2, 23)
"""NCCL_CONF_FILE names a file that is read instead of ~/.nccl.conf (src/misc/param.cc, v2.23.4-1)."""


CONF_COMMENTS = Version(2, 26)
"""A ``#`` in the first column makes a comment of a conf file's line (src/misc/param.cc:25, v2.26.2-1)."""

RUNNING_ONLY = Version(2, 28)
"""Interfaces without IFF_RUNNING are skipped, virbr comes last (src/misc/socket.cc:129 and 355, v2.28.3-1)."""

CONF_HOME_VARIABLE = Version(2, 30)
"""~ of ~/.nccl.conf is $HOME, not the passwd entry, and carriage returns are cut (src/misc/param.cc:27, v2.30.3-1)."""

LATEST_READ = Version(2, 30, 7)
"""The newest release whose source was read; it is assumed for an unknown release where releases differ."""

_TAG_BEFORE = {
    Version(2, 26): Version(2, 25, 1), Version(2, 24): Version(2, 23, 4), Version(2, 8): Version(2, 7, 8),
}  # fmt: skip

DIALECTS: Mapping[str, VersionRange] = {
    "warn without time": VersionRange(OLDEST, _TAG_BEFORE[Version(2, 26)]),
    "warn with time": VersionRange(Version(2, 26), NEWEST),
    "warn with function": VersionRange(Version(2, 30, 7), NEWEST),
    "attn": VersionRange(Version(2, 32), NEWEST),
    "bootstrap list": VersionRange(BOOTSTRAP_LIST, _TAG_BEFORE[Version(2, 8)]),
    "bootstrap blank colon": VersionRange(Version(2, 8), _TAG_BEFORE[Version(2, 24)]),
    "bootstrap colon": VersionRange(Version(2, 24), NEWEST),
}
"""The versions that the form of a log line indicates, by the name of the form (src/debug.cc, src/bootstrap.cc).

``warn ...``: the prefix of a WARN line. A time is printed by default since 2.26 and can be switched off, so its absence
is a hint only where NCCL_DEBUG_TIMESTAMP_* is not set. ``bootstrap ...``: ``Bootstrap : Using [0]eth0`` (list),
``Bootstrap : Using eth0`` (blank colon), ``Bootstrap: Using eth0`` (colon).
"""

T = TypeVar("T")


def as_range(version: Version | VersionRange | None) -> VersionRange:
    """Return the version as a range; None becomes the range of all versions."""
    if version is None:
        return VersionRange(OLDEST, NEWEST)
    return VersionRange(version, version) if isinstance(version, Version) else version


def samples(version: Version | VersionRange | None, changes: Iterable[Version]) -> tuple[Version, ...]:
    """Return one version of the range for every behaviour of a function that changed at the versions ``changes``."""
    return _samples(version, tuple(changes))


@functools.lru_cache(maxsize=4096)
def _samples(version: Version | VersionRange | None, changes: tuple[Version, ...]) -> tuple[Version, ...]:
    bounds = as_range(version)
    return (bounds.low, *sorted({change for change in changes if bounds.low < change <= bounds.high}))


def agreed(version: Version | VersionRange | None, changes: Iterable[Version], of: Callable[[Version], T]) -> T | None:
    """Return ``of(version)``; None when its results for the possible versions differ."""
    first, *rest = samples(version, changes)
    answer = of(first)
    return answer if all(of(other) == answer for other in rest) else None
