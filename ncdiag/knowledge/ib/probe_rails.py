"""Faults from perftest runs between hosts: hosts slower than all others, and pairs without a result."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Job, ProbeFault, ProbePair
from ncdiag.facts.model.probes import ProbeTrouble
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.probes import (
    Measured,
    is_slow,
    lines_of,
    measured_rails,
    merged,
    rail_name,
    slow_pairs,
    usual_rates,
)  # fmt: skip
from ncdiag.knowledge.socket.culprits import Culprit, Pair, culprits

_SHOWN = 2


@derived
def rail_faults(job: Job, view: View) -> tuple[ProbeFault, ...]:
    """Slow and failed runs between the RDMA ports of hosts, each fault narrowed down to hosts, pairs or a rail."""
    return (*merged(_of_ports(job)), *_of_pairs(job.probe_pairs))


def _of_ports(job: Job) -> Iterator[ProbeFault]:
    found = measured_rails(job)
    rails: dict[str, list[Measured]] = defaultdict(list)
    for one in found:
        rails[rail_name(one.rail)].append(one)
    usual = usual_rates(found)
    for name, runs in rails.items():
        measured = [one for one in runs if one.gbps is not None and one.promised in usual]
        yield from _of_rail("slow", name, [(one, is_slow(one, usual)) for one in measured], usual)
        tried = [one for one in runs if one.rail.outcome in {"ran", "failed"}]
        yield from _of_rail("no run", name, [(one, one.rail.outcome == "failed") for one in tried], usual)


@derived
def rates_of_both(job: Job, view: View) -> dict[str, float]:
    """The rate in Gbit/s of the slower port of a link test, by its ``HOST DEVICE PORT ADDRESS`` (of the peer)."""
    return {
        f"{one.test.host} {one.test.hca} {one.test.port} {one.test.remote_ip}": one.promised
        for one in measured_rails(job) if one.test is not None and one.promised is not None
    }  # fmt: skip


def _of_pairs(pairs: Sequence[ProbePair]) -> Iterator[ProbeFault]:
    """Faults from nccl-tests over two hosts; the order of the two hosts does not matter."""
    usual, slow = slow_pairs(pairs) or (0.0, set[int]())
    failed = {place for place, one in enumerate(pairs) if one.busbw is None}
    kinds: tuple[tuple[ProbeTrouble, set[int]], ...] = (("slow", slow), ("no run", failed))
    for what, bad in kinds:
        judged = [place for place in range(len(pairs)) if what == "no run" or place not in failed]
        tried = {pair: place in bad for place in judged for pair in _both_ways(pairs[place])}
        for culprit in culprits(tried):
            own = [pairs[place] for place in judged if place in bad and _both_ways(pairs[place])[0] in culprit.pairs]
            rates = ", ".join(sorted({f"{one.busbw:.3g}" for one in own if one.busbw is not None})[:_SHOWN])
            errors = "; ".join(dict.fromkeys(one.error or "no reason was reported" for one in own))
            detail = f"{rates} GB/s where others reach {usual:.3g}" if what == "slow" else errors
            yield ProbeFault(
                what=what, where=culprit.where, hosts=fold_hosts(culprit.hosts), network=pairs[0].program,
                detail=detail, provenance=lines_of(own),
            )  # fmt: skip


def _both_ways(one: ProbePair) -> tuple[Pair, Pair]:
    return (one.host, one.peer), (one.peer, one.host)


def _of_rail(
    what: ProbeTrouble, name: str, judged: Sequence[tuple[Measured, bool]], usual: dict[float | None, float]
) -> Iterator[ProbeFault]:  # fmt: skip
    tried: dict[Pair, bool] = {}
    for one, failed in judged:
        pair = one.rail.host, one.rail.peer
        tried[pair] = tried.get(pair, False) or failed
    for culprit in culprits(tried):
        own = [one for one, failed in judged if failed and (one.rail.host, one.rail.peer) in culprit.pairs]
        yield _fault(what, name, culprit, own, _rates(own, usual) if what == "slow" else _errors(own))


def _fault(what: ProbeTrouble, name: str, culprit: Culprit, runs: Sequence[Measured], detail: str) -> ProbeFault:
    spans = lines_of(one.test or one.rail for one in runs)
    return ProbeFault(
        what=what, where=culprit.where, hosts=fold_hosts(culprit.hosts), network=name, detail=detail, provenance=spans
    )


def _rates(runs: Sequence[Measured], usual: dict[float | None, float]) -> str:
    """The rates in words, ``88.1 Gbit/s where others reach 391``; a range for several."""
    rates = sorted(one.gbps for one in runs if one.gbps is not None)
    others = max(usual[one.promised] for one in runs)
    several = f"{rates[0]:.3g} to {rates[-1]:.3g}" if rates[-1] - rates[0] > rates[-1] / 10 else f"{rates[-1]:.3g}"
    return f"{several} Gbit/s where others reach {others:.3g}"


def _errors(runs: Sequence[Measured]) -> str:
    counts = Counter(one.rail.error or "no reason was reported" for one in runs)
    return "; ".join(words for words, _ in counts.most_common(_SHOWN))
