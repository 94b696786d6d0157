"""The reasons for NCCL's choices, with the place in its source."""

from __future__ import annotations

import msgspec

from ncdiag.facts.scalars import Version


class Reason(msgspec.Struct, frozen=True):
    """One step of a choice.

    ``about`` is the thing considered (an interface, a GID entry; ``""`` for the choice as a whole), ``text`` the
    result, ``rule`` the variable, default or test that decided, ``source`` the place in NCCL's source with its tag.
    """

    about: str
    text: str
    rule: str
    source: str

    def __str__(self) -> str:
        return f"{self.about}: {self.text}" if self.about else self.text


_V = Version
_PLACES: dict[str, tuple[tuple[Version, str], ...]] = {
    "network": (
        (_V(2, 0), "src/init.cc:83 (v2.5.7-1)"), (_V(2, 6), "src/net.cc:259 (v2.18.3-1)"),
        (_V(2, 26), "src/plugin/net.cc:254 (v2.27.7-1)"), (_V(2, 30), "src/plugin/net.cc:321 (v2.30.7-1)"),
    ),
    "devices": (
        (_V(2, 0), "src/transport/net_ib.cc:88 (v2.5.7-1)"), (_V(2, 6), "src/transport/net_ib.cc:159 (v2.18.3-1)"),
        (_V(2, 26), "src/transport/net_ib.cc:608 (v2.27.7-1)"),
        (_V(2, 29), "src/transport/net_ib/init.cc:287 (v2.30.7-1)"),
    ),
    "gdr support": (
        (_V(2, 0), "src/transport/net_ib.cc:198 (v2.5.7-1)"), (_V(2, 6), "src/transport/net_ib.cc:281 (v2.18.3-1)"),
        (_V(2, 26), "src/transport/net_ib.cc:791 (v2.27.7-1)"),
        (_V(2, 29), "src/transport/net_ib/gdr.cc:24 (v2.30.7-1)"),
    ),
    "gdr": (
        (_V(2, 0), "src/transport/net.cc:59 (v2.5.7-1)"), (_V(2, 6), "src/graph/paths.cc:346 (v2.18.3-1)"),
        (_V(2, 26), "src/graph/paths.cc:395 (v2.27.7-1)"), (_V(2, 29), "src/graph/paths.cc:468 (v2.30.7-1)"),
    ),
    "p2p": (
        (_V(2, 0), "src/transport/p2p.cc:52 (v2.5.7-1)"), (_V(2, 6), "src/graph/paths.cc:251 (v2.18.3-1)"),
        (_V(2, 23), "src/graph/paths.cc:269 (v2.27.7-1)"), (_V(2, 29), "src/graph/paths.cc:298 (v2.30.7-1)"),
    ),
    "shm": (
        (_V(2, 0), "src/transport/shm.cc:39 (v2.5.7-1)"), (_V(2, 6), "src/transport/shm.cc:50 (v2.18.3-1)"),
        (_V(2, 26), "src/transport/shm.cc:75 (v2.27.7-1)"), (_V(2, 29), "src/transport/shm.cc:61 (v2.30.7-1)"),
    ),
    "nics": (
        (_V(2, 0), "src/graph/topo.cc:678 (v2.12.12-1)"), (_V(2, 16), "src/graph/topo.cc:708 (v2.18.3-1)"),
        (_V(2, 19), "src/graph/topo.cc:908 (v2.23.4-1)"), (_V(2, 26), "src/graph/topo.cc:1494 (v2.27.7-1)"),
        (_V(2, 29), "src/graph/topo.cc:2039 (v2.30.7-1)"),
    ),
    "cross nic": (
        (_V(2, 0), "src/init.cc:439 (v2.5.7-1)"), (_V(2, 6), "src/graph/search.cc:799 (v2.18.3-1)"),
        (_V(2, 26), "src/graph/search.cc:967 (v2.27.7-1)"), (_V(2, 29), "src/graph/search.cc:1074 (v2.30.7-1)"),
    ),
}  # fmt: skip
"""The source location of each choice, by the first release for which it is close enough."""


def source(choice: str, version: Version) -> str:
    """Return the file and line in NCCL's source with the tag, for a release."""
    return next((place for since, place in reversed(_PLACES[choice]) if version >= since), _PLACES[choice][0][1])
