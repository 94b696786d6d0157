"""Hosts that differ from most others, as events: rules turn them into findings like everything else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ncdiag.base.spans import span
from ncdiag.engine.results import Finding, Verdict
from ncdiag.facts.fold import unfold_hosts
from ncdiag.facts.model import Event
from ncdiag.report.differences import Comparison

EVENT = "host-differs"
"""The name of the event; ncdiag/messages/launcher.toml has its line."""
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")
_BYTES = frozenset({"memlock", "stack", "data", "rss", "as", "core", "fsize", "msgqueue"})
"""The limits that count bytes."""
_LONGEST = 60
_NOT_WORTH = "low"
"""The weight of differences that are shown in the comparison only."""


def events(different: Iterable[Comparison], first: int) -> Iterator[Event]:
    """An event for each host and thing in which it differs from most others; ``first`` is the order of the first."""
    order = first
    for one in different:
        if not one.odd or one.weight == _NOT_WORTH:
            continue
        usual, others = next((value, share.nhosts) for value, share in one.groups.items() if value not in one.odd)
        thing, normal = f"{one.what} {one.name}".rstrip(), readable(one.what, one.name, usual)
        for rare in one.odd:
            value = readable(one.what, one.name, rare)
            for host in unfold_hosts(one.groups[rare].hosts):
                text = f"{host} differs from {others} other hosts: {thing} is {value}, there {normal} [{one.weight}]"
                yield Event(
                    event=EVENT, origin="ncdiag", kind="fact", text=f"ncdiag: {text}", order=order, host=host,
                    provenance={"": span(host, 0, f"{thing}: {value}")},
                    fields={
                        "odd_host": host, "others": others, "thing": thing, "value": value, "usual": normal,
                        "weight": one.weight,
                    },
                )  # fmt: skip
                order += 1


def readable(what: str, name: str, value: str) -> str:
    """``64 KiB`` for a limit of 65536 bytes: the largest unit in which it is whole; other values cut where long."""
    if what != "limit" or name not in _BYTES or not value.isdecimal():
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]} ..."
    count = int(value)
    unit = next((unit for unit in range(len(_UNITS) - 1, 0, -1) if count and not count % (1 << 10 * unit)), 0)
    return f"{count >> 10 * unit} {_UNITS[unit]}"


def without_known(verdicts: Sequence[Verdict], different: Iterable[Comparison]) -> list[Verdict]:
    """The verdicts without differences that a rule of the compared thing reports already, of the same host."""
    rules = {f"{one.what} {one.name}".rstrip(): one.rules for one in different}
    found: dict[str, list[Finding]] = {}
    for verdict in verdicts:
        found.setdefault(verdict.rule.name, []).extend(verdict.findings)

    def is_known(finding: Finding) -> bool:
        events_ = [entity for names in finding.instances for entity in names.values() if isinstance(entity, Event)]
        differing = [event for event in events_ if event.event == EVENT]
        return bool(differing) and all(
            any(
                not other.where.hosts or event.host in other.where.hosts
                for name in rules.get(str(event.fields["thing"]), ()) for other in found.get(name, ())
            )
            for event in differing
        )  # fmt: skip

    return [
        msgspec.structs.replace(verdict, findings=kept, outcome="fired" if kept else "clear")
        if len(kept := tuple(each for each in verdict.findings if not is_known(each))) < len(verdict.findings)
        else verdict
        for verdict in verdicts
    ]
