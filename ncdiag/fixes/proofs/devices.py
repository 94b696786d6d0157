"""Simulate which RDMA ports and which network NCCL uses after a change of NCCL_IB_HCA, NCCL_IB_DISABLE or NCCL_NET."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence

import msgspec

from ncdiag.facts.model import Host, Port
from ncdiag.facts.view import View
from ncdiag.fixes.proofs.outcome import Change, HostProof, release, settings
from ncdiag.nccl import versions
from ncdiag.nccl.numbers import parse_number
from ncdiag.nccl.on_host import chosen, seen
from ncdiag.nccl.selection.devices import Devices
from ncdiag.nccl.selection.names import NameList
from ncdiag.nccl.selection.network import IB, SOCKET

VARIABLES = frozenset({"NCCL_IB_HCA", "NCCL_IB_DISABLE", "NCCL_NET", "NCCL_NET_PLUGIN"})
SLOW = 4
"""A port that is slower than the fastest one of its host by this factor is not a data port: an on-board RDMA card."""


class _Taken(msgspec.Struct, frozen=True):
    """The choice of a host with the change, and whether it differs from that before (None: unknown)."""

    host: str
    ports: tuple[Port, ...]
    changed: bool | None


def prove(view: View, change: Change) -> tuple[HostProof, ...]:
    """The ports and the network of every host with the change applied, and whether they fit together."""
    taken: list[_Taken] = []
    proofs = [_host(name, view, change, taken) for name in seen.hosts(view)]
    if seen.unseen(view):
        text = "the RDMA devices of the other hosts were not seen"
        proofs.append(HostProof("", "not-simulated", text, ("ibstat (on the other hosts)",), others=True))
    if all(proof.state == "proved" for proof in proofs if not proof.others) and (problem := _together(taken)):
        proofs.append(HostProof("", "refuted", problem))
    return tuple(proofs)


def _host(name: str, view: View, change: Change, taken: list[_Taken]) -> HostProof:
    """The proof for one host; its choice is added to ``taken``."""
    host = view.host(name)
    after = settings(view, name, change)
    with_this = f"with this, {release(view, name)} on {name}"
    aim = _aim(view, name, change)
    if host is not None and aim:
        return _leads_to(host, view, after, with_this, aim)
    if host is None or not host.hcas:
        return HostProof(name, "not-simulated", f"{name}'s RDMA devices were not seen", (f"ibstat (on {name})",))
    found = chosen.of_host(host, view, after, view.version(host))
    if open_point := _open_point(view, name, found):
        return open_point
    if problem := _problem(host, found, after, change):
        return HostProof(name, "refuted", f"{with_this} {problem}")
    was = chosen.of_host(host, view, settings(view, name, Change({})), view.version(host))
    known = was.ports.known and was.net.known
    changed = (was.net.name, set(was.ports.names)) != (found.net.name, set(found.ports.names)) if known else None
    taken.append(_Taken(name, found.ports.ports, changed))
    return HostProof(name, "proved", f"{with_this} takes {', '.join(found.ports.names)}")


def _aim(view: View, name: str, change: Change) -> set[str]:
    """The networks that a change is meant to select; empty if it is about RDMA ports."""
    if parse_number(change.env.get("NCCL_IB_DISABLE")) or change.env.get("NCCL_NET", "").lower() == "socket":
        return {SOCKET}
    without_plugin = "NCCL_NET_PLUGIN" in {*change.env, *change.unset}
    if without_plugin or ("NCCL_NET" in change.unset and not _forces_sockets(view, name)):
        return {SOCKET, IB}
    return set()


def _open_point(view: View, name: str, found: chosen.OfHost) -> HostProof | None:
    """Why the choice cannot be determined; None if it can."""
    if not found.ports.known:
        why = next((str(r) for r in found.ports.reasons if "not known" in r.text or "not" in r.rule), "")
        what = why or "some of its ports were not seen"
        text = f"which RDMA ports {name} takes is not certain ({what})"
        return HostProof(name, "not-simulated", text, (f"ibstat (on {name})",))
    if found.ports.some and not found.net.known:
        why = found.net.reasons[-1].text
        text = f"whether {release(view, name)} on {name} uses its own IB transport is not certain ({why})"
        return HostProof(name, "not-simulated", text, ("env | grep NCCL (on each host)",))
    return None


def _forces_sockets(view: View, name: str) -> bool:
    """True if NCCL_NET currently selects sockets. Otherwise it names a network that is not available."""
    return settings(view, name, Change({})).get("NCCL_NET", "").lower() == SOCKET.lower()


def _leads_to(host: Host, view: View, after: Mapping[str, str], with_this: str, wanted: Container[str]) -> HostProof:
    """The proof for a change that should select one of these networks, such as NCCL_NET=Socket."""
    net = chosen.of_host(host, view, after, view.version(host)).net
    if not net.known:
        ask = (f"ip addr (on {host.name})", f"ibstat (on {host.name})")
        return HostProof(host.name, "not-simulated", f"which network {host.name} then uses is not certain", ask)
    if net.name in wanted:
        return HostProof(host.name, "proved", f"{with_this} uses {net.name}")
    return HostProof(host.name, "refuted", f"{with_this} finds another network or none ({net.error or net.name})")


def _problem(host: Host, found: chosen.OfHost, after: Mapping[str, str], change: Change) -> str:
    """The problem with the choice; empty if there is none."""
    ports = found.ports
    if not ports.some:
        return "is left without an RDMA port and uses sockets"
    if "NCCL_IB_HCA" in change.env:
        wanted = NameList.parse(after.get("NCCL_IB_HCA", ""), versions.as_range(host.nccl_version).high)
        if extra := _unmeant(host, ports, wanted):
            return f"{extra} too: {wanted.text} is read as a prefix of names"
    if found.net.name != IB:
        why = next((reason.text for reason in found.net.reasons if reason.about == IB), found.net.reasons[-1].text)
        return f"still does not use RDMA ({why})"
    return _mixture(ports)


def _mixture(ports: Devices) -> str:
    """The problem if the ports do not belong together; empty if they do."""
    layers = {port.link_layer for port in ports.ports} - {None}
    if len(layers) > 1:
        return f"takes InfiniBand and RoCE ports together ({', '.join(ports.names)}), which cannot connect"
    rates = [port.rate_gbps for port in ports.ports if port.rate_gbps]
    if rates and min(rates) * SLOW <= max(rates):
        slow = next(p for p in ports.ports if p.rate_gbps == min(rates))
        return f"takes {slow.hca} with {min(rates):g} Gbit/s beside ports of {max(rates):g} Gbit/s"
    return ""


def _unmeant(host: Host, ports: Devices, wanted: NameList) -> str:
    """A device that a prefix includes or excludes in addition to the one with exactly that name; empty if none."""
    if wanted.exact:
        return ""
    names = {hca.name for hca in host.hcas}
    meant = {item.name for item in wanted.items} & names
    if wanted.exclude:
        active = {port.hca for hca in host.hcas for port in hca.ports if port.state == "active"}
        out = sorted(name for name in active - meant if not wanted.admits(name) and name.startswith(tuple(meant)))
        return f"leaves out {out[0]}" if meant and out else ""
    extra = [port.hca for port in ports.ports if port.hca not in meant]
    return f"takes {extra[0]}" if meant and extra and extra[0].startswith(tuple(meant)) else ""


def _together(taken: Sequence[_Taken]) -> str:
    """The problem with the choices of all hosts together; empty if there is none."""
    if taken and all(one.changed is False for one in taken):
        return f"with this, nothing changes: {taken[0].host} uses the same RDMA ports as before"
    layers = {one.host: {p.link_layer for p in one.ports} - {None} for one in taken}
    known = {name: layer for name, layer in layers.items() if layer}
    first = next(iter(known.items()), None)
    for name, layer in known.items():
        if first is not None and layer != first[1]:
            return f"with this, {first[0]} takes {_word(first[1])} ports and {name} {_word(layer)} ones"
    return ""


def _word(layers: Collection[str | None]) -> str:
    return " and ".join("RoCE" if layer == "Ethernet" else str(layer) for layer in sorted(layers, key=str))
