"""The origin of failed attempts between hosts: one host, two groups that cannot connect, or individual pairs."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from ncdiag.facts.fold import fold_hosts

Pair = tuple[str, str]
"""The host that connects, and the host that it connects to."""
Scope = Literal["all", "host", "to", "from", "split", "pairs"]
_LEAST = 2
"""The number of other hosts with which a host must fail to be the culprit."""
_SHOWN = 3


class Culprit(msgspec.Struct, frozen=True):
    """The ``hosts`` with which all attempts fail, as the target (``to``) or as the source (``from``).

    For a ``split`` they are the smaller group, and ``others`` the rest. ``pairs`` are the failed attempts.
    """

    scope: Scope
    hosts: tuple[str, ...]
    others: tuple[str, ...]
    pairs: frozenset[Pair]

    @property
    def where(self) -> str:
        """A phrase with the hosts: ``to and from n3``."""
        named = fold_hosts(self.hosts)
        if self.scope == "all":
            return f"between {named}"
        if self.scope == "split":
            return f"between {named} and {fold_hosts(self.others)}"
        if self.scope != "pairs":
            return f"{'to and from' if self.scope == 'host' else self.scope} {named}"
        ways = sorted(self.pairs)
        both = [(a, b) for a, b in ways if a < b and (b, a) in self.pairs]
        single = [(a, b) for a, b in ways if (b, a) not in self.pairs]
        shown = [*(f"between {a} and {b}" for a, b in both), *(f"from {a} to {b}" for a, b in single)]
        rest = f" and {len(shown) - _SHOWN} more pairs" if len(shown) > _SHOWN else ""
        return ", ".join(shown[:_SHOWN]) + rest


def culprits(tried: Mapping[Pair, bool]) -> list[Culprit]:
    """Return the culprits that together explain every failed pair; ``tried`` says for each pair whether it failed."""
    bad = {pair for pair, failed in tried.items() if failed}
    if not bad:
        return []
    hosts = sorted({host for pair in tried for host in pair})
    if len(bad) == len(tried):
        return [Culprit("all", tuple(hosts), (), frozenset(bad))]
    groups = _islands(hosts, tried)
    if sum(len(group) >= _LEAST for group in groups) >= _LEAST:
        home = {host: place for place, group in enumerate(groups) for host in group}
        between = {pair for pair in tried if home[pair[0]] != home[pair[1]]}
        if between and between <= bad and between == bad:
            *small, large = sorted(groups, key=len)
            return [Culprit("split", tuple(sorted(h for g in small for h in g)), tuple(sorted(large)), frozenset(bad))]
    return [*_blamed(tried, bad), *([Culprit("pairs", _ends(bad), (), frozenset(bad))] if bad else [])]


def _blamed(tried: Iterable[Pair], bad: set[Pair]) -> list[Culprit]:
    """Hosts that fail with all others that are not culprits; removes the pairs that they explain from ``bad``.

    The host that explains most pairs comes first. What remains for the others only decreases, so their positions in the
    queue are corrected when their turn comes.
    """
    into: dict[str, set[Pair]] = defaultdict(set)
    out: dict[str, set[Pair]] = defaultdict(set)
    for pair in tried:
        out[pair[0]].add(pair)
        into[pair[1]].add(pair)
    parts: dict[Scope, tuple[dict[str, set[Pair]], ...]] = {"host": (into, out), "to": (into,), "from": (out,)}
    waiting = [
        (-sum(len(part[host]) for part in some), place, host, scope)
        for place, (scope, some) in enumerate(parts.items())
        for host in _ends(bad)
        if all(part[host] and part[host] <= bad for part in some)
    ]
    heapq.heapify(waiting)
    found: dict[Scope, list[tuple[str, set[Pair]]]] = defaultdict(list)
    while waiting:
        size, place, host, scope = heapq.heappop(waiting)
        pairs = set[Pair]().union(*(part[host] for part in parts[scope]))
        if len({other for pair in pairs for other in pair} - {host}) < _LEAST:
            continue
        if -size != len(pairs):
            heapq.heappush(waiting, (-len(pairs), place, host, scope))
            continue
        found[scope].append((host, pairs))
        bad -= pairs
        for one, other in pairs:
            out[one].discard((one, other))
            into[other].discard((one, other))
    return [
        Culprit(scope, tuple(sorted(host for host, _ in some)), (), frozenset().union(*(pairs for _, pairs in some)))
        for scope, some in found.items()
    ]


def _islands(hosts: Iterable[str], tried: Mapping[Pair, bool]) -> list[set[str]]:
    """Groups of hosts that are connected by successful attempts."""
    near: dict[str, set[str]] = defaultdict(set)
    for (one, other), failed in tried.items():
        if not failed:
            near[one].add(other)
            near[other].add(one)
    met, groups = set[str](), []
    for first in hosts:
        group, edge = set[str](), {first} - met
        while edge:
            group |= edge
            edge = {other for host in edge for other in near[host]} - group
        met |= group
        groups += [group] if group else []
    return groups


def _ends(pairs: Iterable[Pair]) -> tuple[str, ...]:
    return tuple(sorted({host for pair in pairs for host in pair}))
