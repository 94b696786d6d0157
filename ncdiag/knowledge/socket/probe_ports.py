"""Ports of other programs that `ncdiag probe` tried: on the hosts, and at the place where the ranks meet."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Job, ProbeFault, ProbePort
from ncdiag.facts.model.probes import ProbeTrouble
from ncdiag.facts.vocabulary.probes import lines_of
from ncdiag.knowledge.socket.culprits import Pair, culprits
from ncdiag.knowledge.socket.probe_names import names_apart

_SHOWN = 3
_SSH = 22
"""The port of ssh (IANA), which every probe tries: launchers start processes over it; NCCL does not need it."""
_LOST = frozenset({"no answer", "unreachable", "not permitted", "rejected"})
_SAID = {"rejected": "is refused although a program listens there"}


def port_faults(job: Job) -> Iterator[ProbeFault]:
    """Ports that some hosts cannot use, and unreachable places that are not on one of the hosts."""
    names = _hosts(job)
    closed: dict[int, list[ProbePort]] = defaultdict(list)
    places: dict[tuple[str, int], list[ProbePort]] = defaultdict(list)
    for one in job.probe_ports:
        if one.outcome != "not found" and (one.place in names or one.address in names):
            closed[one.port].append(one)
        else:
            places[one.place, one.port].append(one)
    for port, tries in closed.items():
        yield from _closed(port, tries, names)
    apart = names_apart(job)  # which `probe_names` reports
    for (place, port), tries in places.items():
        lost = _LOST if place in apart else _LOST | {"not found"}
        bad = [one for one in tries if one.outcome in lost]
        if bad:
            count = sum((one.place, one.port) == (place, port) for one in job.probe_ports)
            yield _place(f"{place}:{port}", bad, count)


def _hosts(job: Job) -> Mapping[str, str]:
    """The hosts that took part, by their names, their addresses, and the places that are on them."""
    found = {name: name for link in job.probe_links for name in (link.host, link.peer)}
    found |= {met.place: met.host for met in job.probe_meetings}
    return {link.peer_address: link.peer for link in job.probe_links if not link.answered_by} | found


def _closed(port: int, tries: Sequence[ProbePort], names: Mapping[str, str]) -> Iterator[ProbeFault]:
    tried: dict[Pair, bool] = {}
    lines: dict[Pair, ProbePort] = {}
    for one in tries:
        pair = one.host, names.get(one.place) or names[one.address or ""]
        lost = one.outcome in _LOST
        tried[pair] = tried.get(pair, False) or lost
        if lost:
            lines[pair] = one
    for culprit in culprits(tried):
        own = [lines[pair] for pair in sorted(culprit.pairs)]
        what: ProbeTrouble = "ssh port" if port == _SSH else "ports"
        words = Counter(_SAID.get(one.outcome or "", "gives no answer") for one in own).most_common(1)[0][0]
        yield ProbeFault(
            what=what, where=culprit.where, hosts=fold_hosts(culprit.hosts), detail=f"port {port} {words}",
            provenance=lines_of(own),
        )  # fmt: skip


def _place(place: str, bad: Sequence[ProbePort], count: int) -> ProbeFault:
    hosts = fold_hosts(one.host for one in bad)
    said = {"not found": "the name has no address"}
    words = Counter(said.get(one.outcome or "", one.error or "no answer") for one in bad)
    told = ", ".join(word for word, _ in words.most_common(_SHOWN))
    who = "for all hosts" if len(bad) == count else f"for {hosts} and not for others"
    return ProbeFault(
        what="place", where=hosts, hosts=hosts, network=place, detail=f"{told} ({who})", provenance=lines_of(bad)
    )
