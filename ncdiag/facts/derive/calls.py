"""Facts of the collective trace: what a rank called last."""

from __future__ import annotations

from ncdiag.facts.model import LastOp, Rank
from ncdiag.facts.view import View, derived


@derived
def last_op(rank: Rank, view: View) -> LastOp | None:
    """The last collective of a rank in its widest communicator, the one to compare between ranks."""
    if rank.last_ops:
        view.note(rank, "last_ops")
    return rank.last_ops[0] if rank.last_ops else None
