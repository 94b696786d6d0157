"""Kernel parameters with which each of several cards in one network answers ARP for its own addresses alone.

Source: Linux Documentation/networking/ip-sysctl.rst (arp_ignore 1, arp_announce 2; the larger of all and the card's).
"""

from __future__ import annotations

from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.view import View
from ncdiag.fixes.values import Bindings, Value, best

_IGNORE, _ANNOUNCE = "net.ipv4.conf.all.arp_ignore", "net.ipv4.conf.all.arp_announce"
_LINE = (
    f"printf '{_IGNORE}=1\\n{_ANNOUNCE}=2\\n' | sudo tee /etc/sysctl.d/90-rdma-arp.conf; sudo sysctl --system"
    "; sudo ip neigh flush all"
)


@best
def own_arp(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """The lines for the hosts whose kernel was shown to answer for other cards."""
    names = [host.name for host in view.job.hosts if (host.sysctls or {}).get(_IGNORE) == "0"]
    if not names:
        return Value(reason=f"{_IGNORE} was not shown", ask_for=(f"sysctl {_IGNORE}",))
    named = [name for name in names if name != UNNAMED]
    return Value(text=_LINE + (f"   # on {fold_hosts(named)}" if named else ""), reason=f"{_IGNORE} is 0")
