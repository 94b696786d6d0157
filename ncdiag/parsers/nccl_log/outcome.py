"""The ranks of one source, from the records of its processes: records of one process are put together and told."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import msgspec

from ncdiag.base.spans import Span
from ncdiag.facts.observe import Observation
from ncdiag.facts.scalars import Version, VersionRange
from ncdiag.parsers.nccl_log import early
from ncdiag.parsers.nccl_log.lives import Life
from ncdiag.parsers.nccl_log.ranks import Key, Record
from ncdiag.parsers.nccl_log.reading import LISTED
from ncdiag.parsers.nccl_log.wiring import together

_LIST_FOR_BOOTSTRAP = Version(2, 4), Version(2, 6)

Told = dict[str, tuple[Any, Span]]
"""The fields of a rank, each with the line that told it."""


class Outcome:
    """The ranks of one source, ready to be told: records of one process put together."""

    def __init__(
        self, records: Iterable[Record], library: str, exact: tuple[str, Span] | None, bounds: VersionRange | None,
        strange: Iterable[tuple[VersionRange, Span]] = (),
    ) -> None:  # fmt: skip
        """``exact`` and ``bounds`` are what the source as a whole says about the version.

        ``strange`` are lines that the stated release does not print, each with the releases that print it.
        """
        self.library, self.exact, self.bounds = library, exact, bounds
        self._strange = next(iter(strange), None) if library == "NCCL" else None
        processes: dict[tuple[str | None, int | None], list[Record]] = defaultdict(list)
        for record in records:
            processes[record.key[:2]].append(record)
        self.groups: list[tuple[Record, list[Record]]] = []
        self.shared: dict[tuple[str | None, int | None], bool] = {}
        for process, members in processes.items():
            self.shared[process] = sum(record.is_rank for record in members) > 1
            self.groups += _grouped(members)
        self.rank_of: dict[Key, int | None] = {}
        for main, others in self.groups:
            alone = not self.shared[main.key[:2]]
            self.rank_of[main.key] = main.rank
            self.rank_of.update({record.key: main.rank for record in others if alone})

    def observations(self) -> Iterator[Observation]:
        """Ranks and settings. One observation for each line that gave fields of a rank."""
        told: set[tuple[str | None, int | None, str]] = set()
        for main, others in self.groups:
            members = [main, *others]
            yield from self._rank(main, members)
            yield from _settings(main, members, told)

    def _rank(self, main: Record, members: list[Record]) -> Iterator[Observation]:
        """The rank that ``main`` stands for; each field goes to the line that told it."""
        told: Told = {}
        for record in reversed(members):
            told |= record.fields
        _lists(told, members)
        version = self._version(members)
        nets = [net for record in members if (net := record.network()) is not None]
        net = max(nets, key=lambda net: net[0], default=None)
        if net is not None and (net[0] > LISTED or self._lists_what_it_uses(version)):
            told["net"] = net[1], net[2]
        host, pid, device = main.key
        world = main.world
        if world is not None:
            _tell_world(told, world)
            device = device if world.init.cuda_dev is None else world.init.cuda_dev
        _tell_state(told, members)
        if version is not None:
            told["nccl_version"] = version[0], version[1] or main.span
        told |= self._counted(main, members)
        by_line: dict[tuple[int, str], tuple[Span, dict[str, Any]]] = {}
        for name, (value, span) in told.items():
            by_line.setdefault((span.line, span.text), (span, {}))[1][name] = value
        lines = [(span, fields) for _, (span, fields) in sorted(by_line.items())]
        if self._strange is not None and main is self.groups[0][0]:
            lines.append((self._strange[1], {"nccl_version": self._strange[0]}))
        for span, fields in lines:
            yield Observation(entity="Rank", key=(pid, device), host=host, span=span, fields=fields, standing="process")

    def _counted(self, main: Record, members: list[Record]) -> Told:
        """What is told by many lines. Records that several ranks share count for none of them."""
        alone = [record for record in members if record is main or not self.shared[record.key[:2]]]
        counts = _sum(record.transports for record in alone)
        ways = _sum(record.ways for record in alone)
        nics = sorted(set().union(*(record.nics for record in alone)))
        net = main.first_links.get(True, main.span)
        link = min(main.first_links.values(), key=lambda span: span.line, default=main.span)
        fields: Told = {
            "library": (self.library, main.span), "rank": (main.rank, main.span), "transports": (counts, link),
            "net_ways": (ways, net), "nics_used": (nics, net),
        }  # fmt: skip
        fields = {name: told for name, told in fields.items() if told[0] not in (None, {}, [])}
        wired = together([record.wiring for record in alone]).told(main.lives)
        fields |= {name: (value, link) for name, value in wired.items()}
        return fields

    def _lists_what_it_uses(self, version: tuple[VersionRange, Span | None] | None) -> bool:
        """2.4 and 2.5 list the sockets for the bootstrap as well, so that line does not tell the network."""
        if self.library == "RCCL":
            return True
        first, beyond = _LIST_FOR_BOOTSTRAP
        return version is not None and (version[0].low >= beyond or version[0].high < first)

    def _version(self, members: list[Record]) -> tuple[VersionRange, Span | None] | None:
        exact = next((r.exact for r in members if r.exact is not None), None)
        if exact is not None:
            version = VersionRange.exact(exact[0])
            return None if version is None else (version, exact[1])
        whole = VersionRange.exact(self.exact[0]) if self.exact else None
        if self.exact is not None and whole is not None:
            return whole, self.exact[1]  # what was printed beats what the wording of a line lets expect
        own: VersionRange | None = None
        if self.library == "NCCL":
            for record in members:
                if record.bounds is not None:
                    own = record.bounds if own is None else own.intersect(record.bounds) or own
        if self.library == "NCCL" and self.bounds is not None:
            own = self.bounds if own is None else own.intersect(self.bounds) or own
        return None if own is None else (own, None)


def _sum(counts: Iterable[Counter[str]]) -> dict[str, int]:
    told = [count for count in counts if count]
    return dict(told[0] if len(told) == 1 else sum(told, Counter()))


def _grouped(members: list[Record]) -> list[tuple[Record, list[Record]]]:
    """The ranks of one process, each with the records that tell of it as well."""
    ranks = [record for record in members if record.is_rank]
    rest = [record for record in members if not record.is_rank]
    if ranks:
        return [(record, rest) for record in ranks]
    without_device = [record for record in members if record.key[2] is None]
    own = [record for record in members if record.key[2] is not None]
    return [(record, without_device) for record in own] or [(without_device[0], without_device[1:])]


def _tell_world(told: Told, world: Life) -> None:
    init = world.init
    values = {"nranks": init.nranks, "communicator": init.comm, "cuda_dev": init.cuda_dev, "bus_id": init.bus_id}
    told |= {name: (value, world.first) for name, value in values.items() if value is not None}


def _tell_state(told: Told, members: list[Record]) -> None:
    """A failure anywhere in the process wins; else what its communicators say."""
    states = [state for record in members if (state := record.state) is not None]
    state = next((state for state in states if state[0] == "failed"), states[0] if states else None)
    if state is not None:
        told["state"] = state


def _lists(told: Told, members: list[Record]) -> None:
    """Lists are told where their first entry stood; GIDs get the name of their device."""
    names = {item["index"]: item["name"] for r in members for item in r.fields.get("net_devices", ([], r.span))[0]}
    merged: dict[str, tuple[list[Any], Span]] = {}
    for record in members:
        for name, (items, span) in record.lists.items():
            held, _ = merged.setdefault(name, ([], span))
            held += [item for item in items if item not in held]
    count = told.pop(early.COUNT, None)
    if count is not None and len(merged.get("socket_interfaces", ((), None))[0]) < count[0]:
        merged.pop("socket_interfaces", None)  # the first of them are cut off, and the first of all is the bootstrap's
    for name, (items, span) in merged.items():
        values = [_with_device(value, names) if name == "gids_used" else value for value in items]
        told[name] = values, span
        if name == "socket_interfaces":
            told.setdefault("bootstrap_interface", (values[0], span))


def _with_device(use: dict[str, Any], names: dict[int, str]) -> dict[str, Any]:
    if "device" not in use:
        return use
    name = names.get(use["device"])
    rest = {key: value for key, value in use.items() if key != "device"}
    return rest if name is None or "+" in name else {"hca": name, **rest}


def _settings(
    main: Record, members: list[Record], told: set[tuple[str | None, int | None, str]]
) -> Iterator[Observation]:
    """The echoes of one process, each name once; the merger gives them to the ranks of the process."""
    host, pid, _ = main.key
    for record in members:
        for name, (text, span) in record.settings.items():
            if (host, pid, name) not in told:
                told.add((host, pid, name))
                fields = {"text": text, "is_set": True, "origin": "log echo"}
                yield Observation(
                    entity="Setting", key=(name, pid), host=host, span=span, fields=fields, standing="process"
                )


def renumbered(observation: Observation, number: Callable[[int], int]) -> Observation:
    """The observation with the true number of its line."""
    where = msgspec.structs.replace(observation.span, line=number(observation.span.line))
    fields = observation.fields
    if "order" in fields and observation.entity == "Event":
        fields = {**fields, "order": where.line}
    return msgspec.structs.replace(observation, span=where, fields=fields)
