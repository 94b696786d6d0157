"""Hosts that meet over InfiniBand's IP interfaces, whose names NCCL prefers, and where that fails.

NCCL looks for interfaces called ib* before all others unless it is told a name (src/misc/socket.cc,
ncclFindInterfaces).
"""

from __future__ import annotations

from ncdiag.facts.model import Advertised, Rank
from ncdiag.facts.view import View, derived


@derived
def ipoib_trouble(advertised: Advertised, view: View) -> str | None:
    """What goes wrong over an IPoIB interface at which ranks meet; empty for nothing, None where its kind is not known.

    An address that others could not reach, or another host that has no such interface and waits at another one.
    """
    if advertised.role not in {"bootstrap", "oob"}:
        return ""
    if advertised.kind != "ipoib":
        return None if advertised.kind is None else ""
    if advertised.failed:
        view.note(advertised)
        return f"connections to {advertised.ip} fail"
    other = next((rank for rank in view.job.ranks if _meets_elsewhere(rank, advertised, view)), None)
    if other is None or other.bootstrap_interface is None:
        return ""
    view.note(advertised)
    view.note(other, "bootstrap_interface")
    return f"{other.host} waits at {other.bootstrap_interface.name}"


def _meets_elsewhere(rank: Rank, advertised: Advertised, view: View) -> bool:
    interface = rank.bootstrap_interface
    if interface is None or rank.host == advertised.host:
        return False
    return view.get(interface, "likely_kind") not in {None, "ipoib"}
