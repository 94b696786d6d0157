"""The kernel's RDMA controller, which limits how many handles and objects of a card a control group may have."""

from __future__ import annotations

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host
from ncdiag.facts.view import View

_KINDS = {"hca_handle": "open devices", "hca_object": "queues, regions and other objects"}


@derived
def rdma_group_full(host: Host, view: View) -> str | None:
    """The RDMA limit that the control group has reached, ``64 open devices of mlx5_0``; empty if none is.

    None if the limits or the numbers in use are not shown.
    """
    if host.rdma_limits is None or host.rdma_held is None:
        return None
    for name, limit in host.rdma_limits.items():
        if host.rdma_held.get(name, 0) >= limit:
            view.note(host, "rdma_limits")
            view.note(host, "rdma_held")
            hca, _, kind = name.partition(" ")
            return f"{limit} {_KINDS.get(kind, kind)} of {hca}"
    return ""
