"""Compute the matrices: a row and a column for each host, or for each group of hosts with the same results."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from ncdiag.agent.look import natural
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Job, ProbeLink
from ncdiag.facts.vocabulary.probes import LinkState, is_slow, measured_rails, rail_name, slow_pairs, state, usual_rates
from ncdiag.language import phrase, say

Pair = tuple[str, str]
State = LinkState | Literal["slow", "not tried", "failed"]
MARKS: dict[State, str] = {
    "fine": ".", "ports": "p", "large packets": "m", "other answers": "?", "unreachable": "x", "slow": "",
    "not tried": "-", "failed": "x",
}  # fmt: skip
"""Marks of the states, in order of severity. Measured runs have their Gbit/s as a mark."""
MEANINGS: dict[State, str] = {
    "fine": "connects", "ports": "some ports are closed", "large packets": "large messages are lost",
    "other answers": "another host answers", "unreachable": "does not connect", "slow": "much slower than others",
    "not tried": "not tried", "failed": "the run fails",
}  # fmt: skip
_WORST = list(MARKS)
_NOTHING = "nothing was measured"
SINGLE = 16
"""Maximum number of hosts with one row each."""
MOST = 24
"""Maximum number of rows of a matrix; if there are more, those with most problems."""


class Cell(msgspec.Struct, frozen=True):
    """The result of the ``count`` tests from one group of hosts to another."""

    state: State
    count: int
    about: str
    mark: str


class Matrix(msgspec.Struct, frozen=True):
    """The tests on one network. ``groups`` are folded hosts, ``left_out`` counts those without a row.

    ``unit`` is that of the numbers in the cells, empty if there are none.
    """

    network: str
    groups: tuple[str, ...]
    cells: Mapping[tuple[int, int], Cell]
    pairs: int
    fine: int
    left_out: int = 0
    unit: str = ""

    @property
    def summary(self) -> str:
        """``10.0.0.0/16 (eth0): 54 of 56 pairs connect without fault``."""
        counts = {"n": self.fine, "pairs": self.pairs}
        text = (
            say("{n} of {pairs} runs have the usual speed", **counts)
            if self.unit
            else say("{n} of {pairs} pairs connect without a fault", **counts)
        )
        return say("{label}: {text}", label=self.network, text=text)

    @property
    def size(self) -> int:
        """Length of the longest mark."""
        return max((len(cell.mark) for cell in self.cells.values()), default=1)


class _Try(msgspec.Struct, frozen=True):
    """A test between two hosts; ``size`` is the measured number."""

    pair: Pair
    state: State
    about: str
    alone: str = ""
    size: float | None = None


def matrices(job: Job) -> list[Matrix]:
    """A matrix for each network that was tested, the one with most pairs first, then one for each rail."""
    networks: dict[str, list[_Try]] = defaultdict(list)
    for link in job.probe_links:
        names = ", ".join(dict.fromkeys([link.interface, link.peer_interface]))
        network = say("{text} ({note})", text=link.network or say("routed"), note=names)
        networks[network].append(_connected(link))
    found = [_matrix(network, tries) for network, tries in networks.items()]
    return [*sorted(found, key=lambda matrix: -matrix.pairs), *_rails(job)]


def _rails(job: Job) -> Iterator[Matrix]:
    runs = measured_rails(job)
    usual, rails = usual_rates(runs), defaultdict[str, list[_Try]](list)
    for run in runs:
        outcome: State = "not tried" if run.rail.outcome == "not tried" else "failed" if run.gbps is None else "fine"
        outcome = "slow" if is_slow(run, usual) else outcome
        about = f"{run.gbps:.4g} Gbit/s" if run.gbps is not None else _said(outcome, run.rail.error or _NOTHING)
        rails[rail_name(run.rail)].append(_Try((run.rail.host, run.rail.peer), outcome, about, size=run.gbps))
    for name in sorted(rails, key=natural):
        yield _matrix(name, rails[name], unit="Gbit/s")
    if job.probe_pairs:
        yield _matrix(job.probe_pairs[0].program, _pairs(job), unit="GB/s")


def _pairs(job: Job) -> Iterator[_Try]:
    _, slow = slow_pairs(job.probe_pairs) or (0.0, set[int]())
    for place, one in enumerate(job.probe_pairs):
        outcome: State = "failed" if one.busbw is None else "slow" if place in slow else "fine"
        about = f"{one.busbw:.4g} GB/s" if one.busbw is not None else _said(outcome, one.error)
        yield _Try((one.host, one.peer), outcome, about, size=one.busbw)


def _said(outcome: State, error: str | None) -> str:
    """The meaning of a mark, and the error message of the program."""
    told = say(MEANINGS[outcome])
    return say("{text} ({note})", text=told, note=phrase(error)) if error else told


def _connected(link: ProbeLink) -> _Try:
    found = state(link)
    about = _said(found, link.error if found == "unreachable" else "")
    alone = say(", ").join((about, f"{link.ms:g} ms")) if link.ms is not None else ""
    return _Try((link.host, link.peer), found, about, alone)


def _matrix(name: str, tries: Iterable[_Try], unit: str = "") -> Matrix:
    worst: dict[Pair, _Try] = {}
    for one in tries:
        if one.pair not in worst or _rank(one) > _rank(worst[one.pair]):
            worst[one.pair] = one
    groups = _groups(worst)
    troubled = Counter(host for pair, one in worst.items() if one.state != "fine" for host in pair)
    shown = groups
    if len(groups) > MOST:
        kept = sorted(groups, key=lambda group: -max(troubled[host] for host in group))[:MOST]
        shown = [group for group in groups if group in kept]
    home = {host: place for place, group in enumerate(shown) for host in group}
    found: dict[tuple[int, int], list[_Try]] = defaultdict(list)
    for (asks, asked), tried in worst.items():
        if asks in home and asked in home:
            found[home[asks], home[asked]].append(tried)
    return Matrix(
        network=name,
        unit=unit,
        groups=tuple(fold_hosts(group) for group in shown),
        cells={place: _cell(some) for place, some in found.items()},
        pairs=len(worst),
        fine=sum(one.state == "fine" for one in worst.values()),
        left_out=len({host for group in groups for host in group}) - len(home),
    )


def _rank(one: _Try) -> tuple[int, float]:
    return _WORST.index(one.state), -(one.size or 0.0)


def _groups(worst: Mapping[Pair, _Try]) -> list[tuple[str, ...]]:
    """Hosts with the same problems with the same others, in the order of their names."""
    hosts = sorted({host for pair in worst for host in pair}, key=natural)
    if len(hosts) <= SINGLE:
        return [(host,) for host in hosts]
    trouble: dict[str, set[tuple[str, str, bool]]] = {host: set() for host in hosts}
    for (one, other), tried in worst.items():
        if tried.state != "fine":
            trouble[one].add((other, tried.state, True))
            trouble[other].add((one, tried.state, False))
    found: dict[frozenset[tuple[str, str, bool]], list[str]] = defaultdict(list)
    for host in hosts:
        found[frozenset(trouble[host])].append(host)
    return [tuple(group) for group in found.values()]


def _cell(some: Sequence[_Try]) -> Cell:
    one = max(some, key=_rank)
    about = one.alone or one.about if len(some) == 1 else one.about
    return Cell(one.state, len(some), about, MARKS[one.state] if one.size is None else f"{one.size:.0f}")
