"""What a ``Channel ... via`` line tells: which transport joins which two ranks."""

from __future__ import annotations

import functools

import msgspec

from ncdiag.base.patterns import lazy_regex

COLLNET = lazy_regex(r"Coll(?:Net)? \d[\d/]* : (?P<rest>.*)")

_LINK = lazy_regex(
    r"(?P<source>\d{1,9})(?:\[(?P<source_device>\w{1,16})\])?(?: -> (?P<target>\d{1,9})(?:\[\w{1,16}\])?)? "
    r"(?:\[(?P<way>send|receive)\] )?via (?P<via>.*)"
)
_NET = lazy_regex(r"(NET|COLLNET)/([^/]{1,40})/(\d{1,4})")
_P2P = lazy_regex(r"P2P/(?:IPC|CUMEM|MNNVL|direct pointer|indirect|common device)")
_OTHER = lazy_regex(r"(?!(?:P2?|NE?T?|SH?|C|COLL\w*)(?:/|$))[A-Z][\w ]{1,38}(?=/|$)")
"""A transport of another release, by its first word; not one that was cut short."""
_GDR = "/GDRDMA"
_DEVICE_IS_BUS = 64
"""Before 2.18.3 the number in brackets is a bus id, from then on a small device number."""


class Link(msgspec.Struct, frozen=True):
    """One end of a connection: the rank that printed the line, its peer, the transport and, for a network, the NIC.

    ``way``, of the ``NET`` transport: ``send`` or ``receive``, with ``/GDRDMA`` where the NIC reaches GPU memory.
    ``receives``: the data come from the peer.
    """

    rank: int
    peer: int | None
    transport: str
    net: str | None = None
    nic: int | None = None
    way: str | None = None
    versions: str = ""
    receives: bool = False


@functools.lru_cache(1 << 13)
def parse_link(text: str) -> Link | None:
    """Read what follows ``Channel 00/0 : ``; None for a ring order, a line cut short and anything else."""
    found = _LINK.match(text) if text.isascii() else None
    if found is None:
        return None
    source, target = int(found["source"]), int(found["target"]) if found["target"] else None
    via = found["via"]
    transport, net, nic = via, None, None
    if "NET/" in via and (named := _NET.match(via)):
        if _GDR.startswith(via[named.end() :]) and via[named.end() :] not in {"", _GDR}:
            return None  # the line was cut within the word that matters
        transport, nic = f"{named[1]}/{named[2]}", int(named[3])
        net = named[2] if named[1] == "NET" else None
        transport += _GDR if _GDR in via else ""
    elif p2p := _P2P.match(via):
        transport = p2p[0]
    elif via.startswith(("SHM", "direct shared memory")):
        transport = "SHM"
    elif (other := _OTHER.match(via)) is not None:
        transport = other[0]
    else:
        return None
    receives = found["way"] == "receive" and target is not None
    rank, peer = (target, source) if receives and target is not None else (source, target)
    way = found["way"] + (_GDR if _GDR in via else "") if found["way"] and net else None
    return Link(rank, peer, transport, net, nic, way, _versions(found["source_device"], via), receives)


def _versions(device: str | None, via: str) -> str:
    if via.startswith("direct shared memory"):
        return "<2.13"
    if via.startswith("SHM/"):
        return ">=2.13"
    if via.startswith(("P2P/CUMEM", "P2P/MNNVL")):
        return ">=2.18"
    if "GDRDMA(PCI)" in via:
        return ">=2.26"
    return ">=2.5,<2.18.3" if device is not None and _is_bus(device) else ""


def _is_bus(device: str) -> bool:
    try:
        return int(device, 16) >= _DEVICE_IS_BUS * 4
    except ValueError:
        return False
