"""Who is to blame for tries between hosts that failed: one host, two groups that do not meet, or some pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

import msgspec

from ncdiag.facts.fold import fold_hosts

Pair = tuple[str, str]
"""Who asks, and who is asked."""
Scope = Literal["all", "host", "to", "from", "split", "pairs"]
_LEAST = 2
"""Others that a host has to fail with before it is blamed."""
_SHOWN = 3


class Culprit(msgspec.Struct, frozen=True):
    """``hosts`` are to blame: with all others, as the one asked (``to``) or as the one who asks (``from``).

    Of a ``split`` they are the smaller group, and ``others`` the rest. ``pairs`` are those that failed.
    """

    scope: Scope
    hosts: tuple[str, ...]
    others: tuple[str, ...]
    pairs: frozenset[Pair]

    @property
    def where(self) -> str:
        """A phrase: ``to and from n3``."""
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
    """Those to blame, who together account for every pair that failed; ``tried`` says of each whether it did."""
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
    """Hosts that fail with all others that are not to blame themselves; takes what they account for out of ``bad``."""
    found: dict[Scope, list[tuple[str, set[Pair]]]] = defaultdict(list)
    into: dict[str, set[Pair]] = defaultdict(set)
    out: dict[str, set[Pair]] = defaultdict(set)
    for pair in tried:
        out[pair[0]].add(pair)
        into[pair[1]].add(pair)
    while bad:
        choices = [choice for host in _ends(bad) for choice in _choices(host, into[host], out[host])]
        fitting = [choice for choice in choices if choice[2] <= bad]
        if not fitting:
            break
        scope, host, pairs = max(fitting, key=lambda choice: len(choice[2]))
        found[scope].append((host, pairs))
        bad -= pairs
        for one, other in pairs:
            out[one].discard((one, other))
            into[other].discard((one, other))
    return [
        Culprit(scope, tuple(sorted(host for host, _ in some)), (), frozenset().union(*(pairs for _, pairs in some)))
        for scope, some in found.items()
    ]


def _choices(host: str, into: set[Pair], out: set[Pair]) -> Iterator[tuple[Scope, str, set[Pair]]]:
    """What a host could be blamed for, where enough others are concerned."""
    scopes: tuple[tuple[Scope, set[Pair]], ...] = (("to", set(into)), ("from", set(out)))
    for scope, pairs in (("host", into | out), *scopes) if into and out else scopes:
        if len({other for pair in pairs for other in pair} - {host}) >= _LEAST:
            yield scope, host, pairs


def _islands(hosts: Iterable[str], tried: Mapping[Pair, bool]) -> list[set[str]]:
    """Groups of hosts that are joined by tries that went well."""
    near: dict[str, set[str]] = defaultdict(set)
    for (one, other), failed in tried.items():
        if not failed:
            near[one].add(other)
            near[other].add(one)
    left, groups = set(hosts), []
    while left:
        group, edge = set[str](), {min(left)}
        while edge:
            group |= edge
            edge = {other for host in edge for other in near[host]} - group
        groups.append(group)
        left -= group
    return groups


def _ends(pairs: Iterable[Pair]) -> tuple[str, ...]:
    return tuple(sorted({host for pair in pairs for host in pair}))
