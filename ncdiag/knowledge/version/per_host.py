"""How many ranks each host has, as NCCL counted them itself."""

from __future__ import annotations

from ncdiag.facts.model import Event
from ncdiag.facts.view import View

_COUNTED = "comm-nodes"


def is_uneven(view: View) -> bool | None:
    """Do hosts have different numbers of ranks in the largest communicator that counted them? None if no line shows it.

    Each line gives ranks, nodes and ranks of its own node (``nRanks 15 nNodes 2 localRanks 8``): one line whose product
    is not the number of ranks is enough. With NVLink between hosts (``MNNVL 1``), a node may be several hosts.
    """
    return view.remembered(("ranks counted by NCCL",), lambda: _is_uneven(_largest(view)))


def _largest(view: View) -> list[Event]:
    counted = [event for event in view.events_named(_COUNTED) if not event.fields.get("mnnvl")]
    size = max((_number(event, "nranks") for event in counted), default=0)
    return [event for event in counted if size and _number(event, "nranks") == size]


def _is_uneven(counted: list[Event]) -> bool | None:
    shapes = {tuple(_number(event, name) for name in ("nranks", "nodes", "local_ranks")) for event in counted}
    if any(nodes * local != ranks for ranks, nodes, local in shapes):
        return True
    hosts = {event.host for event in counted}
    whole = any(nodes <= max(2, len(hosts)) for _, nodes, _ in shapes)
    return False if whole else None


def _number(event: Event, name: str) -> int:
    value = event.fields.get(name)
    return value if isinstance(value, int) else 0
