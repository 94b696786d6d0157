"""Place and time of a finding: hosts, ranks, devices and times of the facts that a rule read; their spans."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from ncdiag.base.spans import Span
from ncdiag.facts.model import Difference, Event, Gid, Gpu, Hca, Host, Interface, Job, Port, Rank
from ncdiag.facts.view import View

Device = tuple[str, str, str]
"""(host, type, name) of a device; the type is ``gpu``, ``hca`` or ``interface``."""

_WIDE = Rank, Host, Job
"""Facts whose first mention may be on any line."""


class Where(msgspec.Struct):
    """The place and time of a finding. Empty sets mean the job as a whole."""

    hosts: set[str]
    ranks: set[int]
    devices: set[Device]
    peers: set[str]
    time: float | None = None
    order: int | None = None

    @classmethod
    def nowhere(cls) -> Where:
        """An empty scope, to which facts are added."""
        return cls(set(), set(), set(), set())

    def add(self, entity: Any) -> None:  # noqa: ANN401
        """Add the place of a fact; a fact without a place is ignored."""
        host = entity.name if isinstance(entity, Host) else getattr(entity, "host", None)
        if isinstance(host, str):
            self.hosts.add(host)
            self._add_device(entity, host)
        rank = getattr(entity, "rank", None)
        if isinstance(rank, int):
            self.ranks.add(rank)
        self.add_event(entity)

    def _add_device(self, entity: Any, host: str) -> None:  # noqa: ANN401
        if isinstance(entity, Hca | Interface):
            self.devices.add((host, type(entity).__name__.lower(), entity.name))
        elif isinstance(entity, Port | Gid):
            self.devices.add((host, "hca", entity.hca))
        elif isinstance(entity, Gpu):
            self.devices.add((host, "gpu", entity.bus_id or str(entity.index)))

    def add_event(self, event: Any) -> None:  # noqa: ANN401
        """Add only the time and the peer of an event; other facts are ignored."""
        if not isinstance(event, Event):
            return
        if event.peer:
            self.peers.add(event.peer)
        if event.time is not None and (self.time is None or event.time < self.time):
            self.time = event.time
        if self.order is None or event.order < self.order:
            self.order = event.order

    @property
    def is_job(self) -> bool:
        """True if it is the job as a whole."""
        return not (self.hosts or self.ranks or self.devices)

    def touches(self, other: Where) -> bool:
        """True if two findings share a device, rank or host.

        If both name devices of the same type, the devices decide: a port that is down does not explain its neighbour.
        """
        if self.is_job or other.is_job:
            return True
        sorts = {sort for _, sort, _ in self.devices} & {sort for _, sort, _ in other.devices}
        if sorts:
            return bool(self.devices & other.devices)
        return bool(self.ranks & other.ranks or self.hosts & other.hosts)


def spans(bound: Iterable[Any], reads: Iterable[tuple[Any, str]], view: View) -> list[Span]:
    """The evidence: spans of the bound facts, then of the fields that were read, each once, in that order.

    A derived field adds the spans that its function noted (`ncdiag.facts.view.View.note`). Of a rank, a host or the
    job, which any line may have mentioned first, only fields count; the rank or host itself is used if nothing else is
    known.
    """
    found: dict[Span, None] = {}
    facts = list(bound)
    for entity in facts:
        if isinstance(entity, Difference):  # one line per value
            found.update(dict.fromkeys(entity.provenance.values()))
        elif not isinstance(entity, _WIDE):
            _keep(found, _provenance(entity).get("") or _of_collection(entity, facts))
    for entity, field in reads:
        noted = view.evidence(entity, field)
        found.update(dict.fromkeys(noted))
        if noted:
            continue
        provenance = _provenance(entity)
        _keep(found, provenance.get(field) or (None if isinstance(entity, _WIDE) else provenance.get("")))
    if not found:
        for entity in facts:
            ranks = view.ranks_on(entity.name) if isinstance(entity, Host) else ()
            for own in (entity, *ranks[:1]) if isinstance(entity, (Rank, Host)) else ():
                _keep(found, _provenance(own).get(""))
    return list(found)


def _of_collection(item: Any, facts: Iterable[Any]) -> Span | None:  # noqa: ANN401
    """The line of another fact's collection that contains the item, which has no line itself."""
    for fact in facts:
        for field, span in _provenance(fact).items():
            values = getattr(fact, field, None)
            if isinstance(values, tuple) and any(value is item for value in values):
                return span
    return None


def _keep(found: dict[Span, None], span: Span | None) -> None:
    if span is not None:
        found.setdefault(span)


def _provenance(entity: Any) -> dict[str, Span]:  # noqa: ANN401
    return getattr(entity, "provenance", None) or {}


def label(entity: Any) -> str:  # noqa: ANN401
    """The usual name of a fact: ``rank 3 on node1``, ``mlx5_0 port 1 on node1``, ``eth0 on node1``."""
    if not isinstance(entity, msgspec.Struct):
        return str(entity)
    kind, host = type(entity).__name__, getattr(entity, "host", None)
    on = f" on {host}" if host else ""
    if isinstance(entity, Port):
        return f"{entity.hca} port {entity.number}{on}"
    if isinstance(entity, Gid):
        return f"GID {entity.index} of {entity.hca} port {entity.port}{on}"
    for field in ("name", "rank", "event", "index", "path", "id", "hca", "bus_id"):
        found = getattr(entity, field, None)
        if found is not None:
            return f"{found}{on}" if field in ("name", "event", "path") else f"{kind.lower()} {found}{on}"
    return f"{kind.lower()}{on}"
