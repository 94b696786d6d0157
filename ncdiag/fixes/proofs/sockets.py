"""Simulate which interface NCCL uses on each host after a change of NCCL_SOCKET_IFNAME or related variables."""

from __future__ import annotations

import itertools

import msgspec

from ncdiag.facts.model import Address, Interface
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import ip
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.fixes.proofs.outcome import Change, HostProof, release, settings
from ncdiag.nccl.on_host import seen
from ncdiag.nccl.selection import sockets

VARIABLES = frozenset({"NCCL_SOCKET_IFNAME", "NCCL_SOCKET_FAMILY", "NCCL_COMM_ID"})


class _Picked(msgspec.Struct, frozen=True):
    """The addresses that a host announces: that of the bootstrap, then those of the data devices by their number."""

    host: str
    addresses: tuple[Address | None, ...]


def prove(view: View, change: Change) -> tuple[HostProof, ...]:
    """The choice of every host with the change applied, and whether the chosen addresses fit together."""
    picked: list[_Picked] = []
    proofs = [_host(name, view, change, picked) for name in seen.hosts(view)]
    missing = seen.unseen(view)
    if missing:
        text = "the interfaces of the other hosts were not seen"
        proofs.append(HostProof("", "not-simulated", text, ("ip addr (on the other hosts)",), others=True))
    at_hand_fit = all(proof.state == "proved" for proof in proofs if not proof.others)
    if at_hand_fit and (together := _together(picked)) is not None:
        proofs.append(together)
    return tuple(proofs)


def _host(name: str, view: View, change: Change, picked: list[_Picked]) -> HostProof:
    """The proof for one host; its choice is added to ``picked``."""
    host = seen.interfaces(name, view)
    ask = (f"ip addr (on {name})",)
    if host.origin == "none":
        return HostProof(name, "not-simulated", f"{name}'s interfaces were not seen", ask)
    known = seen.with_loopback(host)
    after = settings(view, name, change)
    version = view.version(view.host(name))
    choice = sockets.bootstrap(known, after, version)
    if open_point := _open_point(view, host, choice, after):
        return HostProof(name, "not-simulated", open_point, ask)
    with_this = f"with this, {release(view, name)} on {name}"
    if choice.error is not None:
        return HostProof(name, "refuted", f"{with_this} stops: {choice.error}")
    data = sockets.net_socket(known, after, version) if _carries_data(view, name) else choice
    if problem := _problem(view, known, choice, data if data.known else choice, after):
        return HostProof(name, "refuted", f"{with_this} {problem}")
    if hidden := seen.may_be_hidden(view, host, after):
        return HostProof(name, "not-simulated", f"{name}'s log does not show {hidden}", ask)
    first = choice.interfaces[0]
    by_name = {interface.name: interface for interface in known}
    names = (first.name, *(data.names if data.known else ()))
    picked.append(_Picked(name, tuple(seen.address(by_name[each], view) for each in names)))
    of = " of the interfaces in its log" if host.origin == "log" else ""
    return HostProof(name, "proved", f"{with_this} picks {first.name} ({first.address}){of}")


def _open_point(view: View, host: seen.Seen, choice: sockets.Choice, after: dict[str, str]) -> str:
    """Why the choice cannot be determined; empty if it can."""
    if not choice.known:
        why = next((str(reason) for reason in choice.reasons if "not" in reason.text), "something was not seen")
        return f"what {release(view, host.host)} on {host.host} picks is not certain ({why})"
    if choice.error is not None and host.origin == "log":
        wanted = after.get("NCCL_SOCKET_IFNAME", "the default")
        return f"none of the interfaces that {host.host}'s log lists fits {wanted}"
    if seen.hides_family(view, host, after):
        return f"{host.host}'s log does not show addresses of the other family"
    return ""


def _carries_data(view: View, name: str) -> bool:
    """True if the TCP transport may carry data on this host, as far as known."""
    ranks = view.ranks_on(name)
    return not any(rank.net not in {None, "Socket"} or (rank.net is None and rank.net_devices) for rank in ranks)


def _problem(
    view: View, known: tuple[Interface, ...], choice: sockets.Choice, data: sockets.Choice, after: dict[str, str]
) -> str:
    """The problem with the interfaces that NCCL would use; empty if there is none."""
    by_name = {interface.name: interface for interface in known}
    first = choice.names[0]
    wanted = after.get("NCCL_SOCKET_IFNAME", "")
    if wanted and wanted[0] not in "^=" and "NCCL_COMM_ID" not in after:
        meant = [part for part in wanted.split(",") if part in by_name]
        if meant and first not in meant:
            return f"picks {first}: {wanted} is read as a prefix of names, and {first} comes before {meant[0]}"
    if is_multi_host(view.job, view) is False:
        return ""
    for number, name in enumerate(dict.fromkeys([first, *data.names])):
        interface = by_name[name]
        if seen.suits(interface, view, known) is False:
            verb = "picks" if number == 0 else f"picks {first} but sends data over"
            return f"{verb} {name} ({ip(interface, view)}), which other hosts cannot reach"
        if number and wanted and wanted[0] not in "^=" and name not in wanted.split(","):
            mine, other = seen.address(by_name[first], view), seen.address(interface, view)
            if mine and other and first in wanted.split(",") and seen.same_network(mine, other) is False:
                return f"picks {first} and also {name}, in another network: {wanted} is read as a prefix of names"
    return ""


def _together(picked: list[_Picked]) -> HostProof | None:
    """The proof that the addresses of all hosts do not fit together; None if nothing indicates it.

    Rings connect devices of equal number, so the data devices of two hosts are compared by their index.
    """
    for one, other in itertools.pairwise(picked):
        for mine, theirs in zip(one.addresses, other.addresses, strict=False):
            if mine is None or theirs is None:
                continue
            if mine.ip == theirs.ip:
                return HostProof("", "refuted", f"{one.host} and {other.host} would both announce {mine.ip}")
            if seen.same_network(mine, theirs) is False:
                text = (
                    f"{one.host} ({mine.ip}) and {other.host} ({theirs.ip}) are in different networks; "
                    "whether one reaches the other was not seen"
                )
                return HostProof("", "not-simulated", text, (f"ip route get {theirs.ip} (on {one.host})",))
    return None
