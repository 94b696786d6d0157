"""Transfer engines of inference, which connect RDMA cards on their own."""

from __future__ import annotations

from ncdiag.facts.derived import derived_of
from ncdiag.facts.model import Event
from ncdiag.facts.view import View
from ncdiag.messages.vocabulary.rails import ipv4_of, is_beyond
from ncdiag.messages.vocabulary.reasons import reason

_GID_BYTES = 16


@derived_of("ib-modify-qp-failed")
def pairs_rails(event: Event, view: View) -> bool | None:
    """Did an engine fail to connect two cards of different names, whose IPv4 addresses are in different networks?

    Where the prefix length was not shown, the first 24 bits decide: a rail has a network of 256 addresses or fewer.
    None where the line names two cards and no IPv4 address of both.
    """
    cards = (event.fields.get("hca"), event.fields.get("peer_hca"))
    if not all(cards) or cards[0] == cards[1] or reason(event, view) not in {"unreachable", "timed-out"}:
        return False
    local, remote = (ipv4_of(_in_words(event.fields.get(name))) for name in ("own_gid_bytes", "peer_gid_bytes"))
    if local is None or remote is None:
        return None
    beyond = is_beyond(event, local, remote, view)
    return beyond if beyond is not None else int(local) >> 8 != int(remote) >> 8


def _in_words(gid: object) -> str | None:
    """A GID that is written as 16 bytes, ``00:00:...:0a:01:00:05``, in the usual form; None for anything else."""
    pairs = str(gid or "").split(":")
    if len(pairs) != _GID_BYTES or not all(len(pair) == len("0a") for pair in pairs):
        return None
    return ":".join(first + second for first, second in zip(pairs[::2], pairs[1::2], strict=True))
