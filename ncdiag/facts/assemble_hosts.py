"""Build hosts from their parts: GIDs go into ports, ports into devices, devices, interfaces and settings into hosts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, get_args

import msgspec

from ncdiag.facts.entity import Entity, build
from ncdiag.facts.model import Host, Interface, Origin, Rank, Setting
from ncdiag.facts.model.base import Key
from ncdiag.facts.model.declared import Declared, declared
from ncdiag.facts.model.marks import OF_HOST
from ncdiag.facts.observe import Observation

Parts = Mapping[str, list[Any]]
"""Built facts, by the name of their type."""

UNNAMED = "unnamed-host"
"""The name of the host of pasted output that names none."""

_SYSTEM_CONF = "/etc/nccl.conf"
_ORIGIN_ORDER = (*get_args(Origin), None)


def hosts(
    names: Iterable[str], own: Iterable[Entity], parts: Parts, settings: Iterable[Setting]
) -> tuple[Host, ...]:  # fmt: skip
    """Return the hosts with these ``names``, in their order; ``own`` are the entities of the hosts themselves."""
    by_host: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for field, kind in declared(Host).collections.items():
        for fact in _with_parts(declared(kind), parts):
            by_host[fact.host][field].append(fact)
    by_setting: dict[str | None, list[Setting]] = defaultdict(list)
    for setting in settings:
        by_setting[setting.host].append(setting)
    said = _own_fields(own)
    return tuple(_host(said.get(name, {"name": name}), by_host[name], by_setting[name]) for name in names)


def _host(own: Mapping[str, Any], lists: Mapping[str, list[Any]], settings: list[Setting]) -> Host:
    fields = {**own, **{field: tuple(facts) for field, facts in lists.items()}}
    fields["interfaces"] = _in_kernel_order(fields.get("interfaces", ()))
    fields["settings"] = _strongest(s for s in settings if s.origin != "conf file")
    conf = sorted((s for s in settings if s.origin == "conf file"), key=_conf_order)
    fields["conf_settings"] = {s.name: s for s in reversed(conf)}
    return Host(**fields)


def _conf_order(setting: Setting) -> int:
    """The rank of a configuration file, lowest first: that of NCCL_CONF_FILE, ~/.nccl.conf, /etc/nccl.conf.

    The first wins.
    """
    file = setting.file or _SYSTEM_CONF
    return 2 if file == _SYSTEM_CONF else 1 if file.endswith("/.nccl.conf") else 0


def _own_fields(entities: Iterable[Entity]) -> dict[str, dict[str, Any]]:
    """The fields of the hosts themselves, by host name."""
    found = {}
    for entity in entities:
        entity.values.setdefault("name", entity.host)
        built = build(entity)
        if built is not None and entity.host is not None:
            found[entity.host] = {name: getattr(built, name) for name in built.__struct_fields__}
    return found


def _with_parts(kind: Declared, parts: Parts) -> list[Any]:
    """The facts of a type, each with the facts that belong to it; an owner that only its parts mention is created."""
    facts = list(parts.get(kind.kind.__name__, ()))
    for field, part in kind.collections.items():
        found = _with_parts(declared(part), parts)
        facts = list(_owners(kind, facts, field, found)) if found else facts
    return facts


def _owners(kind: Declared, facts: Iterable[Any], field: str, parts: Sequence[Any]) -> Iterator[Any]:
    """Put each of ``parts`` into ``field`` of its owner: the key of a part begins with that of its owner."""
    names, whole = _plain(kind.key), _plain(parts[0].KEY)
    place, place_of_part, own_place = (_place(keys) for keys in (names, whole[: len(names)], whole))
    held: dict[tuple[Any, ...], list[Any]] = defaultdict(list)
    for part in parts:
        held[place_of_part(part)].append(part)
    known = {place(fact): fact for fact in facts}
    for at in dict.fromkeys([*known, *held]):
        mine = sorted(held[at], key=own_place)
        named = dict(zip(("host", *names), at, strict=True))
        owner = known.get(at) or kind.kind(**named, provenance=mine[0].provenance)
        yield msgspec.structs.replace(owner, **{field: tuple(mine)}) if mine else owner


def _plain(key: Key | None) -> tuple[str, ...]:
    return tuple(name for name in key or () if isinstance(name, str))


def _place(names: Iterable[str]) -> Callable[[Any], tuple[Any, ...]]:
    """A function that returns what identifies a fact within its type: its host and the fields ``names``."""
    return attrgetter("host", *names)


def with_log_interfaces(interfaces: Iterable[Entity], ranks: Iterable[Entity]) -> list[Entity]:
    """Add the interfaces that only a log names to those that tools reported; new addresses in logs are added too."""
    known = {(e.host, e.key): e for e in interfaces}
    for rank in ranks:
        for field, item in _named_by(rank):
            place = rank.host, (item["name"],)
            entity = known.setdefault(place, Entity(declared(Interface), *place))
            fields = {key: value for key, value in item.items() if key not in {"name", "port"}}
            if "addresses" in fields and "addresses" in entity.values:
                have = {address["ip"] for address in entity.values["addresses"]}
                fields["addresses"] = [address for address in fields["addresses"] if address["ip"] not in have]
            seen = Observation(entity="Interface", span=rank.provenance[field], fields=fields, standing="process")
            entity.add(seen, [])
    return list(known.values())


def _named_by(rank: Entity) -> Iterator[tuple[str, dict[str, Any]]]:
    """The interfaces in the log lines of a rank, each with the field of the rank that holds it."""
    for field in declared(Rank).marked[OF_HOST]:
        value = rank.values.get(field) or ()
        for item in [value] if isinstance(value, dict) else value:
            if isinstance(item, dict) and item.get("name"):
                yield field, item


def _in_kernel_order(interfaces: tuple[Interface, ...]) -> tuple[Interface, ...]:
    """Sort by ifindex; an interface without one stays after the interface before it."""
    order: list[tuple[int, int, Interface]] = []
    last = 0
    for number, interface in enumerate(interfaces):
        last = interface.ifindex if interface.ifindex is not None else last
        order.append((last, number, interface))
    return tuple(interface for _, _, interface in sorted(order, key=lambda item: item[:2]))


def _strongest(settings: Iterable[Setting]) -> dict[str, Setting]:
    """The setting of each name that has the strongest origin."""
    result: dict[str, Setting] = {}
    for setting in sorted(settings, key=lambda s: _ORIGIN_ORDER.index(s.origin)):
        result.setdefault(setting.name, setting)
    return result
