"""Simulate whether rings may change the NIC inside a host after a change of NCCL_CROSS_NIC."""

from __future__ import annotations

from ncdiag.facts.view import View
from ncdiag.fixes.proofs.outcome import Change, HostProof, release, settings
from ncdiag.nccl.on_host import chosen, seen
from ncdiag.nccl.selection.nics import nics

VARIABLES = frozenset({"NCCL_CROSS_NIC"})


def prove(view: View, change: Change) -> tuple[HostProof, ...]:
    """The effect of the variable on every known host; the NICs of the host must be known."""
    proofs = [_host(name, view, change) for name in seen.hosts(view)]
    if seen.unseen(view):
        text = "the NICs of the other hosts were not seen"
        proofs.append(HostProof("", "not-simulated", text, ("ibstat (on the other hosts)",), others=True))
    return tuple(proofs)


def _host(name: str, view: View, change: Change) -> HostProof:
    host = view.host(name)
    after = settings(view, name, change)
    version = view.version(host)
    names = chosen.nic_names(chosen.of_host(host, view, after, version)) if host is not None else ()
    if not names:
        text = f"which NICs {release(view, name)} on {name} takes was not seen"
        return HostProof(name, "not-simulated", text, (f"ibstat (on {name})",))
    now, then = (nics(None, names, given, version) for given in (settings(view, name, Change({})), after))
    with_this = f"with this, on {name} {then.reasons[-1].text}"
    if then.cross_nic is None:
        return HostProof(name, "not-simulated", f"{with_this} in some releases, and the release is not known")
    return HostProof(name, "proved" if then.cross_nic != now.cross_nic else "refuted", with_this)
