"""The matrices: a row and a column for each host, or for each group of hosts to which the same happens."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ncdiag.bare.look import natural
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Job, ProbeLink
from ncdiag.facts.vocabulary.probes import LinkState, state
from ncdiag.language import say

Pair = tuple[str, str]
MARKS: dict[LinkState, str] = {
    "fine": ".", "ports": "p", "large packets": "m", "other answers": "?", "unreachable": "x",
}  # fmt: skip
MEANINGS: dict[LinkState, str] = {
    "fine": "connects", "ports": "some ports are closed", "large packets": "large messages are lost",
    "other answers": "another host answers", "unreachable": "does not connect",
}  # fmt: skip
_WORST = list(MARKS)
SINGLE = 16
"""Hosts up to which each has a row of its own."""
MOST = 24
"""Rows of a matrix: those with most trouble where there are more."""


class Cell(msgspec.Struct, frozen=True):
    """What became of the tries from one group of hosts to another; ``count`` of them."""

    state: LinkState
    count: int
    about: str


class Matrix(msgspec.Struct, frozen=True):
    """The tries on one network. ``groups`` are folded hosts, ``left_out`` counts those without a row."""

    network: str
    groups: tuple[str, ...]
    cells: Mapping[tuple[int, int], Cell]
    pairs: int
    fine: int
    left_out: int = 0

    @property
    def summary(self) -> str:
        """``10.0.0.0/16 (eth0): 54 of 56 pairs connect without fault``."""
        text = say("{n} of {pairs} pairs connect without fault", n=self.fine, pairs=self.pairs)
        return say("{label}: {text}", label=self.network, text=text)


def matrices(job: Job) -> list[Matrix]:
    """A matrix for each network that was tried, the one with most pairs first."""
    rails: dict[str, list[ProbeLink]] = defaultdict(list)
    for link in job.probe_links:
        names = ", ".join(dict.fromkeys([link.interface, link.peer_interface]))
        rails[say("{text} ({note})", text=link.network or say("routed"), note=names)].append(link)
    return sorted((_matrix(rail, links) for rail, links in rails.items()), key=lambda found: -found.pairs)


def _matrix(rail: str, links: Sequence[ProbeLink]) -> Matrix:
    worst: dict[Pair, ProbeLink] = {}
    for link in links:
        pair = link.host, link.peer
        if pair not in worst or _rank(link) > _rank(worst[pair]):
            worst[pair] = link
    groups = _groups(worst)
    troubled = Counter(host for pair, link in worst.items() if state(link) != "fine" for host in pair)
    shown = groups
    if len(groups) > MOST:
        kept = sorted(groups, key=lambda group: -max(troubled[host] for host in group))[:MOST]
        shown = [group for group in groups if group in kept]
    home = {host: place for place, group in enumerate(shown) for host in group}
    found: dict[tuple[int, int], list[ProbeLink]] = defaultdict(list)
    for (one, other), link in worst.items():
        if one in home and other in home:
            found[home[one], home[other]].append(link)
    return Matrix(
        network=rail,
        groups=tuple(fold_hosts(group) for group in shown),
        cells={place: _cell(some) for place, some in found.items()},
        pairs=len(worst),
        fine=sum(state(link) == "fine" for link in worst.values()),
        left_out=len({host for group in groups for host in group}) - len(home),
    )


def _rank(link: ProbeLink) -> int:
    return _WORST.index(state(link))


def _groups(worst: Mapping[Pair, ProbeLink]) -> list[tuple[str, ...]]:
    """Hosts with the same troubles with the same others, in the order of their names."""
    hosts = sorted({host for pair in worst for host in pair}, key=natural)
    if len(hosts) <= SINGLE:
        return [(host,) for host in hosts]
    trouble: dict[str, set[tuple[str, str, bool]]] = {host: set() for host in hosts}
    for (one, other), link in worst.items():
        if state(link) != "fine":
            trouble[one].add((other, state(link), True))
            trouble[other].add((one, state(link), False))
    found: dict[frozenset[tuple[str, str, bool]], list[str]] = defaultdict(list)
    for host in hosts:
        found[frozenset(trouble[host])].append(host)
    return [tuple(group) for group in found.values()]


def _cell(links: Iterable[ProbeLink]) -> Cell:
    some = list(links)
    link = max(some, key=_rank)
    told = say(MEANINGS[state(link)])
    if state(link) == "unreachable" and link.error:
        told = say("{text} ({note})", text=told, note=link.error)
    elif len(some) == 1 and link.ms is not None:
        told = say(", ").join((told, f"{link.ms:g} ms"))
    return Cell(state(link), len(some), told)
