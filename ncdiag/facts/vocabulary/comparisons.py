"""Differences between the hosts of a job: drivers, plugins, NICs, data paths, MTUs, GID indices.

Each comparison includes only the hosts on which the value is known; it yields nothing for one host, or for hosts that
agree.
"""

from __future__ import annotations

import ipaddress
from collections import defaultdict
from collections.abc import Iterable, Iterator

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Span
from ncdiag.facts.derived import derived
from ncdiag.facts.fold import fold_hosts, fold_ranks
from ncdiag.facts.model import Difference, Host, Interface, Job, Port, Rank
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import leads_out
from ncdiag.facts.vocabulary.outcome import open_failures
from ncdiag.facts.vocabulary.rdma import is_roce, rocev2_ipv4_index, uses_roce

Told = tuple[str, str, Span | None]
"""A host, its value of the compared property, and the line that shows it."""
_NCCL = "/libnccl.so"
TORCH_ERROR = "torch-nccl-error"
_DIGITS = lazy_regex(r"\d+")
_PLUGIN_MISSING = {"plugin-not-found", "plugin-load-failed", "plugin-init-failed"}


def host_differences(job: Job, view: View) -> Iterator[Difference]:
    """The differences between hosts, one for each property in which they differ."""
    for what, told in (
        ("cuda_driver", _cuda_versions(job)),
        ("driver", _drivers(job)),
        ("net_plugin", _plugins(job)),
        ("hca_list", _nic_lists(job, view)),
        ("gdr", _gdr(job)),
        ("local_transport", _local_transports(job)),
        ("gid_kind", _gid_kinds(job, view)),
        ("nccl_installed", _installed(job, view)),
    ):
        yield from _compared(what, what, told, view)
    yield from _interface_mtus(job, view)
    yield from _port_mtus(job, view)
    yield from _gid_indices(job, view)


@derived
def subject(difference: Difference, view: View) -> str:
    """The property that differs (`Difference.what`), with a line for each of the values as evidence."""
    for span in difference.provenance:
        view.note(difference, span)
    return difference.what


def who(ranks: Iterable[Rank], hosts: Iterable[str]) -> str:
    """The ranks and their hosts as ``ranks 0-7,16 on node[1-2]``; hosts alone where no rank has a number."""
    numbers = [r.rank for r in ranks if r.rank is not None]
    folded = fold_hosts(hosts)
    return f"{'ranks' if len(numbers) > 1 else 'rank'} {fold_ranks(numbers)} on {folded}" if numbers else folded


def _compared(what: str, name: str, told: Iterable[Told], view: View) -> Iterator[Difference]:
    """Yield a difference when the hosts have several values; the first value of each host counts."""
    groups: dict[str, list[str]] = defaultdict(list)
    spans: dict[str, Span] = {}
    seen: set[str] = set()
    for host, value, span in told:
        if host in seen:
            continue
        seen.add(host)
        groups[value].append(host)
        if span is not None:
            spans.setdefault(value, span)
    if len(groups) > 1:
        folded = {value: who((r for h in hosts for r in view.ranks_on(h)), hosts) for value, hosts in groups.items()}
        yield Difference(what=what, name=name, groups=folded, provenance=spans)


def _cuda_versions(job: Job) -> Iterator[Told]:
    """The CUDA version that the driver of each host supports, from NCCL's line: 12040 is 12.4."""
    for event in job.events:
        code = event.fields.get("cuda_version")
        if event.event == "cuda-driver-version" and event.host and isinstance(code, int):
            yield event.host, f"{code // 1000}.{code % 1000 // 10}", event.provenance.get("")


def _drivers(job: Job) -> Iterator[Told]:
    for host in job.hosts:
        told = next((g for g in host.gpus if g.driver), None)
        version = host.driver or (told.driver if told else None)
        span = host.provenance.get("driver") or (told.provenance.get("driver") if told else None)
        if version:
            yield host.name, version, span


def _installed(job: Job, view: View) -> Iterator[Told]:
    """The NCCL release of each host that has exactly one library and no rank that reports its release."""
    telling = {rank.host for rank in job.ranks if rank.nccl_version is not None}
    apart = _named_apart(job, view)
    for host in job.hosts:
        found = {str(item.version): item.provenance for item in host.libraries if item.version and _NCCL in item.path}
        if not found and host.nccl_version is not None and host.name not in apart:
            found = {str(host.nccl_version): host.provenance}
        if len(found) == 1 and host.name not in telling:
            for text, provenance in found.items():
                yield host.name, text, provenance.get("nccl_version") or provenance.get("version") or provenance.get("")


def _named_apart(job: Job, view: View) -> set[str | None]:
    """The hosts whose release PyTorch names in errors that need not be of one job: of ranks or names that do not fit.

    Nor do these releases count where a rank ended by an exception of the program: it had set up its communicators.
    """
    events = [event for event in job.events if event.event == TORCH_ERROR and event.host]
    ranks = {(event.host, event.rank) for event in events}
    numbers = [rank for _, rank in ranks]
    fit = None not in numbers and len(numbers) == len(set(numbers))
    alike = len({_DIGITS.sub("", event.host or "") for event in events}) == 1
    return set() if fit and alike and not raises_own(job, view) else {host for host, _ in ranks}


@derived
def raises_own(job: Job, view: View) -> bool:
    """Did the program raise an exception that is not NCCL's, and did the job not go on?"""
    return any(event.event == "python-exception" for event in open_failures(job, view))


def _plugins(job: Job) -> Iterator[Told]:
    for rank in job.ranks:
        if rank.net_plugin:
            yield rank.host, rank.net_plugin, rank.provenance.get("net_plugin")
    named = any(rank.net_plugin for rank in job.ranks)
    for event in job.events:
        if event.event in _PLUGIN_MISSING and event.host:
            yield event.host, "no plugin", event.provenance.get("")
        elif event.event == "plugin-path" and event.host and not named:  # a file was loaded, but no name is known
            yield event.host, "a plugin", event.provenance.get("")


def _nic_lists(job: Job, view: View) -> Iterator[Told]:
    """The NICs of each host in NCCL's order, for hosts whose ranks all list the same.

    Releases name and order NICs differently, so only ranks of the same release are compared. Hosts whose NCCL_IB_HCA
    selects different names but the same number of NICs do not count as different.
    """
    if len({str(r.nccl_version) for r in job.ranks if r.nccl_version and r.nccl_version.known}) > 1:
        return
    lists: dict[str, dict[tuple[str, ...], Rank]] = defaultdict(dict)
    for rank in job.ranks:
        if rank.net_devices:
            lists[rank.host].setdefault(tuple(d.name for d in rank.net_devices), rank)
    known = {host: next(iter(found.items())) for host, found in lists.items() if len(found) == 1}
    filters = {host: view.setting(rank, "NCCL_IB_HCA") for host, (_, rank) in known.items()}
    texts = {s.text if s is not None and s.is_set else None for s in filters.values()}
    counts = {len(names) for names, _ in known.values()}
    if len(counts) == 1 and len(texts) > 1 and None not in texts:
        return
    for host, (names, rank) in known.items():
        yield host, " ".join(names), rank.provenance.get("net_devices")


def _gdr(job: Job) -> Iterator[Told]:
    """Whether the ranks of each host use GPUDirect RDMA, for hosts that send over RDMA."""
    used: dict[str, bool] = {}
    first: dict[str, Rank] = {}
    for rank in job.ranks:
        ways = [name for name in rank.transports or () if name.startswith("NET/IB")]
        if ways:
            direct = any("GDRDMA" in name for name in ways)
            used[rank.host] = used.get(rank.host, False) or direct
            first.setdefault(rank.host, rank)
    for host, direct in used.items():
        rank = first[host]
        span = rank.provenance.get("nics_used") or rank.provenance.get("")
        yield host, "GPUDirect RDMA" if direct else "through host memory", span


def _local_transports(job: Job) -> Iterator[Told]:
    """The transport between the ranks of each host; hosts that use more than one are left out."""
    ways: dict[str, set[str]] = defaultdict(set)
    first: dict[str, Rank] = {}
    for rank in job.ranks:
        for name in rank.transports or ():
            way = next((w for w in ("P2P", "SHM") if name.startswith(w)), None)
            if way:
                ways[rank.host].add(way)
                first.setdefault(rank.host, rank)
    for host, found in ways.items():
        if len(found) == 1:
            yield host, next(iter(found)), first[host].provenance.get("transports")


def _gid_kinds(job: Job, view: View) -> Iterator[Told]:
    """The kind of address in the GIDs that the RoCE ranks of each host use, for hosts where all are of one kind."""
    kinds: dict[str, set[str]] = defaultdict(set)
    first: dict[str, Rank] = {}
    for rank in job.ranks:
        for use in rank.gids_used if uses_roce(rank, view) else ():
            if use.local_gid:
                kinds[rank.host].add(_gid_kind(use.local_gid))
                first.setdefault(rank.host, rank)
    for host, found in kinds.items():
        if len(found) == 1:
            yield host, next(iter(found)), first[host].provenance.get("gids_used")


def _gid_kind(gid: str) -> str:
    address = ip_address(gid)
    if address is None or address.version == 4:  # noqa: PLR2004
        return "an IPv4 address"
    mapped = isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None
    return "an IPv4 address" if mapped else "a link-local address" if address.is_link_local else "an IPv6 address"


def _interface_mtus(job: Job, view: View) -> Iterator[Difference]:
    """Different MTUs in one IP network, which is one link layer segment; only networks that ranks use, where known.

    Where no network is known (``ip link``), interfaces of the same name are assumed to be in the same network, that of
    the host of which it is known.
    """
    networks: dict[str, list[Interface]] = defaultdict(list)
    for host in job.hosts:
        for interface in host.interfaces:
            if interface.mtu is not None and interface.up is not False and leads_out(interface, view):
                for network in _networks(interface) or _named(interface):
                    networks[network].append(interface)
    for network in [name for name in networks if "/" in name]:
        for name in {each.name for each in networks[network]} & networks.keys():
            networks[network] += networks.pop(name)
    used = {i.name for r in job.ranks for i in _announced(r)}  # people call a host by two names
    for network, members in sorted(networks.items()):
        if used and not any(i.name in used for i in members):
            continue
        told = [(i.host, str(i.mtu), i.provenance.get("mtu") or i.provenance.get("")) for i in members]
        yield from _compared("interface_mtu", network, told, view)


def _announced(rank: Rank) -> Iterator[Interface]:
    yield from (i for i in (rank.bootstrap_interface, rank.oob_interface) if i is not None)
    yield from rank.socket_interfaces or ()


def _networks(interface: Interface) -> set[str]:
    found = set()
    for address in interface.addresses or ():
        try:
            network = ipaddress.ip_network(f"{address.ip.split('%')[0]}/{address.prefix_len}", strict=False)
        except ValueError:
            continue
        if network.num_addresses > 1 and not network.is_link_local and not network.is_loopback:
            found.add(str(network))
    return found


def _named(interface: Interface) -> set[str]:
    """The name of an interface in place of its network, where no network is known."""
    return set() if any(a.prefix_len is not None for a in interface.addresses or ()) else {interface.name}


def _port_mtus(job: Job, view: View) -> Iterator[Difference]:
    """Different active MTUs of RoCE ports with the same name.

    Ports that differ in the same way are reported together.
    """
    ports: dict[str, list[Port]] = defaultdict(list)
    for host in job.hosts:
        for port in _roce_ports(host, view):
            if port.active_mtu is not None:
                ports[f"{port.hca} port {port.number}"].append(port)
    alike: dict[tuple[tuple[str, str], ...], list[str]] = defaultdict(list)
    first: dict[tuple[tuple[str, str], ...], Difference] = {}
    for name, members in ports.items():
        told = [(p.host, str(p.active_mtu), p.provenance.get("active_mtu")) for p in members]
        for found in _compared("port_mtu", name, told, view):
            groups = tuple(found.groups.items())
            alike[groups].append(name)
            first.setdefault(groups, found)
    for groups, names in alike.items():
        found = first[groups]
        yield Difference(what="port_mtu", name=", ".join(names), groups=found.groups, provenance=found.provenance)


def _roce_ports(host: Host, view: View) -> Iterator[Port]:
    for hca in host.hcas:
        for port in hca.ports:
            if is_roce(port, view) and port.state in {"active", None}:
                yield port


def _gid_indices(job: Job, view: View) -> Iterator[Difference]:
    """Different indices of the RoCE v2 entry with an IPv4 address, over the ports that ranks use, or all if unknown."""
    used: dict[str, set[str]] = defaultdict(set)
    for rank in job.ranks:
        used[rank.host].update(name for d in rank.net_devices or () for name in d.name.split("+"))
    groups: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    spans: dict[str, Span] = {}
    for host in job.hosts:
        for port in _roce_ports(host, view):
            index = rocev2_ipv4_index(port, view)
            if index is None or (used[host.name] and port.hca not in used[host.name]):
                continue
            groups[str(index)][port.hca].append(host.name)
            entry = next((g.provenance.get("") for g in port.gids if g.index == index), None)
            if entry is not None:
                spans.setdefault(str(index), entry)
    if len(groups) > 1:
        folded = {index: _devices(members) for index, members in groups.items()}
        yield Difference(what="rocev2_index", name="rocev2_index", groups=folded, provenance=spans)


def _devices(members: dict[str, list[str]]) -> str:
    """Devices with their hosts, ``mlx5_0, mlx5_1 on n[1-2]``; devices on the same hosts are joined."""
    places: dict[str, list[str]] = defaultdict(list)
    for device, hosts in members.items():
        places[fold_hosts(hosts)].append(device)
    return ", ".join(f"{', '.join(devices)} on {hosts}" for hosts, devices in places.items())
