"""Simulate which transport the GPUs of a host use among themselves after a change of NCCL_P2P_* or NCCL_SHM_DISABLE."""

from __future__ import annotations

from collections import Counter

from ncdiag.facts.model import Host
from ncdiag.facts.view import View
from ncdiag.fixes.proofs.outcome import Change, HostProof, release, settings
from ncdiag.nccl.on_host import chosen, seen
from ncdiag.nccl.selection.p2p import SHM, Local, local_transports

VARIABLES = frozenset({"NCCL_P2P_LEVEL", "NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE"})


def prove(view: View, change: Change) -> tuple[HostProof, ...]:
    """The transports between the GPUs of every known host with the change applied."""
    proofs = [_host(name, view, change) for name in seen.hosts(view)]
    if seen.unseen(view):
        text = "the distances between the GPUs of the other hosts were not seen"
        proofs.append(HostProof("", "not-simulated", text, ("nvidia-smi topo -m (on the other hosts)",), others=True))
    return tuple(proofs)


def _host(name: str, view: View, change: Change) -> HostProof:
    host = view.host(name)
    ask = (f"nvidia-smi topo -m (on {name})",)
    after = _transports(host, view, settings(view, name, change)) if host is not None else Local()
    if host is None or not after.pairs:
        return HostProof(name, "not-simulated", f"the distances between the GPUs of {name} were not seen", ask)
    open_pair = next((pair for pair in after.pairs if pair.transport is None), None)
    if open_pair is not None:
        text = f"how GPUs of {name} then reach each other is not certain ({open_pair.why})"
        return HostProof(name, "not-simulated", text, (f"uname -a (on {name})",) if open_pair.path else ask)
    before = _transports(host, view, settings(view, name, Change({})))
    counts = Counter(pair.transport for pair in after.pairs)
    told = ", ".join(f"{transport} between {count}" for transport, count in counts.most_common())
    with_this = f"with this, {release(view, name)} on {name} uses {told} pairs of GPUs"
    if [pair.transport for pair in before.pairs] != [pair.transport for pair in after.pairs]:
        return HostProof(name, "proved", with_this)
    if "NCCL_SHM_DISABLE" in {*change.env, *change.unset} and SHM not in counts:
        # shared memory failed, but not for these pairs: the prediction is incomplete
        return HostProof(name, "not-simulated", f"{with_this} as before", ())
    return HostProof(name, "refuted", f"{with_this}, as before ({after.pairs[0].why})")


def _transports(host: Host, view: View, after: dict[str, str]) -> Local:
    version = view.version(host)
    far = chosen.distances_of(host, view, after, chosen.rdma(host, after, version))
    return local_transports(host, far, after, version, chosen.processor_of(host, view))
