"""IMEX, by which the hosts of a rack share GPU memory over NVLink: is its domain whole, are there channels?"""

from __future__ import annotations

from ncdiag.facts.model import Host
from ncdiag.facts.view import View, derived

_REFUSED = ("mnnvl-not-working", "mnnvl-degraded")
"""What NCCL prints when GPUs of several hosts could share memory, and trying it failed."""
_UP = "UP"
_SHOWN = 3


@derived
def imex_fault(host: Host, view: View) -> str | None:
    """A sentence about its nodes or channels; empty for none, None where NCCL failed with it and it was not shown."""
    if host.imex_lost or host.imex_domain not in {None, _UP}:
        view.note(host, "imex_lost" if host.imex_lost else "imex_domain")
        lost = list(host.imex_lost or ())
        more = f" and {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
        text = f": {', '.join(lost[:_SHOWN])}{more}" if lost else ""
        nodes = f" ({host.imex_nodes} nodes)" if host.imex_nodes else ""
        return f"The IMEX domain of {host.name}{nodes} is {host.imex_domain or 'not whole'}{text}"
    refused = view.events_on(host.name, _REFUSED)
    if refused and host.imex_channels is not None and not host.imex_channels:
        view.note(host, "imex_channels")
        return f"Programs on {host.name} see no IMEX channel"
    return "" if host.imex_domain == _UP or not refused else None
