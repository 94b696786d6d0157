"""Faults in the attempts of `ncdiag probe`, each once, narrowed down to hosts, networks or pairs of hosts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.facts.model import Job, ProbeFault, ProbeLink
from ncdiag.facts.model.probes import ProbeTrouble
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.probes import is_inside, lines_of, merged, state
from ncdiag.knowledge.socket.culprits import Culprit, Pair, culprits
from ncdiag.knowledge.socket.probe_names import clock_faults, name_faults
from ncdiag.knowledge.socket.probe_ports import port_faults

_SHOWN = 3
Lines = Mapping[Pair, Sequence[ProbeLink]]


@derived
def probe_faults(job: Job, view: View) -> tuple[ProbeFault, ...]:
    """The faults in the connection attempts between hosts."""
    rails: dict[str, list[ProbeLink]] = defaultdict(list)
    inside: dict[str, list[ProbeLink]] = defaultdict(list)
    for link in job.probe_links:
        (inside if is_inside(link, view) else rails)[_rail(link)].append(link)
    cut = _cut_off(rails)
    found = [*_of_cut(rails, cut)]
    for rail, links in rails.items():
        found += _of_rail(rail, [link for link in links if (link.host, link.peer) not in cut], view)
    found += [_inside(rail, links) for rail, links in inside.items() if any(state(one) != "fine" for one in links)]
    return (*merged(found), *port_faults(job), *name_faults(job), *clock_faults(job))


@derived
def on_network(fault: ProbeFault, view: View) -> str:
    """The network of the fault, `` in 10.0.0.0/16 (eth0)``; empty where none is known."""
    return f" in {fault.network}" if fault.network else ""


def _rail(link: ProbeLink) -> str:
    names = dict.fromkeys([link.interface, link.peer_interface])
    return f"{link.network} ({', '.join(names)})" if link.network else f"routed networks ({', '.join(names)})"


def _cut_off(rails: Mapping[str, Sequence[ProbeLink]]) -> set[Pair]:
    """The pairs of hosts without any successful attempt."""
    tried: dict[Pair, bool] = {}
    for links in rails.values():
        for link in links:
            pair = link.host, link.peer
            tried[pair] = tried.get(pair, True) and state(link) == "unreachable"
    return {pair for pair, failed in tried.items() if failed}


def _of_cut(rails: Mapping[str, Sequence[ProbeLink]], cut: set[Pair]) -> Iterator[ProbeFault]:
    links = [link for some in rails.values() for link in some]
    tried = {(link.host, link.peer): (link.host, link.peer) in cut for link in links}
    for culprit in culprits(tried):
        own = [link for link in links if (link.host, link.peer) in culprit.pairs]
        network = ", ".join(sorted({_rail(link) for link in own})[:_SHOWN])
        yield _fault("cut off", culprit, own, _why(own), network)


def _of_rail(rail: str, links: Sequence[ProbeLink], view: View) -> Iterator[ProbeFault]:
    """The faults on one network."""
    checks: tuple[tuple[ProbeTrouble, Callable[[ProbeLink], bool | None], Callable[[list[ProbeLink]], str]], ...] = (
        ("unreachable", lambda link: state(link) == "unreachable", _why),
        ("other answers", _is_answered_by_others, _who),
        ("ports", lambda link: bool(link.ports_closed) if link.ports_tried else None, _ports),
        ("way", lambda link: link.leaves_by is not None, _ways),
        ("detour", lambda link: link.through is not None if link.outcome == "connected" else None, _detours),
        ("translated", lambda link: link.seen_as is not None if link.outcome == "connected" else None, _seen),
    )
    for what, check, told in checks:
        judged = [(link, failed) for link in links if (failed := check(link)) is not None]
        tried: dict[Pair, bool] = {}
        for link, failed in judged:
            tried[link.host, link.peer] = tried.get((link.host, link.peer), False) or failed
        for culprit in culprits(tried):
            own = [link for link, failed in judged if failed and (link.host, link.peer) in culprit.pairs]
            yield _fault(what, culprit, own, told(own), rail)
    yield from _large(rail, links, view)


def _is_answered_by_others(link: ProbeLink) -> bool | None:
    return None if state(link) == "unreachable" else link.outcome == "other"


def _large(rail: str, links: Sequence[ProbeLink], view: View) -> Iterator[ProbeFault]:
    """The faults with large messages, for each direction separately."""
    tried: dict[Pair, bool] = {}
    lines: dict[Pair, list[ProbeLink]] = defaultdict(list)
    for link in links:
        for pair, passes in (((link.host, link.peer), link.arrives), ((link.peer, link.host), link.returns)):
            if passes is not None:
                tried[pair] = tried.get(pair, False) or not passes
                lines[pair] += [] if passes else [link]
    for culprit in culprits(tried):
        own = {id(link): link for pair in sorted(culprit.pairs) for link in lines[pair]}
        yield _fault("large packets", culprit, list(own.values()), _mtus(links, view), rail)


def _mtus(links: Iterable[ProbeLink], view: View) -> str:
    """The MTUs of the interfaces: ``the interfaces have an MTU of 1500 (n[1-3]), 9000 (n4)``."""
    ends = {(name, link.interface if name == link.host else link.peer_interface)
            for link in links for name in (link.host, link.peer)}  # fmt: skip
    found: dict[int, set[str]] = defaultdict(set)
    for name, interface in ends:
        host = view.host(name)
        for one in host.interfaces if host is not None else ():
            if one.name == interface and one.mtu is not None:
                found[one.mtu].add(name)
    told = [f"{mtu} ({fold_hosts(names)})" for mtu, names in sorted(found.items())]
    return f"the interfaces have an MTU of {', '.join(told)}" if told else "small messages pass"


def _why(links: Iterable[ProbeLink]) -> str:
    counts = Counter(link.error or link.outcome or "no answer" for link in links)
    said = {"silent": "connected, and no word came back"}
    return ", ".join(said.get(word, word) for word, _ in counts.most_common(_SHOWN))


def _who(links: Iterable[ProbeLink]) -> str:
    found = dict.fromkeys(f"{one.answered_by} answers at {one.peer_address} of {one.peer}" for one in links)
    return "; ".join([*found][:_SHOWN])


def _ports(links: Sequence[ProbeLink]) -> str:
    closed = sorted({port for link in links for port in link.ports_closed or ()})
    tried, shut = sum(link.ports_tried or 0 for link in links), sum(len(link.ports_closed or ()) for link in links)
    listed = fold_ranks(closed) if len(closed) <= _SHOWN else f"from {closed[0]} to {closed[-1]}"
    return f"{shut} of {tried} tries closed, {'port' if len(closed) == 1 else 'ports'} {listed}"


def _ways(links: Iterable[ProbeLink]) -> str:
    found = dict.fromkeys(f"{one.host} sends from {one.interface} ({one.address}) by {one.leaves_by}" for one in links)
    return "; ".join([*found][:_SHOWN])


def _detours(links: Iterable[ProbeLink]) -> str:
    found = dict.fromkeys(f"{one.through} answers ARP for {one.peer_address} of {one.peer}" for one in links)
    return "; ".join([*found][:_SHOWN])


def _seen(links: Iterable[ProbeLink]) -> str:
    found = dict.fromkeys(f"{one.address} of {one.host} is seen as {one.seen_as}" for one in links)
    return "; ".join([*found][:_SHOWN])


def _inside(rail: str, links: Sequence[ProbeLink]) -> ProbeFault:
    own = [link for link in links if state(link) != "fine"]
    hosts = fold_hosts(host for link in own for host in (link.host, link.peer))
    return ProbeFault(what="inside", where=hosts, hosts=hosts, network=rail, provenance=lines_of(own))


def _fault(what: ProbeTrouble, culprit: Culprit, links: Sequence[ProbeLink], detail: str, network: str) -> ProbeFault:
    hosts = fold_hosts(culprit.hosts)
    return ProbeFault(
        what=what, where=culprit.where, hosts=hosts, network=network, detail=detail, provenance=lines_of(links)
    )
