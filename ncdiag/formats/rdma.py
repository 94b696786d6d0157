"""Normalise the words of RDMA tools, so that tools that agree do not seem to contradict each other.

Sources: rdma-core infiniband-diags/ibstat.c (port and physical states), libibverbs/examples/devinfo.c, the kernel's
drivers/infiniband/core/sysfs.c, iproute2 rdma/link.c.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping

from ncdiag.base.patterns import lazy_regex

UNNAMED = "?"
"""Name of a device whose header line is missing: a paste that begins in the middle of a block."""

_STATES = {
    "down": "down", "init": "init", "initialize": "init", "initializing": "init", "armed": "armed", "active": "active",
    "active_defer": "active_defer", "activedefer": "active_defer", "nop": "nop",
}  # fmt: skip
_PHYSICAL = {
    "nochange": "NoChange", "nostatechange": "NoChange", "sleep": "Sleep", "polling": "Polling", "disabled": "Disabled",
    "portconfigurationtraining": "PortConfigurationTraining", "linkup": "LinkUp",
    "linkerrorrecovery": "LinkErrorRecovery", "phytest": "PhyTest",
    # as devinfo.c and rdma/link.c spell them
    "portconfigurationtrainning": "PortConfigurationTraining", "linkerrorrecover": "LinkErrorRecovery",
    "opaoffline": "Offline", "offline": "Offline", "opatest": "Test", "nop": "NoChange",
    "armed": "PortConfigurationTraining",
}  # fmt: skip
_LAYERS = {"infiniband": "InfiniBand", "ib": "InfiniBand", "ethernet": "Ethernet"}
_GUID = lazy_regex(r"(?:0x)?([0-9a-f]{4}):?([0-9a-f]{4}):?([0-9a-f]{4}):?([0-9a-f]{4})$", re.IGNORECASE)
_MAPPED = lazy_regex(r"(?:0{4}:){5}ffff:([0-9a-f]{2})([0-9a-f]{2}):([0-9a-f]{2})([0-9a-f]{2})$", re.IGNORECASE)
_PKEY = lazy_regex(r"0x[0-9a-f]{4}$", re.IGNORECASE)
_NO_PKEY, _PKEYS = "0x0000", 128
GID_PATTERN = r"(?:[0-9a-fA-FxX*]{4}:){7}[0-9a-fA-FxX*]{4}"
"""A GID written in full; parts that are masked with ``x`` or ``*`` are accepted."""
EMPTY_GIDS = frozenset(":".join([first, *["0000"] * 7]) for first in ("0000", "fe80"))
"""What an entry of the table that holds no GID has."""


def port_state(text: str) -> str | None:
    """``Active``, ``4: ACTIVE``, ``PORT_ACTIVE (4)`` and ``ACTIVE`` are all ``active``; None for an unknown word."""
    word = re.sub(r"^\d+:\s*|\s*\(\d+\)$", "", text.strip()).lower()
    return _STATES.get(word.removeprefix("port_"))


def physical_state(text: str) -> str | None:
    """``5: LinkUp``, ``LINK_UP (5)`` and ``LinkUp`` are all ``LinkUp``; None for an unknown word."""
    word = re.sub(r"^\d+:\s*|\s*\(\d+\)$", "", text.strip())
    return _PHYSICAL.get(re.sub(r"[\s_]", "", word).lower())


def link_layer(text: str) -> str | None:
    """``InfiniBand`` or ``Ethernet``; old ibv_devinfo prints ``IB``."""
    return _LAYERS.get(text.strip().lower())


def guid(text: str) -> str | None:
    """``0x506b4b0300675940`` and ``506b:4b03:0067:5940`` in the second form; None for anything else."""
    found = _GUID.match(text.strip())
    return ":".join(found.groups()).lower() if found else None


def gid(text: str) -> str | None:
    """A GID in eight groups of four; ``::ffff:10.0.0.1`` is written out, masked parts stay; None for anything else."""
    if re.fullmatch(GID_PATTERN, text):
        return text.lower()
    try:
        return ipaddress.IPv6Address(text).exploded
    except ValueError:
        return None


def mapped_ip(address: str | None) -> str | None:
    """The IPv4 address of an IPv4-mapped GID written in full; None when it is not mapped."""
    found = _MAPPED.match(address or "")
    return ".".join(str(int(part, 16)) for part in found.groups()) if found else None


def pkey_table(keys: Mapping[int, str]) -> list[str] | None:
    """The table of partition keys by index, up to its last used entry; ``0x0000`` is an empty one.

    None if no key was read. A table longer than any adapter's is cut.
    """
    known = {index: key.lower() for index, key in keys.items() if index < _PKEYS and _PKEY.match(key)}
    last = max((index for index, key in known.items() if key != _NO_PKEY), default=0)
    return [known.get(index, _NO_PKEY) for index in range(last + 1)] if known else None
