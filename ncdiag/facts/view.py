"""A job with its derived facts, each computed once, and with lookups of hosts, ranks, events and settings by name."""

from __future__ import annotations

import itertools
import typing
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from ncdiag.base.spans import Span
from ncdiag.facts.model import Event, Host, Job, Rank, Setting
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.scalars import VersionRange
from ncdiag.facts.stand_in import Nameless, Refusal

T = TypeVar("T")

Resolve = Callable[[str, str | None, VersionRange | None], dict[str, Any]]
"""(name, text or None when unset, NCCL version) -> the fields number, effective, default and valid of a Setting."""


Noted = tuple[Any, ...]
"""The evidence of a derived field: spans, and the evidence of other derived fields that it used (Noted again).

A field of every host may depend on a field of all hosts; nesting keeps such evidence small until it is read.
"""

_NEVER = object()
"""Marks a field that was not computed yet; None means unknown."""


class Derived(msgspec.Struct, frozen=True):
    """A derived fact. Its types are evaluated on use: only the validation of rules needs them, not their evaluation."""

    name: str
    function: Callable[[Any, View], Any]
    events: frozenset[str] | None = None
    """For a field of events: the names of the events it is computed for; it is False for all others.

    None: all events.
    """
    variables: frozenset[str] | None = None
    """The same for a field of settings: the names of the variables."""

    @property
    def returns(self) -> Any:  # noqa: ANN401  (a type of any form)
        """The type of its values."""
        return typing.get_type_hints(self.function, include_extras=True)["return"]

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]


class View:
    """A job with its derived fields, each computed at most once, and with hosts, ranks and events by name."""

    def __init__(self, job: Job, resolve: Resolve | None = None) -> None:
        """Index the hosts of ``job``; ``resolve`` reads a variable as NCCL does (`ncdiag.nccl.environment`).

        The attribute ``cited`` holds the lines that earlier findings rest on (`ncdiag.engine.fallback`), ``faults``
        phrases on what a bug of ncdiag kept from being computed.
        """
        self.job = job
        self.faults: list[str] = []
        self.cited: Collection[Span] = frozenset()
        self._resolve = resolve
        self.hosts = {host.name: host for host in job.hosts}
        self._computed: dict[str, dict[int, Any]] = defaultdict(dict)
        self._asked: list[Any] = []
        self._evidence: dict[str, dict[int, Noted]] = defaultdict(dict)
        self._versions: dict[str | None, VersionRange | None] = {}
        self._of_no_host: dict[bool, dict[str, Setting]] = {}
        self._noting: list[list[Span | Noted] | None] = []
        self._ranks: dict[str, list[Rank]] | None = None
        self._events: dict[str, dict[str | None, list[Event]]] | None = None
        self._remembered: dict[tuple[Hashable, ...], Any] = {}

    def note(self, entity: Any, field: str = "") -> None:  # noqa: ANN401
        """Record that the derived field being computed rests on this field of this fact.

        Derived functions call it. ``field`` is ``""`` for the fact as a whole.
        """
        if self._noting:
            try:
                provenance = entity.provenance
            except Refusal:  # nothing rests on a stand-in
                return
            span = provenance.get(field) or provenance.get("")
            if span is not None:
                self._add(span)

    def evidence(self, entity: Any, name: str) -> tuple[Span, ...]:  # noqa: ANN401
        """Return the spans that a derived field rests on, as its function recorded them with `note`.

        Empty for stored fields, and for a field that was not computed yet.
        """
        return _lines(self._evidence[name].get(id(entity), ()))

    def computed(self, entity: Any, derived: Derived) -> Any:  # noqa: ANN401
        """Return the value of a derived field of ``entity``, None for unknown.

        Its function is called at most once per entity.
        """
        key, name, noting = id(entity), derived.name, self._noting
        computed = self._computed[name]
        value = computed.get(key, _NEVER)
        if value is _NEVER:
            if derived.events is not None and entity.event not in derived.events:
                return False
            if derived.variables is not None and entity.name not in derived.variables:
                return False
            noting.append(None)
            try:
                value = derived.function(entity, self)
            finally:
                noted = noting.pop()
            computed[key] = value
            self._asked.append(entity)  # keeps the entity alive, so that its id is not reused
            if noted is not None:
                self._evidence[name][key] = tuple(noted)
        if noting and (evidence := self._evidence[name].get(key)):
            self._add(evidence)
        return value

    def _add(self, evidence: Span | Noted) -> None:
        """Add evidence to the derived field that is being computed."""
        noted = self._noting[-1]
        if noted is None:
            self._noting[-1] = [evidence]
        elif noted[-1] is not evidence:
            noted.append(evidence)

    def remembered(self, key: tuple[Hashable, ...], work: Callable[[], T]) -> T:
        """Return the result of ``work``, computed once for each key.

        It must depend on the job alone and record no evidence.
        """
        if key not in self._remembered:
            self._remembered[key] = work()
        found: T = self._remembered[key]
        return found

    def host(self, name: str | None) -> Host | None:
        """Return the host of that name; None when there is none."""
        if type(name) is Nameless:
            return name.host
        return self.hosts.get(name) if name is not None else None

    def version(self, entity: Any = None) -> VersionRange | None:  # noqa: ANN401
        """Return the NCCL version of a rank or host (any entity with a ``host``).

        Without one, the range over the whole job. What ranks print takes precedence over what is installed.
        """
        own: VersionRange | None = getattr(entity, "nccl_version", None)
        if own is not None and not isinstance(entity, Host):
            return own
        host = self.host(getattr(entity, "host", None)) or (entity if isinstance(entity, Host) else None)
        name = host.name if host is not None else None
        if type(name) is Nameless:
            installed = host.nccl_version if host is not None else None
            return name.version if installed is None else self._printed_on(name) or installed
        if name not in self._versions:
            if host is not None:
                own = self._printed_on(host.name) or host.nccl_version or self.version()
            else:
                unused = (h.nccl_version for h in self.job.hosts if h.nccl_version and not self._printed_on(h.name))
                own = _span_of([*(r.nccl_version for r in self.job.ranks), *unused])
            self._versions[name] = own
        return self._versions[name]

    def _printed_on(self, host: str) -> VersionRange | None:
        """Return the NCCL version that the ranks on the host of that name print."""
        return _span_of(rank.nccl_version for rank in self.ranks_on(host))

    def ranks_on(self, host: str) -> Sequence[Rank]:
        """Return the ranks on the host of that name, sorted by number."""
        if type(host) is Nameless and host.ranks is not None:
            return host.ranks
        if self._ranks is None:
            self._ranks = defaultdict(list)
            for rank in self.job.ranks:
                self._ranks[rank.host].append(rank)
        return self._ranks.get(host, ())

    def events_on(self, host: str | None, names: Iterable[str]) -> list[Event]:
        """Return the events of these names that the host printed or that name no host, in the order of the input."""
        by_name = self._events_by_name()
        known = [by_name[name] for name in dict.fromkeys(names) if name in by_name]
        if not known:
            return []
        found = [events.get(place, ()) for events in known for place in dict.fromkeys((host, None))]
        return sorted(itertools.chain.from_iterable(found), key=lambda event: event.order)

    def events_named(self, name: str) -> Sequence[Event]:
        """Return the events of this name, in the order of the input."""
        return self.remembered(("events by name",), self._in_order).get(name, ())

    def _in_order(self) -> Mapping[str, Sequence[Event]]:
        found: dict[str, list[Event]] = defaultdict(list)
        for event in self.job.events:
            found[event.event].append(event)
        return found

    def event_names(self) -> Iterable[str]:
        """Return the names of all events of the job."""
        return self._events_by_name()

    def _events_by_name(self) -> Mapping[str, Mapping[str | None, Sequence[Event]]]:
        if self._events is None:
            self._events = {}
            for event in self.job.events:
                self._events.setdefault(event.event, {}).setdefault(event.host, []).append(event)
        return self._events

    def setting(self, entity: Any, name: str) -> Setting | None:  # noqa: ANN401
        """Return the variable ``name`` as it applies to a rank, a host or the job; None when nothing is known about it.

        Sources in order: what the process echoed, the host's environment, the launch line or paste, the host's conf
        files. On a host whose whole environment was seen, an absent variable is known to be unset.
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
        if is_closed(host, "settings") if host else self._all_environments_seen():
            values = self._resolve(name, None, self.version(entity)) if self._resolve else {}
            return Setting(name=name, is_set=False, host=host.name if host else None, **values)
        return None

    def _all_environments_seen(self) -> bool:
        """Was the whole environment of every host seen?"""
        hosts = self.job.hosts
        return self.remembered(("environments",), lambda: bool(hosts) and all(is_closed(h, "settings") for h in hosts))

    def _job_settings(self, host: Host | None) -> dict[str, Setting]:
        """The settings that belong to no host, by name.

        For the job as a whole (no ``host``) also those of ranks and hosts.
        """
        key = host is None  # the same for all hosts
        if key not in self._of_no_host:
            found: dict[str, Setting] = {}
            for setting in self.job.settings:
                if setting.host is None or host is None:
                    held = found.get(setting.name)
                    if held is None or (held.host is None) < (setting.host is None):
                        found[setting.name] = setting
                    elif _are_two_launches(held, setting):
                        found[setting.name] = msgspec.structs.replace(
                            held, text=None, number=None, effective=None, valid=None
                        )
            self._of_no_host[key] = found
        return self._of_no_host[key]


def _lines(noted: Noted) -> tuple[Span, ...]:
    """The spans in nested evidence, each once, in order."""
    found: dict[Span, None] = {}
    met: set[int] = set()
    left: list[Iterator[Any]] = [iter(noted)]
    while left:
        each = next(left[-1], None)
        if each is None:
            left.pop()
        elif isinstance(each, Span):
            found.setdefault(each)
        elif id(each) not in met:
            met.add(id(each))
            left.append(iter(each))
    return tuple(found)


def _are_two_launches(held: Setting, other: Setting) -> bool:
    """Do two launch lines set the variable to different values, so that the value in force is unknown?"""
    return held.launched is not None and other.launched is not None and held.launched != other.launched


def _span_of(versions: Iterable[VersionRange | None]) -> VersionRange | None:
    """The smallest range that contains all known versions; None when none is known."""
    known = [v for v in versions if v is not None]
    if not known:
        return None
    low, high = min(v.low for v in known), max(v.high for v in known)
    return VersionRange(low, high, known[0].text if low == high else "")
