"""Names that hosts resolve differently or to themselves, and clocks that differ, as `ncdiag probe` found."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterator

from ncdiag.base.spans import Span
from ncdiag.facts.fold import fold_hosts
from ncdiag.facts.model import Job, ProbeFault, ProbeName
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.vocabulary.probes import few, lines_of

_SHOWN = 3
APART = 1.0
"""The smallest difference of two clocks in seconds that counts: a loaded host or slow path can feign less."""


def name_faults(job: Job) -> Iterator[ProbeFault]:
    """Names that lead to the querying host itself, and names that resolve differently on some hosts."""
    yield from _loopback([one for one in job.probe_names if _is_loopback(one)])
    yield from _different(_asked_by_others(job))


def names_apart(job: Job) -> frozenset[str]:
    """The names that resolve differently, or not at all, on some hosts."""
    told: dict[str, set[str]] = defaultdict(set)
    for one in _asked_by_others(job):
        told[one.name].add(_told(one))
    return frozenset(name for name, some in told.items() if len(some) > 1)


def _asked_by_others(job: Job) -> list[ProbeName]:
    known = [one for one in job.probe_names if one.addresses is not None]
    return [one for one in known if not _is_loopback(one) and one.host != one.name]


def _is_loopback(one: ProbeName) -> bool:
    found = [ip_address(text) for text in one.addresses or ()]
    return bool(found) and all(address is not None and address.is_loopback for address in found)


def _loopback(found: list[ProbeName]) -> Iterator[ProbeFault]:
    for own in (True, False):
        some = [one for one in found if (one.host == one.name) is own]
        if some:
            hosts, names = fold_hosts(one.host for one in some), fold_hosts(one.name for one in some)
            addresses = ", ".join(sorted({text for one in some for text in one.addresses or ()})[:_SHOWN])
            whose = "the name of the host itself" if own else f"the name {names}"
            yield ProbeFault(
                what="loopback name",
                where=hosts,
                hosts=hosts,
                detail=f"{whose} is {addresses}",
                provenance=lines_of(some),
            )


def _different(found: list[ProbeName]) -> Iterator[ProbeFault]:
    """Hosts that resolve a name differently from the majority, which is assumed to be right."""
    by_name: dict[str, list[ProbeName]] = defaultdict(list)
    for one in found:
        by_name[one.name].append(one)
    strange: dict[str, list[tuple[ProbeName, str]]] = defaultdict(list)
    for name, some in by_name.items():
        usual, count = Counter(_told(one) for one in some).most_common(1)[0]
        if count < len(some):
            for one in some:
                if _told(one) != usual:
                    strange[one.host].append((one, f"{name} is {_told(one)} there, {usual} on other hosts"))
    if strange:
        hosts = fold_hosts(strange)
        told = [text for some in strange.values() for _, text in some]
        rest = f"; and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
        lines = lines_of([one for some in strange.values() for one, _ in some])
        yield ProbeFault(
            what="name", where=hosts, hosts=hosts, detail="; ".join(told[:_SHOWN]) + rest, provenance=lines
        )


def _told(one: ProbeName) -> str:
    return ", ".join(sorted(one.addresses or ())) or "not found"


def clock_faults(job: Job) -> Iterator[ProbeFault]:
    """Hosts whose clock differs for most others; with only two hosts, both."""
    seen: dict[str, list[float]] = defaultdict(list)
    lines: dict[str, list[Span]] = defaultdict(list)
    for link in job.probe_links:
        if link.clock_ahead_seconds is not None:
            seen[link.peer].append(link.clock_ahead_seconds)
            seen[link.host].append(-link.clock_ahead_seconds)
            if abs(link.clock_ahead_seconds) > APART:
                lines[link.peer].append(link.provenance[""])
    off = {host: ahead for host, some in seen.items() if abs(ahead := statistics.median(some)) > APART}
    if off:
        told = [
            f"{host} {abs(ahead):.1f} s {'ahead' if ahead > 0 else 'behind'}" for host, ahead in sorted(off.items())
        ]
        rest = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
        spans = [span for host in sorted(off) for span in lines[host]]
        hosts = fold_hosts(off)
        yield ProbeFault(
            what="clock", where=hosts, hosts=hosts, detail=", ".join(told[:_SHOWN]) + rest,
            provenance=few(spans),
        )  # fmt: skip
