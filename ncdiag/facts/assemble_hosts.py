"""Hosts from their parts: GIDs into ports, ports into devices, devices, interfaces and settings into hosts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from ncdiag.facts import model
from ncdiag.facts.entity import Entity, build
from ncdiag.facts.model import Hca, Host, Interface, Port, Setting
from ncdiag.facts.observe import Observation

Parts = Mapping[str, list[Any]]
"""Built facts by entity kind."""

UNNAMED = "unnamed-host"
"""Label of the host of pasted output that named none."""

RANK_INTERFACES = ("bootstrap_interface", "oob_interface")

_HOST_LISTS = {
    "Interface": "interfaces", "Route": "routes", "Gpu": "gpus", "Npu": "npus", "TopoLink": "links", "PciDevice": "pci",
    "KernelModule": "modules", "Mount": "mounts", "Limit": "limits", "Service": "services", "Library": "libraries",
    "HealthCheck": "checks",
}  # fmt: skip
_JOB_PARTS = ("Launch", "Setting", "Event", "Benchmark", "Timeout")
_SYSTEM_CONF = "/etc/nccl.conf"
_ORIGIN_ORDER = ("process", "log echo", "live", "shell", "conf file", "launcher", "manifest", None)


def hosts(grouped: Mapping[str, list[Entity]], parts: Parts, settings: Iterable[Setting]) -> tuple[Host, ...]:
    """All hosts that any entity names, in the order of the input."""
    by_host: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for kind, field in _HOST_LISTS.items():
        for fact in parts.get(kind, ()):
            by_host[fact.host][field].append(fact)
    for hca in _hcas(parts):
        by_host[hca.host]["hcas"].append(hca)
    by_setting: dict[str | None, list[Setting]] = defaultdict(list)
    for setting in settings:
        by_setting[setting.host].append(setting)
    own = _own_fields(grouped.get("Host", ()))
    names = [e.host for kind in grouped for e in grouped[kind] if e.host is not None]
    if not names and any(grouped.get(kind) for kind in _JOB_PARTS):
        names = [UNNAMED]  # something ran somewhere: rules about hosts have one to be unknown about
    return tuple(_host(own.get(name, {"name": name}), by_host[name], by_setting[name]) for name in dict.fromkeys(names))


def _host(own: Mapping[str, Any], lists: Mapping[str, list[Any]], settings: list[Setting]) -> Host:
    fields = {**own, **{field: tuple(facts) for field, facts in lists.items()}}
    fields["interfaces"] = _in_kernel_order(fields.get("interfaces", ()))
    fields["settings"] = _strongest(s for s in settings if s.origin != "conf file")
    conf = sorted((s for s in settings if s.origin == "conf file"), key=_conf_order)
    fields["conf_settings"] = {s.name: s for s in reversed(conf)}
    return Host(**fields)


def _conf_order(setting: Setting) -> int:
    """NCCL reads the file of NCCL_CONF_FILE, else that of the home folder, and then /etc/nccl.conf; the first wins."""
    file = setting.file or _SYSTEM_CONF
    return 2 if file == _SYSTEM_CONF else 1 if file.endswith("/.nccl.conf") else 0


def _own_fields(entities: Iterable[Entity]) -> dict[str, dict[str, Any]]:
    """What was observed of hosts themselves, by name."""
    found = {}
    for entity in entities:
        entity.values.setdefault("name", entity.host)
        built = build(entity)
        if built is not None and entity.host is not None:
            found[entity.host] = {name: getattr(built, name) for name in built.__struct_fields__}
    return found


def _hcas(parts: Parts) -> Iterator[Hca]:
    ports: dict[tuple[str, str], list[Port]] = defaultdict(list)
    for port in _ports(parts):
        ports[port.host, port.hca].append(port)
    named = {(h.host, h.name): h for h in parts.get("Hca", ())}
    for place in dict.fromkeys([*named, *ports]):
        mine = sorted(ports.get(place, ()), key=lambda port: port.number)
        hca = named.get(place) or Hca(host=place[0], name=place[1], provenance=mine[0].provenance)
        yield msgspec.structs.replace(hca, ports=tuple(mine)) if mine else hca


def _ports(parts: Parts) -> Iterator[Port]:
    """Ports with their GID tables; a table makes a port known that nothing else told of."""
    tables: dict[tuple[str, str, int], list[model.Gid]] = defaultdict(list)
    for gid in parts.get("Gid", ()):
        tables[gid.host, gid.hca, gid.port].append(gid)
    known = {(p.host, p.hca, p.number): p for p in parts.get("Port", ())}
    for place in dict.fromkeys([*known, *tables]):
        table = sorted(tables.get(place, ()), key=lambda gid: gid.index)
        host, hca, number = place
        port = known.get(place) or Port(host=host, hca=hca, number=number, provenance=table[0].provenance)
        yield msgspec.structs.replace(port, gids=tuple(table)) if table else port


def with_log_interfaces(grouped: Mapping[str, list[Entity]]) -> list[Entity]:
    """Interfaces of `ip addr` and the like, plus those that only a log named (their addresses are facts as well)."""
    known = {(e.host, e.key): e for e in grouped.get("Interface", [])}
    for rank in grouped.get("Rank", []):
        for field, item in _named_by(rank):
            place = rank.host, (item["name"],)
            entity = known.setdefault(place, Entity("Interface", *place))
            fields = {key: value for key, value in item.items() if key not in {"name", "port"}}
            if "addresses" in fields and "addresses" in entity.values:
                have = {address["ip"] for address in entity.values["addresses"]}
                fields["addresses"] = [address for address in fields["addresses"] if address["ip"] not in have]
            seen = Observation(entity="Interface", span=rank.provenance[field], fields=fields, standing="process")
            entity.add(seen, [])
    return list(known.values())


def _named_by(rank: Entity) -> Iterator[tuple[str, dict[str, Any]]]:
    """The interfaces that a rank's log lines name, with the field that holds them."""
    for field in RANK_INTERFACES:
        item = rank.values.get(field)
        if isinstance(item, dict) and item.get("name"):
            yield field, item
    for item in rank.values.get("socket_interfaces") or ():
        if isinstance(item, dict) and item.get("name"):
            yield "socket_interfaces", item


def _in_kernel_order(interfaces: tuple[Interface, ...]) -> tuple[Interface, ...]:
    """By ifindex; those whose index no output told keep their place behind the one before them."""
    order: list[tuple[int, int, Interface]] = []
    last = 0
    for number, interface in enumerate(interfaces):
        last = interface.ifindex if interface.ifindex is not None else last
        order.append((last, number, interface))
    return tuple(interface for _, _, interface in sorted(order, key=lambda item: item[:2]))


def _strongest(settings: Iterable[Setting]) -> dict[str, Setting]:
    """One setting a name: that of the strongest origin."""
    result: dict[str, Setting] = {}
    for setting in sorted(settings, key=lambda s: _ORIGIN_ORDER.index(s.origin)):
        result.setdefault(setting.name, setting)
    return result
