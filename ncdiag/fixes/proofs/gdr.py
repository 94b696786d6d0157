"""Simulate where GPUDirect RDMA works after a change of NCCL_NET_GDR_LEVEL or related variables."""

from __future__ import annotations

from collections.abc import Iterator

from ncdiag.facts.model import Host
from ncdiag.facts.view import View
from ncdiag.fixes.proofs.outcome import Change, HostProof, release, settings
from ncdiag.nccl import paths
from ncdiag.nccl.on_host import chosen, seen
from ncdiag.nccl.selection.distances import Distances
from ncdiag.nccl.selection.gdr import gdr as gdr_of
from ncdiag.nccl.selection.gdr import near_enough
from ncdiag.nccl.versions import samples

VARIABLES = frozenset({"NCCL_NET_GDR_LEVEL", "NCCL_NET_GDR_READ", "NCCL_NET_GDR_C2C", "NCCL_DMABUF_ENABLE"})
_READ = "NCCL_NET_GDR_READ"


def prove(view: View, change: Change) -> tuple[HostProof, ...]:
    """GPUDirect RDMA for every known NIC with the change applied: expected on, or off if the level is LOC."""
    proofs = [proof for name in seen.hosts(view) for proof in _host(name, view, change)]
    if seen.unseen(view):
        text = "the distances between GPUs and NICs of the other hosts were not seen"
        ask = ("nvidia-smi topo -m (on the other hosts)",)
        proofs.append(HostProof("", "not-simulated", text, ask, others=True))
    return tuple(proofs)


def _host(name: str, view: View, change: Change) -> Iterator[HostProof]:
    host = view.host(name)
    after = settings(view, name, change)
    nics = tuple(_nics(host, view, after)) if host is not None else ()
    given = change.env.get("NCCL_NET_GDR_LEVEL")
    version = view.version(host)
    ask = (f"nvidia-smi topo -m (on {name})", f"lsmod (on {name})")
    if given and _ignored(given, view, host):
        text = f"{release(view, name)} on {name} does not understand NCCL_NET_GDR_LEVEL={given} and keeps its default"
        yield HostProof(name, "refuted", text)
        return
    if given is not None and version is not None and paths.parse_level(given, version) == "LOC":
        yield HostProof(name, "proved", f"with this, {release(view, name)} on {name} uses GPUDirect RDMA nowhere")
        return
    if host is None or not nics:
        yield HostProof(name, "not-simulated", f"{name}'s NICs and their distance to the GPUs were not seen", ask)
        return
    if change.env.get(_READ) == "0" or change.env.get("NCCL_DMABUF_ENABLE") == "0":
        text = f"what {release(view, name)} on {name} loses by switching it off is not simulated"
        yield HostProof(name, "not-simulated", text)
        return
    far = chosen.distances_of(host, view, after, chosen.rdma(host, after, version))
    proofs = [_nic(host, view, nic, change, (after, far)) for nic in nics]
    gained = [proof for proof in proofs if proof.state == "proved"]
    yield from gained or proofs  # a NIC far from all GPUs stays out at any level, and does not refute the fix


def _ignored(given: str, view: View, host: Host | None) -> bool:
    """True if all possible releases ignore the level."""
    return all(paths.parse_level(given, exact) is None for exact in samples(view.version(host), paths.CHANGES))


def _nics(host: Host, view: View, after: dict[str, str]) -> Iterator[str]:
    """The NICs that NCCL uses: from the devices, else from its log, else from the topology."""
    ports = chosen.rdma(host, after, view.version(host))
    names = [port.hca for port in ports.ports]
    if not names:
        listed = (device.name for rank in view.ranks_on(host.name) for device in rank.net_devices or ())
        names = [part for name in listed for part in name.split("+")]
    if not names:
        names = [name for name in (host.nic_labels or {}).values() if name is not None]
    yield from dict.fromkeys(names)


def _nic(
    host: Host, view: View, nic: str, change: Change, changed: tuple[dict[str, str], Distances | None]
) -> HostProof:  # fmt: skip
    """The proof for one NIC. ``changed``: the host's settings after the change, and the distances that result."""
    (after, far), name, version = changed, host.name, view.version(host)
    of_reads = _READ in {*change.env, *change.unset}
    how = "reads GPU memory by GPUDirect RDMA" if of_reads else "uses GPUDirect RDMA"
    verdict = gdr_of(host, nic, after, version, far)
    with_this = f"with this, {release(view, name)} on {name}"
    wanted = verdict.reads if of_reads else verdict.enabled
    if wanted:
        return HostProof(name, "proved", f"{with_this} {how} with {nic} ({verdict.why})")
    if wanted is False:
        was = gdr_of(host, nic, settings(view, name, Change({})), version, far)
        had = was.reads if of_reads else was.enabled
        still = " as before" if had is False else ""
        return HostProof(name, "refuted", f"{with_this} {_not(how)} with {nic}{still} ({verdict.why})")
    near = {near_enough(host, nic, after, exact, far)[0] for exact in samples(version, paths.CHANGES)}
    within = " (the distance is within it)" if near == {True} else ""
    text = f"whether {release(view, name)} on {name} then {how} with {nic} is not certain{within}"
    return HostProof(name, "not-simulated", f"{text}: {verdict.why}", _asks(name, verdict.why))


def _not(how: str) -> str:
    """The negation: ``does not use`` for ``uses``, ``does not read`` for ``reads``."""
    verb, _, rest = how.partition(" ")
    return f"does not {verb.removesuffix('s')} {rest}"


def _asks(name: str, why: str) -> tuple[str, ...]:
    """The commands whose output would settle it."""
    asks = []
    if "distance" in why or "far" in why:
        asks.append(f"nvidia-smi topo -m (on {name})")
    if "peer memory" in why or "DMA-BUF" in why:
        asks.append(f"lsmod (on {name})")
    return tuple(asks)
