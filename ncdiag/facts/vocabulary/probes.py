"""Connection attempts between hosts: the fault of each, and which interfaces connect."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from ncdiag.base.spans import Span
from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Fact, Job, LaunchFault, LinkTest, ProbeFault, ProbeLink, ProbePair, ProbeRail, Relation
from ncdiag.facts.model.probes import ProbeUntried
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import is_virtual

LinkState = Literal["fine", "ports", "large packets", "other answers", "unreachable"]


def state(link: ProbeLink) -> LinkState:
    """The fault of an attempt; the worst one where there are several."""
    if link.outcome == "other":
        return "other answers"
    if link.outcome != "connected":
        return "unreachable"
    if link.arrives is False or link.returns is False:
        return "large packets"
    return "ports" if link.ports_closed else "fine"


def is_inside(link: ProbeLink, view: View) -> bool:
    """Does the interface exist only inside its host? True also where both hosts have the same address on it."""
    if link.address == link.peer_address:
        return True
    host = view.host(link.host)
    own = next((one for one in host.interfaces if one.name == link.interface), None) if host is not None else None
    return own is not None and bool(is_virtual(own, view))


@derived
def connecting_interfaces(job: Job, view: View) -> dict[str, tuple[str, ...]]:
    """By host, the interfaces on which most attempts from and to it succeeded; only hosts that were tried."""
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    for link in job.probe_links:
        good = state(link) == "fine"
        for place in ((link.host, link.interface), (link.peer, link.peer_interface)):
            counts[place][good] += 1
    found: dict[str, list[str]] = {host: [] for host, _ in counts}
    for (host, interface), (failed, passed) in counts.items():
        if passed > failed:
            found[host].append(interface)
    return {host: tuple(names) for host, names in found.items()}


_LINES = 5
"""The largest number of lines of evidence for one fault."""


def few(spans: Iterable[Span | None]) -> dict[str, Span]:
    """The first of some spans, each once, as the provenance of a fault."""
    return {f"{number}": one for number, one in enumerate(list(dict.fromkeys(filter(None, spans)))[:_LINES])}


def lines_of(facts: Iterable[Fact]) -> dict[str, Span]:
    """The first spans of some facts, as the provenance of a fault."""
    return few(one.provenance.get("") for one in facts)


@derived
def trouble(fault: ProbeFault, view: View) -> str:
    """The kind of the fault (`ProbeFault.what`), with lines that show it as evidence."""
    note_lines(fault, view)
    return fault.what


def note_lines(fault: ProbeFault | LaunchFault | Relation, view: View) -> None:
    """Record all lines of a fault or relation as evidence of the field that is being computed."""
    for line in fault.provenance:
        view.note(fault, line)


class Measured(msgspec.Struct, frozen=True):
    """A run between two RDMA ports, with its result in Gbit/s where it has one.

    ``promised`` is the rate of the slower of the two ports in Gbit/s, None where one is not known.
    """

    rail: ProbeRail
    test: LinkTest | None
    gbps: float | None
    promised: float | None


def measured_rails(job: Job) -> list[Measured]:
    """All runs between RDMA ports, each with the result that perftest printed."""
    tests = {(test.host, test.hca, test.port, test.remote_ip): test for test in job.link_tests if test.rows}
    rates = {(port.host, port.hca, port.number): port.rate_gbps
             for host in job.hosts for hca in host.hcas for port in hca.ports}  # fmt: skip
    found = []
    for rail in job.probe_rails:
        test = tests.get((rail.host, rail.hca, rail.port, rail.address)) if rail.outcome == "ran" else None
        values = [row.average_gbps for row in test.rows if row.average_gbps is not None] if test is not None else []
        ends = [rates.get((rail.host, rail.hca, rail.port)), rates.get((rail.peer, rail.peer_hca, rail.peer_port))]
        known = [rate for rate in ends if rate]
        found.append(Measured(rail, test, max(values, default=None), min(known) if len(known) == len(ends) else None))
    return found


def rail_name(rail: ProbeRail) -> str:
    """The port, ``mlx5_0:1``; both ports where the peer's has another name."""
    own, other = f"{rail.hca}:{rail.port}", f"{rail.peer_hca}:{rail.peer_port}"
    return own if own == other else f"{own} - {other}"


_UNTRIED: Mapping[ProbeUntried, str] = {
    "hosts": "connections from {} to some other hosts", "interfaces": "some interfaces of {}",
    "bandwidth": "bandwidth of {}", "nccl-tests": "nccl-tests of {}", "needs": "some of what the launch needs of {}",
}  # fmt: skip


def gaps(job: Job) -> list[str]:
    """A phrase for each test that hosts did not run, for the report on what was not checked."""
    found: dict[tuple[ProbeUntried, str], list[str]] = defaultdict(list)
    for gap in job.probe_gaps:
        found[gap.what, "the time of the probe was over" if gap.what == "hosts" else gap.why].append(gap.host)
    told = [f"{_UNTRIED[what].format(fold_hosts(hosts))} ({why})" for (what, why), hosts in found.items()]
    runs = [rail for rail in job.probe_rails if rail.outcome == "not tried"]
    if runs:
        reasons = Counter(rail.error or "no reason was reported" for rail in runs).most_common(_SHOWN)
        words = "; ".join(why for why, _ in reasons)
        told.append(f"{len(runs)} of {len(job.probe_rails)} runs between RDMA ports ({words})")
    return told


_MUCH = 0.7
"""A run below this share of what others reach is slow; runs over healthy links differ by a few percent."""
_FEWEST, _SHOWN = 3, 3
"""The smallest number of runs that are compared, and the largest number of networks that are listed."""


def usual_rates(found: Sequence[Measured]) -> dict[float | None, float]:
    """The third quartile of the results in Gbit/s by port rate, for port rates with enough runs."""
    by_rate: dict[float | None, list[float]] = defaultdict(list)
    for one in found:
        if one.gbps is not None:
            by_rate[one.promised].append(one.gbps)
    return {rate: sorted(some)[len(some) * 3 // 4] for rate, some in by_rate.items() if len(some) >= _FEWEST}


def is_slow(one: Measured, usual: Mapping[float | None, float]) -> bool:
    """Did the run reach much less than others over ports of the same rate?"""
    others = usual.get(one.promised)
    return one.gbps is not None and others is not None and one.gbps < _MUCH * others


def slow_pairs(pairs: Sequence[ProbePair]) -> tuple[float, set[int]] | None:
    """The third quartile of nccl-tests results in GB/s, and the indices of the pairs that reach much less.

    None when there are too few runs.
    """
    rates = sorted(one.busbw for one in pairs if one.busbw is not None)
    if len(rates) < _FEWEST:
        return None
    usual = rates[len(rates) * 3 // 4]
    return usual, {place for place, one in enumerate(pairs) if one.busbw is not None and one.busbw < _MUCH * usual}


def merged(faults: Iterable[ProbeFault]) -> Iterator[ProbeFault]:
    """Join equal faults of the same hosts on several networks into one."""
    groups: dict[tuple[str, str, str], list[ProbeFault]] = defaultdict(list)
    for fault in faults:
        groups[fault.what, fault.where, fault.detail if fault.what not in {"ports", "slow"} else ""].append(fault)
    for first, *more in groups.values():
        networks = [first.network, *(fault.network for fault in more)]
        rest = f" and {len(networks) - _SHOWN} more" if len(networks) > _SHOWN else ""
        yield msgspec.structs.replace(first, network=", ".join(networks[:_SHOWN]) + rest)
