"""Reading facts by name.

Stored fields, derived fields and references, for the condition language, titles and fix values.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import pkgutil
import typing
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ncdiag.facts import model
from ncdiag.facts.model import Event, Host, Job, Rank, Setting
from ncdiag.facts.scalars import VersionRange
from ncdiag.spans import Span

DERIVE_PACKAGES = (
    "ncdiag.facts.vocabulary",
    "ncdiag.nccl.vocabulary",
    "ncdiag.messages.vocabulary",
    "ncdiag.knowledge",
)
"""Folders whose modules define derived fields: of the facts alone, those that need to know NCCL or the messages, and
those of one area of rules."""

_LOADED: list[bool] = []
_REGISTRY: dict[tuple[str, str], Derived] = {}


class Derived(msgspec.Struct, frozen=True):
    """A derived field. Its types are worked out when asked for: only the check of rules asks, not their judgement."""

    function: Callable[..., Any]
    events: frozenset[str] | None = None
    """Of a field of events: the names of those that it is asked about; it is False for all others."""

    @property
    def returns(self) -> Any:  # noqa: ANN401  (a type of any form)
        """The type of its values."""
        return typing.get_type_hints(self.function, include_extras=True)["return"]

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]


def derived(function: Callable[..., Any], events: frozenset[str] | None = None) -> Callable[..., Any]:
    """Register ``def name(entity: Type, view: View) -> T`` as the derived field ``name`` of fact type ``Type``.

    The function returns None for unknown. Its annotations, which are postponed and thus text here, give the types that
    the condition language checks against.
    """
    owner = str(next(iter(function.__annotations__.values()))).rpartition(".")[2]
    name = function.__name__
    if (owner, name) in _REGISTRY or name in getattr(model, owner).__struct_fields__:
        msg = f"{owner}.{name} is defined twice"
        raise ValueError(msg)
    _REGISTRY[owner, name] = Derived(function, events)
    return function


def derived_of(*events: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a yes-or-no field of events that only events of these names can have, and which alone are asked.

    Rules walk over such events alone, however many others a log told.
    """
    return functools.partial(derived, events=frozenset(events))


def events_with(name: str) -> frozenset[str] | None:
    """The names of the events that alone can have the field ``name``; None where it is not of `derived_of`."""
    found = registry().get(("Event", name))
    return found.events if found is not None else None


def registry() -> dict[tuple[str, str], Derived]:
    """All derived fields by (fact type, name); imports the modules of ``DERIVE_PACKAGES`` on first use."""
    if not _LOADED:
        for package_name in DERIVE_PACKAGES:
            package = importlib.import_module(package_name)
            for module in pkgutil.walk_packages(package.__path__, f"{package_name}."):
                importlib.import_module(module.name)
        _LOADED.append(True)
    return _REGISTRY


Resolve = Callable[[str, str | None, VersionRange | None], dict[str, Any]]
"""(name, text or None when unset, NCCL version) -> the fields number, effective, default and valid of a Setting."""


_NOT_ASKED: Any = object()


def _derived_of(kind: type, name: str) -> Derived | None:
    """The derived field; None for a stored one. AttributeError for a name that is neither."""
    if name in kind.__struct_fields__:  # type: ignore[attr-defined]
        return None
    found = registry().get((kind.__name__, name))
    if found is None:
        msg = f"{kind.__name__} has no field {name!r}"
        raise AttributeError(msg)
    return found


class View:
    """A job with its derived fields, each computed at most once, and hosts by name."""

    def __init__(self, job: Job, resolve: Resolve | None = None) -> None:
        """Index the hosts of ``job``; ``resolve`` reads a variable as NCCL would (`ncdiag.nccl.environment`).

        ``cited`` are the lines on which findings rest that were made before (`ncdiag.engine.floor`).
        """
        self.job = job
        self.cited: Collection[Span] = frozenset()
        self._resolve = resolve
        self.hosts = {host.name: host for host in job.hosts}
        self._cache: dict[tuple[int, str], tuple[Any, Any]] = {}
        self._derived: dict[tuple[type, str], Derived | None] = {}
        self._evidence: dict[tuple[int, str], tuple[Span, ...]] = {}
        self._noting: list[dict[Span, None]] = []
        self._ranks: dict[str, list[Rank]] | None = None
        self._events: dict[str, dict[str | None, list[Event]]] | None = None

    def note(self, entity: Any, field: str = "") -> None:  # noqa: ANN401
        """Called by a derived function.

        What it says rests on this field of this fact (``""``: on the fact as a whole).
        """
        if self._noting:
            span = entity.provenance.get(field) or entity.provenance.get("")
            if span is not None:
                self._noting[-1].setdefault(span)

    def evidence(self, entity: Any, name: str) -> tuple[Span, ...]:  # noqa: ANN401
        """What a derived field rests on, as its function noted it.

        Empty for stored fields and before it was computed.
        """
        return self._evidence.get((id(entity), name), ())

    def get(self, entity: Any, name: str) -> Any:  # noqa: ANN401
        """Value of a stored or derived field of ``entity``.

        None means unknown. AttributeError for a name that is neither.
        """
        key = id(entity), name
        held = self._cache.get(key)
        if held is None:
            found = self._derived.get((type(entity), name), _NOT_ASKED)
            if found is _NOT_ASKED:
                found = self._derived[type(entity), name] = _derived_of(type(entity), name)
            if found is None:
                return getattr(entity, name)
            if found.events is not None and entity.event not in found.events:
                return False
            self._noting.append({})
            try:
                held = entity, found.function(entity, self)  # the entity is kept so that its id stays its own
            finally:
                noted = self._noting.pop()
            self._cache[key] = held
            if noted:
                self._evidence[key] = tuple(noted)
        if self._noting and (evidence := self._evidence.get(key)):
            self._noting[-1].update(dict.fromkeys(evidence))
        return held[1]

    def host(self, name: str | None) -> Host | None:
        """The host of that name, None when it is unknown."""
        return self.hosts.get(name) if name is not None else None

    def version(self, entity: Any = None) -> VersionRange | None:  # noqa: ANN401
        """NCCL's version as known for a rank or host (an entity with a ``host``), else the range over all of them."""
        own: VersionRange | None = getattr(entity, "nccl_version", None)
        if own is not None:
            return own
        host = self.host(getattr(entity, "host", None)) or (entity if isinstance(entity, Host) else None)
        if host is not None and host.nccl_version is not None:
            return host.nccl_version
        key = id(host), ".version"
        if key not in self._cache:
            if host is not None:
                own = _span_of(r.nccl_version for r in self.ranks_on(host.name)) or self.version()
            else:
                own = _span_of([*(r.nccl_version for r in self.job.ranks), *(h.nccl_version for h in self.job.hosts)])
            self._cache[key] = host, own
        return self._cache[key][1]  # type: ignore[no-any-return]

    def ranks_on(self, host: str) -> Sequence[Rank]:
        """The ranks on the host of that name, by number."""
        if self._ranks is None:
            self._ranks = defaultdict(list)
            for rank in self.job.ranks:
                self._ranks[rank.host].append(rank)
        return self._ranks.get(host, ())

    def events_on(self, host: str | None, names: Iterable[str]) -> list[Event]:
        """The events of these names that the host printed, or nobody knows who, in the order of the input."""
        by_name = self._events_by_name()
        places = dict.fromkeys((host, None))
        found = [by_name[name].get(place, ()) for name in dict.fromkeys(names) if name in by_name for place in places]
        return sorted(itertools.chain.from_iterable(found), key=lambda event: event.order)

    def event_names(self) -> Iterable[str]:
        """The names of all events of the job."""
        return self._events_by_name()

    def _events_by_name(self) -> Mapping[str, Mapping[str | None, Sequence[Event]]]:
        if self._events is None:
            self._events = {}
            for event in self.job.events:
                self._events.setdefault(event.event, {}).setdefault(event.host, []).append(event)
        return self._events

    def setting(self, entity: Any, name: str) -> Setting | None:  # noqa: ANN401
        """The variable ``name`` as it applies to a rank, a host or the job; None when nothing is known of it.

        Order: what the process echoed, the host's environment, the launch line or paste, the host's conf files. A
        host whose whole environment was seen makes an absent variable known unset.
        """
        rank = entity if isinstance(entity, Rank) else None
        host = self.host(rank.host) if rank else entity if isinstance(entity, Host) else None
        places = [
            rank.settings if rank else {},
            host.settings if host else {},
            self._job_settings(host),
            host.conf_settings if host else {},
        ]
        for place in places:
            if name in place:
                return place[name]
        hosts = [host] if host else list(self.job.hosts)
        if hosts and all("env" in h.complete for h in hosts):
            values = self._resolve(name, None, self.version(entity)) if self._resolve else {}
            return Setting(name=name, is_set=False, host=host.name if host else None, **values)
        return None

    def _job_settings(self, host: Host | None) -> dict[str, Setting]:
        """Settings that belong to no host.

        For the job as a whole (no ``host``) those of its ranks and hosts as well.
        """
        key = int(host is None), ".settings"  # the same for all hosts
        if key not in self._cache:
            found: dict[str, Setting] = {}
            for setting in self.job.settings:
                if setting.host is None or host is None:
                    held = found.get(setting.name)
                    if held is None or (held.host is None) < (setting.host is None):
                        found[setting.name] = setting
            self._cache[key] = None, found
        return self._cache[key][1]  # type: ignore[no-any-return]


def _span_of(versions: Iterable[VersionRange | None]) -> VersionRange | None:
    """The smallest range that holds all the versions; None when none is known."""
    known = [v for v in versions if v is not None]
    if not known:
        return None
    low, high = min(v.low for v in known), max(v.high for v in known)
    return VersionRange(low, high, known[0].text if low == high else "")
