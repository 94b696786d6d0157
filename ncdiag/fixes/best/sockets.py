"""The interface that all hosts of the job should use."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ncdiag.base.spans import Span
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Address, Interface
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.addresses import advertised, aimed_at
from ncdiag.facts.vocabulary.interfaces import is_virtual, likely_kind
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.facts.vocabulary.probes import connecting_interfaces
from ncdiag.fixes.values import Bindings, Value, best
from ncdiag.nccl import versions
from ncdiag.nccl.on_host import seen

_ON_BOARD = "eno"
"""What systemd calls adapters of the main board (systemd.net-naming-scheme(7)): the others are in slots, and faster."""


class _Candidate(msgspec.Struct, frozen=True):
    """A candidate interface, with the address that NCCL would use; the lowest ``order`` is best."""

    interface: Interface
    address: Address
    order: tuple[bool, int, bool, int, bool, int]
    physical: bool


@best
def shared_interface(view: View, bindings: Bindings) -> Value:  # noqa: ARG001
    """A value for NCCL_SOCKET_IFNAME: on every host, the interface in the network that all hosts share.

    ``=name`` if the version supports that form (2.5 and later), a list if hosts have different names. Physical, bond
    and IPoIB interfaces come before others, then those that reach a known peer, that have the default route, the
    fastest. If one host has such an interface, no virtual one is proposed for any host.
    """
    found = _found(view)
    unseen = fold_hosts(name for name, some in found.items() if not some)
    blind: tuple[str, ...] = (f"ip addr (on {unseen})",) if unseen else ()
    if seen.unseen(view):
        blind += ("ip addr (on the other hosts of the job)",)
    with_some = {name: some for name, some in found.items() if some}
    if not with_some:
        if (listed := _below_no_prompt(view, blind)) is not None:
            return listed
        reason = "no interface with an address that other hosts can reach was seen"
        return Value(reason=reason, ask_for=blind or ("ip addr (on every host)",))
    chosen, reason = _choose(with_some, view)
    if len({one.address.ip for one in chosen.values()}) < len(chosen):
        reason = "the interfaces seen have one address on several hosts"
        return Value(reason=reason, ask_for=blind or ("ip addr (on every host)",))
    if _failed_already(chosen, view):
        return _another(with_some, chosen, view) or Value(
            reason="connections between these interfaces have failed, and no other interface was seen",
            ask_for=blind or ("ip addr (on every host)",),
        )
    text, problem = _render({name: one.interface.name for name, one in chosen.items()}, view)
    spans = tuple(dict.fromkeys(span for one in chosen.values() for span in _spans(one.interface)))
    if text is None:
        return Value(reason=problem, spans=spans, ask_for=blind)
    return Value(text=text, reason=reason, spans=spans, ask_for=blind)


def _found(view: View) -> dict[str, tuple[_Candidate, ...]]:
    """The candidates of each host: virtual ones only if no host has another, and those that connected, if tried."""
    found = {name: _candidates(seen.with_listed(name, view), view) for name in seen.hosts(view)}
    if any(one.physical for some in found.values() for one in some):
        found = {name: tuple(one for one in some if one.physical) for name, some in found.items()}
    return _connecting(found, view)


def _below_no_prompt(view: View, blind: tuple[str, ...]) -> Value | None:
    """From a listing that names no host, beside a log that does: its only interface, or the only one near a peer."""
    some = [one for one in _candidates(seen.interfaces(UNNAMED, view), view) if one.physical]
    near = [one for one in some if not one.order[0]]
    one = next(iter(near or some), None)
    if one is None or len(near or some) > 1 or UNNAMED in seen.hosts(view):
        return None
    text, reason = _render({UNNAMED: one.interface.name}, view)
    why = f"the network of another host: {_told({'a host': one})}" if near else "the only one that others can reach"
    return Value(text=text, reason=reason or why, spans=_spans(one.interface), ask_for=blind) if text else None


def chosen_interfaces(view: View) -> dict[str, tuple[str, str]]:
    """For each host with a candidate: the name and address of the interface that it should use."""
    with_some = {name: some for name, some in _found(view).items() if some}
    chosen = _choose(with_some, view)[0] if with_some else {}
    return {name: (one.interface.name, one.address.ip) for name, one in chosen.items()}


def _connecting(found: dict[str, tuple[_Candidate, ...]], view: View) -> dict[str, tuple[_Candidate, ...]]:
    """The interfaces on which connection tests between the hosts succeeded, if there were tests and these suffice."""
    tried = connecting_interfaces(view.job, view)
    if not any(tried.values()):
        return found
    kept = {
        name: tuple(one for one in some if one.interface.name in tried[name]) if tried.get(name) else some
        for name, some in found.items()
    }
    return {name: some or found[name] for name, some in kept.items()}


def _failed_already(chosen: dict[str, _Candidate], view: View) -> bool:
    """True if they are those in use, the hosts share no network, and a connection to one of them failed."""
    tried = {item.ip for item in advertised(view.job, view) if item.failed}
    used = {rank.bootstrap_interface.name for rank in view.job.ranks if rank.bootstrap_interface is not None}
    addresses = [one.address for one in chosen.values()]
    return (
        any(address.ip in tried for address in addresses)
        and all(one.interface.name in used for one in chosen.values())
        and not any(seen.same_network(addresses[0], other) for other in addresses[1:])
    )


def _another(found: dict[str, tuple[_Candidate, ...]], failed: dict[str, _Candidate], view: View) -> Value | None:
    """The only other interface of the hosts whose interfaces were listed; the others are asked for theirs."""
    used = {one.interface.name for one in failed.values()}
    unnamed = _candidates(seen.interfaces(UNNAMED, view), view)  # a listing below no prompt, beside a log with names
    found = {**found, UNNAMED: tuple(one for one in unnamed if one.physical)} if unnamed else found
    others = {name: [one for one in some if one.interface.name not in used] for name, some in found.items()}
    listed = {name: some for name, some in others.items() if some}
    names = {one.interface.name for some in listed.values() for one in some}
    lacks = any(not some and seen.interfaces(host, view).origin == "all" for host, some in others.items())
    if len(names) != 1 or lacks:
        return None
    name = names.pop()
    exact = versions.agreed(view.version(), (versions.EXACT_NAMES,), lambda version: version >= versions.EXACT_NAMES)
    blind = tuple(f"ip addr (on {host})" for host, some in others.items() if not some and host != UNNAMED)
    spans = tuple(dict.fromkeys(span for some in listed.values() for one in some for span in _spans(one.interface)))
    with_it = fold_hosts(set(listed) - {UNNAMED}) or "a host"
    reason = f"connections between {', '.join(sorted(used))} have failed; {with_it} also has {name}"
    return Value(text=f"={name}" if exact else name, reason=reason, spans=spans, ask_for=blind)


@best
def shared_interface_name(view: View, bindings: Bindings) -> Value:
    """The same interface for programs that expect plain names (Open MPI, Gloo): without NCCL's ``=``."""
    found = shared_interface(view, bindings)
    return msgspec.structs.replace(found, text=found.text.lstrip("=")) if found.text else found


def _candidates(host: seen.Seen, view: View) -> tuple[_Candidate, ...]:
    """The interfaces of a host that could carry the traffic, best first; doubtful ones only if there is no other."""
    peers = _peers(view, host.host)
    sure: list[_Candidate] = []
    doubtful: list[_Candidate] = []
    for position, interface in enumerate(host.interfaces):
        suits = seen.suits(interface, view, host.interfaces)
        address = seen.address(interface, view)
        if suits is False or address is None:
            continue
        kind = likely_kind(interface, view)
        order = (
            not any(seen.same_network(address, peer) for peer in peers),
            seen.PREFERENCE.get(kind, 5),
            not _has_default_route(interface, view),
            -(interface.speed_mbps or 0),
            interface.name.startswith(_ON_BOARD),
            position,
        )
        physical = bool(suits) and not is_virtual(interface, view)
        (sure if suits else doubtful).append(_Candidate(interface, address, order, physical))
    return tuple(sorted(sure or doubtful, key=lambda candidate: candidate.order))


def _peers(view: View, host: str) -> list[Address]:
    """Addresses of other hosts that the job tries to reach."""
    found = {item.ip for item in aimed_at(view.job, view) if item.ip and item.host != host}
    found |= {launch.master_addr for launch in view.job.launches if launch.master_addr}
    names = set(seen.hosts(view)) - {host}
    found |= {
        str(event.fields["address"]) for event in view.job.events
        if event.event == "name-resolved" and event.fields.get("host_name") in names
    }  # fmt: skip
    return [Address(ip) for ip in found if not ip.startswith("127.")]


def _has_default_route(interface: Interface, view: View) -> bool:
    host = view.host(interface.host)
    routes = host.routes if host else ()
    return any(route.destination == "default" and route.interface == interface.name for route in routes)


def _choose(found: dict[str, tuple[_Candidate, ...]], view: View) -> tuple[dict[str, _Candidate], str]:
    """One interface per host: in one network if the hosts share one, else with one name, else the best of each."""
    if len(found) > 1:
        shared = [chosen for anchor in next(iter(found.values())) if (chosen := _in_network(anchor, found))]
        if shared:
            chosen = min(shared, key=lambda some: max(one.order[:5] for one in some.values()))
            return chosen, f"all hosts seen have it in the network of {_told(chosen)}"
        for anchor in next(iter(found.values())):
            named = {
                host: next((c for c in some if c.interface.name == anchor.interface.name), None)
                for host, some in found.items()
            }
            if all(named.values()):
                same = {host: one for host, one in named.items() if one is not None}
                return same, f"all hosts seen have it, with addresses that have to be routed: {_told(same)}"
    chosen = {host: some[0] for host, some in found.items()}
    rest = [c.interface.name for some in found.values() for c in some[1:] if len(found) == 1]
    also = f" (also possible: {', '.join(rest)})" if rest else ""
    alone = " of the only host seen" if len(found) == 1 and is_multi_host(view.job, view) else ""
    return chosen, f"its address{alone} is one that other hosts can reach: {_told(chosen)}{also}"


def _in_network(anchor: _Candidate, found: dict[str, tuple[_Candidate, ...]]) -> dict[str, _Candidate] | None:
    """For each host its best interface in the network of ``anchor``; None if a host certainly has none there."""
    chosen = {}
    for host, some in found.items():
        inside = [c for c in some if c is anchor or seen.same_network(anchor.address, c.address)]
        if not inside:
            return None
        chosen[host] = inside[0]
    return chosen


def _told(chosen: dict[str, _Candidate]) -> str:
    parts = []
    for host, one in sorted(chosen.items())[:4]:
        length = f"/{one.address.prefix_len}" if one.address.prefix_len is not None else ""
        parts.append(f"{host} {one.interface.name} {one.address.ip}{length}")
    return ", ".join(parts) + (" ..." if len(chosen) > len(parts) else "")


def _render(names: dict[str, str], view: View) -> tuple[str | None, str]:
    """The value for all hosts, or None and the reason why there is none."""
    wanted = list(dict.fromkeys(names.values()))
    listing = {host: [i.name for i in seen.with_listed(host, view).interfaces] for host in names}
    exact = versions.agreed(view.version(), (versions.EXACT_NAMES,), lambda version: version >= versions.EXACT_NAMES)
    if exact is None:  # without the exact form, a plain name works if no other name begins with it
        exact = not all(_picks(listing[host], wanted, names[host], exact=False) for host in names)
    if all(_picks(listing[host], wanted, names[host], exact=exact) for host in names):
        return ("=" if exact else "") + ",".join(wanted), ""
    each = ", ".join(f"{host}: {'=' if exact else ''}{name}" for host, name in sorted(names.items())[:8])
    return None, f"no one value selects the right interface on every host; set it on each host: {each}"


def _picks(present: Sequence[str], wanted: Sequence[str], right: str, *, exact: bool) -> bool:
    """True if the list selects exactly this interface of the host."""
    return all(
        name == right for name in present if any(name == one if exact else name.startswith(one) for one in wanted)
    )


def _spans(interface: Interface) -> tuple[Span, ...]:
    found = interface.provenance.get("addresses") or interface.provenance.get("")
    return (found,) if found else ()
