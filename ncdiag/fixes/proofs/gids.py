"""Simulate which GID entry NCCL uses on each RoCE port after a change of NCCL_IB_GID_INDEX or related variables."""

from __future__ import annotations

from collections.abc import Mapping

from ncdiag.facts.model import Gid, Port
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.rdma import is_active, is_roce
from ncdiag.fixes.proofs.outcome import Change, HostProof, release, settings
from ncdiag.nccl.on_host import chosen, seen

VARIABLES = frozenset({
    "NCCL_IB_GID_INDEX", "NCCL_IB_ADDR_FAMILY", "NCCL_IB_ADDR_RANGE", "NCCL_IB_ROCE_VERSION_NUM",
})  # fmt: skip


def prove(view: View, change: Change) -> tuple[HostProof, ...]:
    """The entry that every known RoCE port uses with the change applied."""
    proofs = [proof for name in seen.hosts(view) for proof in _host(name, view, change)]
    if seen.unseen(view):
        text = "the GID tables of the other hosts were not seen"
        proofs.append(HostProof("", "not-simulated", text, ("show_gids (on the other hosts)",), others=True))
    return tuple(proofs)


def _host(name: str, view: View, change: Change) -> list[HostProof]:
    host = view.host(name)
    active = [p for d in (host.hcas if host else ()) for p in d.ports if is_active(p, view) is not False]
    ports = [port for port in active if is_roce(port, view) is not False]
    if active and not ports:
        text = f"{name} has InfiniBand ports only, whose addressing does not rest on the GID index"
        return [HostProof(name, "proved", text)]
    if not any(port.gids for port in ports):
        return [HostProof(name, "not-simulated", f"{name}'s GID tables were not seen", (f"show_gids (on {name})",))]
    changed = settings(view, name, change)
    return [_port(view, name, port, changed) for port in ports if port.gids or port.gids_complete]


def _port(view: View, name: str, port: Port, changed: Mapping[str, str]) -> HostProof:
    ask = (f"show_gids (on {name}, whole)",)
    where = f"{name} {port.hca}"
    choice = chosen.gid(port, view, changed, view.version(view.host(name)))
    if not choice.known:
        why = choice.reasons[0].text if choice.reasons else "the table was not seen"
        text = f"which entry {release(view, name)} takes on {where} is not certain ({why})"
        return HostProof(name, "not-simulated", text, ask)
    with_this = f"with this, {release(view, name)} takes GID {choice.index} on {where}"
    if choice.entry is None:
        if port.gids_complete:
            return HostProof(name, "refuted", f"{with_this}, which is empty")
        return HostProof(name, "not-simulated", f"{with_this}, which was not seen", ask)
    good, what = _judged(choice.entry)
    if good is None:
        return HostProof(name, "not-simulated", f"{with_this}, {what}", ask)
    return HostProof(name, "proved" if good else "refuted", f"{with_this}, {what}")


def _judged(gid: Gid) -> tuple[bool | None, str]:
    """(True if routed RoCE works with the entry, reason): it needs RoCE v2 and an address that is not link-local."""
    address = gid.ip or gid.address or ""
    if gid.ip is None and gid.address is not None:
        low = gid.address.lower()
        if low.startswith("fe80"):
            return False, f"a link-local address ({gid.address})"
        if set(low) <= set("0:"):
            return False, "which is empty"
    if gid.type is None:
        return None, f"{address} of a type that was not seen"
    if gid.type != "RoCE v2":
        return False, f"{address} of type {gid.type}, which cannot be routed"
    if not address:
        return None, "whose address was not seen"
    return True, f"{address}, RoCE v2"
