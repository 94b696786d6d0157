"""Put merged entities together: GIDs into ports, ports into devices, devices and settings into hosts, ranks into the job."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from ncdiag.facts import model
from ncdiag.facts.model import Fact, Host, Interface, Job, Rank, Setting

if TYPE_CHECKING:
    from ncdiag.facts.merge import Entity

_HOST_LISTS = {
    "Interface": "interfaces", "Route": "routes", "Hca": "hcas", "Gpu": "gpus", "TopoLink": "links", "PciDevice": "pci",
    "KernelModule": "modules", "Mount": "mounts", "Limit": "limits", "Service": "services", "Library": "libraries",
}  # fmt: skip
_KEY_FIELDS: dict[str, tuple[str, ...]] = {
    "Interface": ("name",), "Route": ("destination", "interface"), "Hca": ("name",), "Port": ("hca", "number"),
    "Gid": ("hca", "port", "index"), "TopoLink": ("a", "b"), "PciDevice": ("bus_id",), "KernelModule": ("name",),
    "Mount": ("path",), "Limit": ("name",), "Service": ("name",), "Library": ("path",), "Setting": ("name", "pid"),
    "Communicator": ("id",), "Rank": ("pid", "cuda_dev"),
}  # fmt: skip
_JOB_LISTS = {
    "Event": "events", "Launch": "launches", "Benchmark": "benchmarks", "Timeout": "timeouts", "RankTable": "rank_tables",
    "FlightRecord": "flight_records",
    "Communicator": "communicators",
}  # fmt: skip
_RANK_INTERFACES = ("bootstrap_interface", "oob_interface")

UNNAMED = "unnamed-host"
"""Label of the host of pasted output that named none."""

T = TypeVar("T", bound=Fact)


def job(entities: Sequence[Entity], conflicts: list[model.Conflict]) -> Job:
    """Build the job; entities whose key does not fit their type are left out."""
    grouped: dict[str, list[Entity]] = defaultdict(list)
    for entity in entities:
        grouped[entity.kind].append(entity)
    grouped["Interface"] = _with_log_interfaces(grouped)
    parts = {kind: [built for e in group if (built := build(e)) is not None] for kind, group in grouped.items()}
    settings: list[Setting] = parts.get("Setting", [])
    hosts = _hosts(grouped, parts, settings)
    by_name = {host.name: host for host in hosts}
    ranks = _ranks(grouped["Rank"], settings, by_name)
    job_wide = {key: value for e in grouped["Job"] for key, value in e.values.items()}
    lists = {field: tuple(parts.get(kind, ())) for kind, field in _JOB_LISTS.items()}
    lists["events"] = _folded_events(parts.get("Event", []), ranks)
    result = Job(
        hosts=hosts, ranks=ranks, settings=tuple(_with_pid_rank(settings, ranks)), conflicts=tuple(conflicts),
        complete=frozenset(job_wide.pop("complete", ())), **lists,
    )  # fmt: skip
    return _with_size(result, job_wide)


def build(entity: Entity) -> Any:  # noqa: ANN401
    """The fact struct of an entity, without the fields that do not fit; None when its key does not fit."""
    target: type[Fact] = getattr(model, entity.kind)
    fields = {**entity.values, **_key_values(entity)}
    if "host" in target.__struct_fields__ and entity.host is not None:
        fields.setdefault("host", entity.host)
    fields["provenance"] = entity.provenance
    try:
        return _convert(fields, target)
    except msgspec.ValidationError:
        good = {}
        for name, value in fields.items():
            if name in target.__struct_fields__ and _fits(target, name, value):
                good[name] = value
        try:
            return _convert(good, target)
        except (msgspec.ValidationError, TypeError):
            return None
    except TypeError:
        return None


def _key_values(entity: Entity) -> dict[str, Any]:
    names = _KEY_FIELDS.get(entity.kind, ())
    values = {name: value for name, value in zip(names, entity.key, strict=False) if value is not None}
    if entity.kind == "Gpu" and entity.key:
        values["index" if isinstance(entity.key[0], int) else "bus_id"] = entity.key[0]
    return values


def _convert(fields: Mapping[str, Any], target: type[T]) -> T:
    known = {name: value for name, value in fields.items() if name in target.__struct_fields__ and value is not None}
    return msgspec.convert(known, target, from_attributes=True)


def _fits(target: type[Fact], name: str, value: Any) -> bool:  # noqa: ANN401
    annotation = msgspec.structs.fields(target)[target.__struct_fields__.index(name)].type
    try:
        msgspec.convert(value, annotation, from_attributes=True)
    except (msgspec.ValidationError, TypeError):
        return False
    return True


def _with_log_interfaces(grouped: Mapping[str, list[Entity]]) -> list[Entity]:
    """Interfaces of `ip addr` and the like, plus those that only a log named (their addresses are facts as well)."""
    from ncdiag.facts.merge import Entity  # noqa: PLC0415  (the two modules are one thing cut in two)
    from ncdiag.facts.observe import Observation  # noqa: PLC0415

    known = {(e.host, e.key): e for e in grouped.get("Interface", [])}
    for rank in grouped.get("Rank", []):
        named = [rank.values.get(field) for field in _RANK_INTERFACES] + list(rank.values.get("socket_interfaces") or ())
        for item in named:
            if not isinstance(item, dict) or not item.get("name"):
                continue
            place = rank.host, (item["name"],)
            if place not in known:
                known[place] = Entity("Interface", *place)
            span = rank.provenance.get("socket_interfaces") or rank.provenance.get("bootstrap_interface") or rank.provenance[""]
            fields = {key: value for key, value in item.items() if key not in {"name", "port"}}
            if "addresses" in fields and "addresses" in known[place].values:
                have = {a["ip"] for a in known[place].values["addresses"]}
                fields["addresses"] = [a for a in fields["addresses"] if a["ip"] not in have]
            known[place].add(Observation(entity="Interface", span=span, key=place[1], host=rank.host, fields=fields, standing="process"), [])
    return list(known.values())


def _hosts(grouped: Mapping[str, list[Entity]], parts: Mapping[str, list[Any]], settings: Iterable[Setting]) -> tuple[Host, ...]:
    gids: dict[tuple[str, str, int], list[Any]] = defaultdict(list)
    for gid in parts.get("Gid", ()):
        gids[gid.host, gid.hca, gid.port].append(gid)
    ports: dict[tuple[str, str], list[model.Port]] = defaultdict(list)
    seen_ports = set()
    for port in parts.get("Port", ()):
        table = sorted(gids.get((port.host, port.hca, port.number), ()), key=lambda g: g.index)
        ports[port.host, port.hca].append(msgspec.structs.replace(port, gids=tuple(table)))
        seen_ports.add((port.host, port.hca, port.number))
    for place, table in gids.items():
        if place not in seen_ports:
            host, hca, number = place
            ports[host, hca].append(model.Port(host=host, hca=hca, number=number, gids=tuple(table), provenance=table[0].provenance))
    hcas = {(h.host, h.name): h for h in parts.get("Hca", ())}
    for (host, name), found in ports.items():
        first = hcas.get((host, name)) or model.Hca(host=host, name=name, provenance=found[0].provenance)
        hcas[host, name] = msgspec.structs.replace(first, ports=tuple(sorted(found, key=lambda p: p.number)))
    by_host: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for kind, field in _HOST_LISTS.items():
        for fact in hcas.values() if kind == "Hca" else parts.get(kind, ()):
            by_host[fact.host][field].append(fact)
    own: dict[str, dict[str, Any]] = {}
    for entity in grouped.get("Host", ()):
        built = build(_named(entity))
        if built is not None and entity.host is not None:
            own[entity.host] = {f: getattr(built, f) for f in built.__struct_fields__}
    names = [e.host for kind in grouped for e in grouped[kind] if e.host is not None]
    result = []
    if not names and any(grouped.get(kind) for kind in ("Launch", "Setting", "Event", "Benchmark", "Timeout")):
        names = [UNNAMED]  # something ran somewhere: rules about hosts have one to be unknown about
    for name in dict.fromkeys(names):
        fields = {**own.get(name, {"name": name}), **{f: tuple(v) for f, v in by_host[name].items()}}
        fields["interfaces"] = _in_kernel_order(fields.get("interfaces", ()))
        mine = [s for s in settings if s.host == name]
        fields["settings"] = _strongest(s for s in mine if s.origin != "conf file")
        fields["conf_settings"] = {s.name: s for s in mine if s.origin == "conf file"}
        result.append(Host(**fields))
    return tuple(result)


def _in_kernel_order(interfaces: tuple[Interface, ...]) -> tuple[Interface, ...]:
    """By ifindex; those whose index no output told keep their place behind the one before them."""
    order: list[tuple[int, int, Interface]] = []
    last = 0
    for number, interface in enumerate(interfaces):
        last = interface.ifindex if interface.ifindex is not None else last
        order.append((last, number, interface))
    return tuple(interface for _, _, interface in sorted(order, key=lambda item: item[:2]))


def _named(entity: Entity) -> Entity:
    entity.values.setdefault("name", entity.host)
    return entity


_ORIGIN_ORDER = ("process", "log echo", "live", "shell", "conf file", "launcher", "manifest", None)


def _strongest(settings: Iterable[Setting]) -> dict[str, Setting]:
    """One setting a name: that of the strongest origin."""
    result: dict[str, Setting] = {}
    for setting in sorted(settings, key=lambda s: _ORIGIN_ORDER.index(s.origin)):
        result.setdefault(setting.name, setting)
    return result


def _ranks(entities: Sequence[Entity], settings: Sequence[Setting], hosts: Mapping[str, Host]) -> tuple[Rank, ...]:
    echoes: dict[tuple[str | None, int | None], dict[str, Setting]] = defaultdict(dict)
    for setting in settings:
        if setting.pid is not None:
            echoes[setting.host, setting.pid].setdefault(setting.name, setting)
    result = []
    for entity in entities:
        interfaces = {i.name: i for i in hosts[entity.host].interfaces} if entity.host in hosts else {}
        _resolve_interfaces(entity, interfaces)
        rank = build(entity)
        if rank is None:
            continue
        mine = {n: msgspec.structs.replace(s, rank=rank.rank) for n, s in echoes.get((rank.host, rank.pid), {}).items()}
        result.append(msgspec.structs.replace(rank, settings=mine))
    return tuple(sorted(result, key=lambda r: (r.rank is None, r.rank or 0)))


def _resolve_interfaces(entity: Entity, interfaces: Mapping[str, Interface]) -> None:
    """Replace the interfaces that the log named by those of the host, which know more."""
    for field in _RANK_INTERFACES:
        value = entity.values.get(field)
        if isinstance(value, dict):
            entity.values[field] = interfaces.get(value.get("name", ""))
    listed = entity.values.get("socket_interfaces")
    if listed is not None:
        found = [interfaces.get(item.get("name", "")) for item in listed if isinstance(item, dict)]
        entity.values["socket_interfaces"] = [item for item in found if item is not None]


def _with_pid_rank(settings: Iterable[Setting], ranks: Sequence[Rank]) -> list[Setting]:
    numbers = {(r.host, r.pid): r.rank for r in ranks}
    return [
        msgspec.structs.replace(s, rank=numbers.get((s.host, s.pid))) if s.pid is not None and s.host is not None else s
        for s in settings
    ]


def _folded_events(events: Sequence[model.Event], ranks: Sequence[Rank]) -> tuple[model.Event, ...]:
    """Events in order of input, with the rank filled in from the process where the line did not tell it."""
    numbers = {(r.host, r.pid): r.rank for r in ranks if r.pid is not None}
    filled = [
        msgspec.structs.replace(e, rank=numbers[e.host, e.pid]) if e.rank is None and (e.host, e.pid) in numbers else e
        for e in events
    ]
    return tuple(sorted(filled, key=lambda e: e.order))


def _with_size(result: Job, said: Mapping[str, Any]) -> Job:
    """nranks and nhosts of the largest communicator, or as many hosts as were seen when no line tells."""
    nranks = max((c.nranks for c in result.communicators if c.nranks), default=None)
    nranks = nranks or max((r.nranks for r in result.ranks if r.nranks), default=None) or said.get("nranks")
    nhosts = max((c.nhosts for c in result.communicators if c.nhosts), default=None) or said.get("nhosts")
    nhosts = nhosts or max((n for e in result.events if isinstance(n := e.fields.get("nodes"), int)), default=None)
    rank_hosts = {r.host for r in result.ranks}
    seen = {r.rank for r in result.ranks if r.rank is not None}
    complete = set(result.complete)
    if nranks and len(seen) >= nranks:
        complete.add("ranks")
        nhosts = nhosts or len(rank_hosts)
    if nhosts is None and len(rank_hosts) > 1:
        nhosts = len(rank_hosts)
    return msgspec.structs.replace(result, nranks=nranks, nhosts=nhosts, complete=frozenset(complete))
