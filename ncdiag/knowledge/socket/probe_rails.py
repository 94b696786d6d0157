"""What the runs of perftest between hosts come to: who is slower than all others, and between whom nothing ran."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Job, ProbeFault
from ncdiag.facts.model.probes import ProbeTrouble
from ncdiag.facts.vocabulary.probes import Measured, is_slow, measured_rails, rail_name, usual_rates
from ncdiag.knowledge.socket.culprits import Culprit, Pair, culprits

_LINES, _SHOWN = 5, 2


def rail_faults(job: Job) -> Iterator[ProbeFault]:
    """Slow and failed runs, each trouble narrowed down to hosts, pairs or a rail."""
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
    spans = {f"{number}": (one.test or one.rail).provenance[""] for number, one in enumerate(runs[:_LINES])}
    return ProbeFault(
        what=what, where=culprit.where, hosts=fold_hosts(culprit.hosts), network=name, detail=detail, provenance=spans
    )


def _rates(runs: Sequence[Measured], usual: dict[float | None, float]) -> str:
    """``88.1 Gbit/s where others reach 391``; the range of several."""
    rates = sorted(one.gbps for one in runs if one.gbps is not None)
    others = max(usual[one.promised] for one in runs)
    several = f"{rates[0]:.3g} to {rates[-1]:.3g}" if rates[-1] - rates[0] > rates[-1] / 10 else f"{rates[-1]:.3g}"
    return f"{several} Gbit/s where others reach {others:.3g}"


def _errors(runs: Sequence[Measured]) -> str:
    counts = Counter(one.rail.error or "no reason was told" for one in runs)
    return "; ".join(words for words, _ in counts.most_common(_SHOWN))
