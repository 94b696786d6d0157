"""Whether a host and its job meet the condition of a defect: yes, no, or unknown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from ncdiag.facts.model import Host, Setting
from ncdiag.facts.stated import only
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.capabilities import named_gpus
from ncdiag.facts.vocabulary.job import is_multi_host
from ncdiag.facts.vocabulary.told import cured_by, told_context
from ncdiag.knowledge.version.per_host import is_uneven
from ncdiag.nccl.defects.entries import Condition
from ncdiag.nccl.defects.table import tables
from ncdiag.nccl.vocabulary.features import compared, features, matches
from ncdiag.nccl.vocabulary.values import root_address_problem

_LINK_DOWN = "nvlink-down"
_ARM, _VENDORS = "aarch64", {"AuthenticAMD": "amd", "GenuineIntel": "intel"}
_OF_HOST = frozenset({"gpus", "cpus", "variables", "layer", "rdma_ports", "container", "links_down"})
_CONTAINERS = frozenset({"container", "orchestrator"})


def holds(condition: Condition, host: Host, view: View) -> bool | None:
    """The three-valued conjunction of all parts of the condition; True for an empty one."""
    verdict: bool | None = True
    for part in condition.parts:
        found = _PARTS[part](condition, host, view)
        if found is False:
            return False
        verdict = None if found is None else verdict
    return verdict


def of_host(condition: Condition) -> Condition:
    """The parts of the condition that a host meets before any job runs on it."""
    kept = {part: getattr(condition, part) for part in condition.parts if part in _OF_HOST}
    return Condition(**kept)


def is_avoided(avoid: Mapping[str, str], host: Host, view: View) -> bool:
    """Does the host have all settings that avoid the defect? False if somebody says that one of them helped."""
    settings = {name: view.setting(host, name) for name in avoid}
    if not avoid or any(each is None or (each.text or "").lower() != avoid[n].lower() for n, each in settings.items()):
        return False
    return not any(f"{name}={value}" in cured_by(view.job, view) for name, value in avoid.items())


def is_gpu(model: str, families: tuple[str, ...]) -> bool:
    """Is the model one of these families of ``words.toml``?"""
    known = tables().gpus
    return any(re.search(known[family], model, re.IGNORECASE) for family in families)


def _gpus(condition: Condition, host: Host, view: View) -> bool | None:
    models = [gpu for gpu in host.gpus if gpu.model]
    mine = next((gpu for gpu in models if is_gpu(gpu.model or "", condition.gpus)), None)
    if mine is not None:
        view.note(mine, "model")
    if models:
        return mine is not None
    named = [*named_gpus(view.job, view), *(c.value for c in view.job.contexts if c.value == "spark")]
    return any(is_gpu("GB10" if name == "spark" else name, condition.gpus) for name in named) if named else None


def _cpus(condition: Condition, host: Host, view: View) -> bool | None:
    known = {_VENDORS[host.cpu_vendor]} if host.cpu_vendor in _VENDORS else set()
    known |= {"arm"} if host.cpu_arch == _ARM or _gpus(Condition(gpus=("grace",)), host, view) else set()
    if not known:
        said = (c for c in view.job.contexts if c.kind == "processor")
        known = {c.value.removesuffix("-cpu") for c in said}
    return bool(known & set(condition.cpus)) if known else None


def _uses(condition: Condition, _host: Host, view: View) -> bool | None:
    return set(condition.uses) <= set(features(view.job, view))


def _net(condition: Condition, host: Host, view: View) -> bool | None:
    nets = {rank.net for rank in view.ranks_on(host.name) if rank.net} or {r.net for r in view.job.ranks if r.net}
    return any(condition.net.lower() in net.lower() for net in nets) if nets else None


def _provider(condition: Condition, host: Host, view: View) -> bool | None:
    """Did the plugin choose this provider of libfabric, or may it choose no other?"""
    events = [e for e in view.events_on(host.name, ["ofi-provider"]) if "provider" in e.fields]
    if events:
        view.note(events[0])
        return any(str(event.fields["provider"]).split(";")[0] == condition.provider for event in events)
    setting = view.setting(host, "FI_PROVIDER")
    return (setting.text or "") == condition.provider if setting is not None and setting.is_set else None


def _layer(condition: Condition, host: Host, view: View) -> bool | None:
    layers = {"RoCE" if layer == "Ethernet" else "IB" for layer in _layers_of_ports(host)}
    layers |= {device.link_layer for rank in view.job.ranks for device in rank.net_devices or () if device.link_layer}
    if not layers:
        said = {"infiniband": "IB", "roce": "RoCE"}
        layers = {said[c.value] for c in view.job.contexts if c.kind == "network" and c.value in said}
    return condition.layer in layers if layers else None


def _layers_of_ports(host: Host) -> Iterator[str]:
    return (port.link_layer for hca in host.hcas for port in hca.ports if port.link_layer and port.state == "active")


def _transports(condition: Condition, host: Host, view: View) -> bool | None:
    used = {name for rank in view.ranks_on(host.name) for name in rank.transports or ()}
    return any(name.startswith(condition.transports) for name in used) if used else None


def _variables(condition: Condition, host: Host, view: View) -> bool | None:
    verdict: bool | None = True
    for name, wanted in condition.variables.items():
        setting = view.setting(host, name)
        if setting is None or setting.is_set is None:
            verdict = None
        elif not setting.is_set or not matches(setting.text or "", wanted) or _is_misread(setting):
            return False
        else:
            view.note(setting)
    return verdict


def _is_misread(setting: Setting) -> bool:
    """Is it NCCL_COMM_ID with a value that NCCL cannot use?"""
    return setting.name == "NCCL_COMM_ID" and root_address_problem(setting) != ""


def _ranks(condition: Condition, _host: Host, view: View) -> bool | None:
    return compared(_world(view), condition.ranks)


def _world(view: View) -> int | None:
    job = view.job
    sizes = {job.nranks, *(c.nranks for c in job.communicators), *(run.nranks for run in job.benchmarks)} - {None}
    shown = max((size for size in sizes if size is not None), default=None)
    return shown if shown is not None else _told(view, "rank-count")


def _told(view: View, kind: str) -> int | None:
    """The only number of this kind that somebody names."""
    found = only(view.job.contexts, kind)
    return int(found.value.split()[0]) if found is not None else None


def _hosts(condition: Condition, _host: Host, view: View) -> bool | None:
    job = view.job
    count = job.nhosts or (len({rank.host for rank in job.ranks}) if len(job.ranks) == job.nranks else None)
    if count is not None:
        return compared(count, condition.hosts)
    several = is_multi_host(job, view)
    if several is None and {told.scope for told in job.complaints} - {None} == {"one-host"}:
        several = False
    return compared({True: 2, False: 1}[several], condition.hosts) if several is not None else None


def _ranks_a_host(condition: Condition, _host: Host, view: View) -> bool | None:
    job = view.job
    if condition.ranks_a_host == "uneven" and (shown := is_uneven(view)) is not None:
        return shown
    ranks = {(rank.host, rank.rank) for rank in job.ranks if rank.rank is not None}
    counts = Counter(name for name, _ in ranks)
    whole = bool(counts) and sum(counts.values()) == (job.nranks or _world(view))
    if not whole:
        slots = Counter(
            {place.name: place.slots for launch in job.launches for place in launch.hosts if place.slots is not None}
        )
        each = {launch.nproc_per_node for launch in job.launches} - {None}
        counts = slots or Counter({str(number): number for number in each if number is not None})
    if not counts and (told := only(job.contexts, "ranks-a-host")):
        if told.value == "uneven":
            return condition.ranks_a_host == "uneven" or None
        counts = Counter({str(number): int(each) for number, each in enumerate(told.value.split())})
    if not counts:
        return None
    if condition.ranks_a_host == "uneven":
        return len(set(counts.values())) > 1
    return all(compared(number, condition.ranks_a_host) for number in counts.values())


def _rdma_ports(condition: Condition, host: Host, view: View) -> bool | None:
    listed = [len(rank.net_devices) for rank in view.ranks_on(host.name) if rank.net_devices]
    ports = sum(len(hca.ports) for hca in host.hcas) or max(listed, default=0) or _told(view, "rdma-port-count")
    return compared(ports, condition.rdma_ports) if ports else None


def _mixed(condition: Condition, _host: Host, view: View) -> bool | None:
    hosts = view.job.hosts
    kinds: set[str | None]
    if condition.mixed == "gpus":
        kinds = {_family(gpu.model) for host in hosts for gpu in host.gpus if gpu.model}
    elif condition.mixed == "cpus":
        kinds = {host.cpu_vendor or host.cpu_arch for host in hosts}
    else:
        kinds = {layer for host in hosts for layer in _layers_of_ports(host)}
        kinds |= {device.link_layer for rank in view.job.ranks for device in rank.net_devices or ()}
    kinds -= {None}
    return len(kinds) > 1 if kinds else None


def _family(model: str) -> str:
    """The first family of the model, else the model itself."""
    return next((family for family in tables().gpus if is_gpu(model, (family,))), model)


def _container(_condition: Condition, host: Host, view: View) -> bool | None:
    if host.in_container is not None:
        return host.in_container
    return True if any(c.kind in _CONTAINERS for c in view.job.contexts) else None


def _links_down(_condition: Condition, host: Host, view: View) -> bool | None:
    inactive = [gpu.nvlinks_inactive for gpu in host.gpus]
    if any(inactive) or _LINK_DOWN in told_context(view.job, view):
        return True
    return None if None in inactive or not inactive else False


_PARTS: dict[str, Callable[[Condition, Host, View], bool | None]] = {
    "gpus": _gpus, "cpus": _cpus, "uses": _uses, "net": _net, "provider": _provider, "layer": _layer,
    "transports": _transports, "variables": _variables, "ranks": _ranks, "hosts": _hosts,
    "ranks_a_host": _ranks_a_host, "rdma_ports": _rdma_ports, "mixed": _mixed, "container": _container,
    "links_down": _links_down,
}  # fmt: skip
