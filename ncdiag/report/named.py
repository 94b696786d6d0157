"""What the input names is written into the commands of a fix: ``ssh n3 true`` in place of ``ssh <host> true``.

A rule writes ``<host>``, ``<device>``, ``<pid>`` where a command needs what only some inputs show. Each is replaced if
the finding has exactly one of it, or if no finding decides and the whole input has exactly one. Whatever has more than
one candidate, or none, remains as it is: a person has to choose.
"""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.engine.results import Finding
from ncdiag.facts.assemble_hosts import UNNAMED
from ncdiag.facts.model import Event, Gpu, Hca, Interface, Port, Rank, StackDump
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import is_virtual
from ncdiag.facts.vocabulary.launches import POD
from ncdiag.facts.vocabulary.platforms import platforms
from ncdiag.facts.vocabulary.pod_rows import POD_NAME

_HOLE = lazy_regex(r"<([a-zA-Z][a-zA-Z' ]{0,40})>")
_SAFE = lazy_regex(r"/?[A-Za-z0-9][\w.:%@/+-]{0,199}")
"""What may be written into a command without quotes."""
_OF_A_NAMESPACE = lazy_regex(
    r"kubectl (?=(?:(?:describe|get|delete) (?:pods?|jobs?|events|services?|endpoints)|logs|exec)\b)"
)
_IN_A_NAMESPACE = lazy_regex(r" (?:-n|--namespace|-A|--all-namespaces)\b")
_PEERS = ("peer_host", "other_host")
"""Fields of events with the host that could not be reached, which is the one that the fix is about."""
_PATHS = ("path", "full_path", "file_path", "folder")
_PAIR = 2
Named = Callable[[Finding, View], Iterator[str]]


def named(text: str, found: Finding, view: View, names: Mapping[str, frozenset[str]] = {}) -> str:
    """The text with the values that the finding, or the input, shows; ``names``: what commands of the input write."""
    if "<" in text:
        text = _HOLE.sub(lambda hole: _value(hole[1], found, view) or _only(names.get(hole[1])) or hole[0], text)
    space = _only(names.get("namespace"))
    if space and (bare := _OF_A_NAMESPACE.match(text)) is not None and not _IN_A_NAMESPACE.search(text):
        text = f"{bare[0]}-n {space} {text[bare.end() :]}"
    return text


def _only(names: frozenset[str] | None) -> str:
    """The only one of the names, if it may stand in a command."""
    return next(iter(names)) if names and len(names) == 1 and _SAFE.fullmatch(next(iter(names))) else ""


def has_hole(text: str) -> bool:
    """True if a value is missing in the text, which a person has to choose."""
    return _HOLE.search(text) is not None


def _even_shares(_: Finding, view: View) -> Iterator[str]:
    """The ranks that each listed host gets if they are spread evenly, where the first host was given all of them."""
    listed = {host.name for launch in view.job.launches for host in launch.hosts}
    ran = {rank.host for rank in view.job.ranks}
    for launch in view.job.launches:
        if launch.np and len(listed) > 1 and len(ran) == 1 and ran <= listed and launch.np % len(listed) == 0:
            yield str(launch.np // len(listed))


def _value(word: str, found: Finding, view: View) -> str:
    """The only value for the word; empty without one, or with several."""
    for search in _SEARCHES.get(word, ()):
        values = {value for value in search(found, view) if _SAFE.fullmatch(value)}
        if values:
            return values.pop() if len(values) == 1 else ""
    return ""


def _bound(found: Finding, kind: type[Any]) -> Iterator[Any]:
    """The facts of a type that the instances of the finding bind."""
    return (fact for names in found.instances for fact in names.values() if isinstance(fact, kind))


def _of_events(found: Finding, *names: str) -> Iterator[str]:
    """The values of these fields of the events that the finding binds."""
    for event in _bound(found, Event):
        yield from (str(event.fields[name]) for name in names if event.fields.get(name) is not None)


def _unreached(found: Finding, _: View) -> Iterator[str]:
    return _of_events(found, *_PEERS)


def _other(found: Finding, view: View) -> Iterator[str]:
    """Of two hosts the one where the finding is not."""
    names = {host.name for host in view.job.hosts} - {UNNAMED}
    if len(names) == _PAIR and len(found.where.hosts & names) == 1:
        yield from names - found.where.hosts


def _hosts(found: Finding, view: View) -> Iterator[str]:
    """The hosts of the finding; the only host of the input, if it says of none where it is."""
    hosts = [name for name in found.where.hosts if name != UNNAMED]
    if hosts or found.where.hosts:
        yield from hosts
    else:
        yield from (host.name for host in view.job.hosts if host.name != UNNAMED)


def _pods(found: Finding, view: View) -> Iterator[str]:
    """The pod that the line of an event names, else the host of the finding: NCCL in a pod calls the pod a host."""
    pods = [name[1] for event in _bound(found, Event) for name in POD_NAME.finditer(event.text)]
    yield from pods or (_hosts(found, view) if POD in platforms(view.job, view) else ())


def _devices(found: Finding, _: View) -> Iterator[str]:
    yield from (hca.name for hca in _bound(found, Hca))
    yield from (port.hca for port in _bound(found, Port))
    yield from _of_events(found, "hca")


def _only_device(_: Finding, view: View) -> Iterator[str]:
    return (hca.name for host in view.job.hosts for hca in host.hcas)


def _interfaces(found: Finding, _: View) -> Iterator[str]:
    yield from (each.name for each in _bound(found, Interface))
    yield from (port.netdev for port in _bound(found, Port) if port.netdev)
    yield from _of_events(found, "interface")


def _only_interface(_: Finding, view: View) -> Iterator[str]:
    for host in view.job.hosts:
        yield from (each.name for each in host.interfaces if each.name != "lo" and is_virtual(each, view) is not True)


def _gpus(found: Finding, _: View) -> Iterator[str]:
    """GPUs as ``nvidia-smi -i`` takes them: the bus id, which is the same in each container, else the number."""
    for gpu in _bound(found, Gpu):
        yield gpu.bus_id or str(gpu.index)
    yield from (_bus(value) for value in _of_events(found, "pci"))


def _divided(_: Finding, view: View) -> Iterator[str]:
    """The only GPU that is divided into MIG instances."""
    return (str(gpu.index) for host in view.job.hosts for gpu in host.gpus if gpu.mig)


def _bus(text: str) -> str:
    """``0000:9a:00`` of a kernel line with the function that nvidia-smi wants."""
    return text if "." in text else f"{text}.0"


def _ports(found: Finding, _: View) -> Iterator[str]:
    """Numbers of the RDMA ports of a finding about these."""
    return (str(port.number) for port in _bound(found, Port) if found.rule.area in {"ib", "roce"})


def _buses(found: Finding, view: View) -> Iterator[str]:
    """Bus ids of the finding's GPUs, as lspci takes them."""
    return (text for text in _gpus(found, view) if ":" in text)


def _numa_nodes(found: Finding, _: View) -> Iterator[str]:
    return (str(gpu.numa_node) for gpu in _bound(found, Gpu) if gpu.numa_node is not None and gpu.numa_node >= 0)


def _payloads(found: Finding, _: View) -> Iterator[str]:
    """What a packet of the smallest MTU of the finding's interfaces carries without the headers of IP and ICMP."""
    sizes = [each.mtu for each in _bound(found, Interface) if each.mtu]
    if sizes:
        yield str(min(sizes) - 28)


def _links(field: str) -> Named:
    """The LID or the port of the links of a fabric that run below what both ends support, if it is one."""

    def search(found: Finding, view: View) -> Iterator[str]:
        if found.rule.area != "ib":
            return iter(())
        slow = {
            (node.lid, link.port) for fabric in view.job.fabrics for node in fabric.nodes for link in node.links
            if link.could_be and node.kind == "switch" and node.lid
        }  # fmt: skip
        return (str(lid if field == "lid" else port) for lid, port in slow if len(slow) == 1)

    return search


def _pids(found: Finding, _: View) -> Iterator[str]:
    for kind in (StackDump, Rank):
        yield from (str(fact.pid) for fact in _bound(found, kind) if fact.pid is not None)
    yield from _of_events(found, "pid")


def _gpu_counts(found: Finding, view: View) -> Iterator[str]:
    """The number of GPUs of the hosts concerned, where a whole list of them was seen; else what Slurm was asked for."""
    listed = [
        str(len(host.gpus)) for host in view.job.hosts
        if is_closed(host, "gpus") and host.gpus and (host.name in found.where.hosts or not found.where.hosts)
    ]  # fmt: skip
    yield from listed or (str(each.gpus_per_node) for each in view.job.launches if each.gpus_per_node)


def _peer_addresses(found: Finding, _: View) -> Iterator[str]:
    """Addresses alone: what is not one may be a name with a process or a port."""
    for event in _bound(found, Event):
        peer = (event.peer or "").partition("<")[0]
        with contextlib.suppress(ValueError):
            yield str(ipaddress.ip_address(peer))


def _groups(_: Finding, view: View) -> Iterator[str]:
    """The security group of the cloud, where one was shown."""
    return (group.id for group in view.job.security_groups)


def _fields(*names: str) -> Named:
    return lambda found, _: _of_events(found, *names)


def _host_counts(_: Finding, view: View) -> Iterator[str]:
    """The number of hosts that a launch names, else of those on which the ranks are, if all ranks were seen."""
    launched = [str(each.nnodes) for each in view.job.launches if each.nnodes is not None]
    places = {rank.host for rank in view.job.ranks} - {None, UNNAMED}
    if launched:
        yield from launched
    elif places and view.job.nranks == len(view.job.ranks):
        yield str(len(places))


def _first_host(_: Finding, view: View) -> Iterator[str]:
    """The address that the launch gives for the first host; one of the host itself reaches no other."""
    for launch in view.job.launches:
        address = launch.master_addr
        if address and address != "localhost" and not address.startswith("127."):
            yield address


def _of_launches(field: str) -> Named:
    def search(_: Finding, view: View) -> Iterator[str]:
        return (str(value) for each in view.job.launches if (value := getattr(each, field)) is not None)

    return search


_SEARCHES: Mapping[str, tuple[Named, ...]] = {
    "host": (_unreached, _hosts),
    "the other host": (_unreached, _other),
    "other host": (_unreached, _other),
    "peer": (_unreached, _peer_addresses, _other),
    "server": (_unreached, _peer_addresses),
    "remote address": (_peer_addresses, _fields("peer_address")),
    "local address": (_fields("local_address"),),
    "number of hosts": (_host_counts,),
    "image": (_fields("image"),),
    "group": (_groups,),
    "job": (_fields("slurm_job", "job_id"),),
    "file": (_fields(*_PATHS),),
    "path": (_fields(*_PATHS),),
    "storage path": (_fields(*_PATHS),),
    "script": (_of_launches("script"),),
    "first host": (_first_host,),
    "the first host": (_first_host,),
    "master": (_first_host,),
    "head": (_first_host,),
    "address of the master": (_first_host,),
    "hostfile": (_of_launches("hostfile"),),
    "host file": (_of_launches("hostfile"),),
    "address of the first host": (_first_host,),
    "node": (_hosts,),
    "pod": (_pods,),
    "worker": (_pods,),
    "device": (_devices, _only_device),
    "interface": (_interfaces, _only_interface),
    "unmarked interface": (_only_interface,),
    "lossy interface": (_only_interface,),
    "bond": (_interfaces,),
    "lid": (_links("lid"), _fields("lid")),
    "port": (_ports, _links("port")),
    "guid": (_fields("guid"),),
    "bus id": (_buses,),
    "mtu - 28": (_payloads,),
    "index": (_gpus, _divided),
    "gpu": (_gpus,),
    "pid": (_pids,),
    "pid of that rank": (_pids,),
    "GPUs of the host": (_gpu_counts, _even_shares),
    "GPUs": (_gpu_counts,),
    "GPUs of a node": (_gpu_counts,),
    "devices": (_gpu_counts,),
    "NUMA node of the GPU": (_numa_nodes,),
    "the address in the message": (_peer_addresses,),
    "address of the peer": (_peer_addresses,),
    "host of the endpoint": (_of_launches("master_addr"),),
    "port of the endpoint": (_of_launches("master_port"),),
}
