"""A job that was started separately on each of its hosts: do the launch lines and configurations agree?

torchrun, torch.distributed.launch, accelerate and deepspeed (--no_ssh) are started once on every host, with the number
of the host and the place where all meet. Several such lines in one input are starts of one job, or successive attempts;
they are compared only where they can be of one job, that is where each is of another host.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Job, Launch, Setting
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.knowledge.launcher.masters import is_own, sought_text

_PROGRAMS = frozenset({
    "torchrun", "torch.distributed.run", "torch.distributed.launch", "accelerate launch", "accelerate config",
    "deepspeed", "paddle.distributed.launch", "fleetrun", "msrun",
})  # fmt: skip
"""Launchers that are started on each host."""
_NUMBERS_ITSELF = "c10d"
"""The rendezvous of torchrun that assigns host numbers itself, whatever the line says."""
_HOST_LABEL = lazy_regex(
    r"(?i)[#>*\s-]{0,8}(?:(?:on|at)\s+)?(?:the\s+)?((?:host|node|machine|server|box|worker|pod|vm)[\s#_-]{0,3}[\w.-]{1,30})\s*[:>]\s"
)
"""A label before a command: ``host A:``, ``on node 2:``."""
_VARIABLES = {
    "nnodes": ("PET_NNODES", "NNODES"), "node_rank": ("PET_NODE_RANK", "NODE_RANK"),
    "master_addr": ("PET_MASTER_ADDR", "MASTER_ADDR"), "master_port": ("PET_MASTER_PORT", "MASTER_PORT"),
}  # fmt: skip
"""The environment of a start; torchrun reads PET_ and an option's name (torch/distributed/argparse_util.py)."""
_DIGITS = 7
_COUNTS = {"nnodes": "hosts", "np": "processes"}
_SEVERAL = 2


@derived
def starts(job: Job, view: View) -> tuple[Launch, ...]:
    """The launches that start one host of several, including the environment of a host without a launch line."""
    lines = [launch for launch in job.launches if launch.program in _PROGRAMS or "NNODES" in launch.prefix_env]
    lines = [launch for launch in lines if launch.host is not None] or lines  # without a prompt: perhaps an example
    lined = {launch.host for launch in lines}
    told = [_by_environment(host) for host in job.hosts if host.name not in lined and None not in lined]
    return tuple(launch for launch in [*lines, *told] if (launch.nnodes or 0) >= _SEVERAL)


def _by_environment(host: Host) -> Launch:
    """A launch from the variables that torchrun reads on a host in place of options."""
    held = {field: setting for field, names in _VARIABLES.items() if (setting := _first_set(host, names))}
    texts = {field: setting.text or "" for field, setting in held.items()}
    numbers = {field: int(text) for field, text in texts.items() if text.isdecimal() and len(text) < _DIGITS}
    provenance = next((setting.provenance for setting in held.values()), host.provenance)
    return Launch(
        program="environment", text="", host=host.name, nnodes=numbers.get("nnodes"),
        node_rank=numbers.get("node_rank"), master_port=numbers.get("master_port"),
        master_addr=texts.get("master_addr"), provenance=provenance,
    )  # fmt: skip


def _first_set(host: Host, names: Iterable[str]) -> Setting | None:
    settings = (host.settings.get(name) for name in names)
    return next((setting for setting in settings if setting is not None and setting.is_set), None)


@derived
def split_rendezvous(job: Job, view: View) -> str | None:
    """Different rendezvous of hosts of one job, ``port 29500 (node0), port 29501 (node1)``; empty if all are equal.

    None if fewer than two hosts are known. Without launch lines, the masters that ranks tried to reach are compared.
    """
    hosts = _hosts(starts(job, view))
    if len(hosts) < _SEVERAL:
        return sought_text(job, view)
    ports = _groups(hosts, "master_port")
    if ports:
        return _said(ports, "port {}", view)
    addresses = _groups(hosts, "master_addr")
    return _said(addresses, "{}", view) if addresses and _comparable(map(str, addresses)) else ""


@derived
def unequal_counts(job: Job, view: View) -> str | None:
    """Different numbers of hosts in one job, ``2 hosts (node0), 3 hosts (node1)``; empty if they agree.

    None if fewer than two hosts are known.
    """
    hosts = _hosts(starts(job, view))
    if len(hosts) < _SEVERAL:
        return None
    for field, name in _COUNTS.items():
        groups = _groups(hosts, field)
        if groups:
            return _said(groups, f"{{}} {name}", view)
    return ""


_CONFIGURATION = "accelerate config"
"""The program of a launch that accelerate's file describes: one file for each host."""


@derived
def wrong_host_number(job: Job, view: View) -> str | None:
    """A sentence about hosts of one job that have the same number, or one that is too high; empty for none.

    None where no launch numbers a host of several.
    """
    numbered = [la for la in starts(job, view) if la.node_rank is not None and _NUMBERS_ITSELF not in la.text]
    if not numbered:
        return None
    for launch in numbered:
        if launch.node_rank is not None and launch.nnodes is not None and launch.node_rank >= launch.nnodes:
            view.note(launch)
            return f"A host is started as number {launch.node_rank} of {launch.nnodes}, which are counted from 0"
    hosts = _hosts(numbered)
    if not any(launch.host for launch in numbered):
        hosts = _labelled(numbered) or hosts
    named = [name for name, held in hosts.items() if held[0].host == name or _label(held[0]) == name]
    same = {launch.node_rank for held in hosts.values() for launch in held}
    if len(named) >= _SEVERAL and len(same) == 1:
        for name in named:
            view.note(hosts[name][0])
        both = "both" if len(named) == _SEVERAL else "all"
        return f"{' and '.join(named)} are {both} started as host number {same.pop()}"
    configurations = [launch for launch in numbered if launch.program == _CONFIGURATION and launch.host is None]
    if len(same) == 1 and _SEVERAL <= len(configurations) == configurations[0].nnodes:
        for launch in configurations:
            view.note(launch)
        return f"The configurations of {len(configurations)} hosts all have host number {same.pop()}"
    return ""


def _label(launch: Launch) -> str:
    """What somebody wrote before the command to say on which host it runs: ``host A``; empty for nothing."""
    found = _HOST_LABEL.match(launch.text)
    return found[1] if found is not None else ""


def _labelled(launches: Sequence[Launch]) -> dict[str, list[Launch]]:
    """The launches by such a label; empty unless each has one."""
    found: dict[str, list[Launch]] = defaultdict(list)
    for launch in launches:
        found[_label(launch)].append(launch)
    return {} if "" in found else dict(sorted(found.items()))


def _hosts(launches: Sequence[Launch]) -> dict[str, list[Launch]]:
    """The launches by host: by name where each has one and they differ, else by number."""
    names = {launch.host for launch in launches}
    by_name = None not in names and len(names) >= _SEVERAL
    found: dict[str, list[Launch]] = defaultdict(list)
    for launch in launches:
        name = launch.host if by_name else None if launch.node_rank is None else f"host number {launch.node_rank}"
        if name is not None:
            found[name].append(launch)
    return dict(sorted(found.items()))


def _groups(hosts: Mapping[str, Sequence[Launch]], field: str) -> dict[int | str, dict[str, Launch]]:
    """The hosts by value of the field, where values differ; empty where the values may be of several attempts.

    A host with two values was started twice, and a value that all hosts have is that of a complete job.
    """
    groups: dict[int | str, dict[str, Launch]] = defaultdict(dict)
    for name, launches in hosts.items():
        values = {value: launch for launch in launches if (value := _value(launch, field)) is not None}
        if len(values) > 1:
            return {}
        for value, launch in values.items():
            groups[value][name] = launch
    return groups if len(groups) > 1 else {}


def _value(launch: Launch, field: str) -> int | str | None:
    """The value in the launch; None where the first host uses a local address for itself, which is correct."""
    value: int | str | None = getattr(launch, field)
    return None if field == "master_addr" and launch.node_rank == 0 and is_own(str(value)) else value


def _comparable(addresses: Iterable[str]) -> bool:
    """Are all of them IP addresses, or all names? A name and an address may be the same machine."""
    return len({ip_address(text) is None for text in addresses}) == 1


def _said(groups: Mapping[int | str, Mapping[str, Launch]], form: str, view: View) -> str:
    parts = []
    for value, held in groups.items():
        view.note(next(iter(held.values())))
        parts.append(f"{form.format(value)} ({', '.join(held)})")
    return ", ".join(parts)
