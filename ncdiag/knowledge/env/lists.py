"""Lists of names that differ from their intent: prefixes that match more, ``^`` in the middle, lost defaults."""

from __future__ import annotations

from ncdiag.facts.derived import derived, derived_for
from ncdiag.facts.model import Host, Interface, Setting
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.rdma import ranks_of
from ncdiag.nccl import versions
from ncdiag.nccl.on_host.in_force import settings_of
from ncdiag.nccl.on_host.nameless import of_like
from ncdiag.nccl.selection import sockets
from ncdiag.nccl.selection.names import NameList
from ncdiag.nccl.vocabulary.filters import list_of

_FAMILY = "NCCL_SOCKET_FAMILY"


@derived
def family_leaves_nothing(host: Host, view: View) -> bool | None:
    """Does NCCL_SOCKET_FAMILY exclude every address, where without it there is a usable one?

    Also where a rank was left with loopback, and the addresses that were shown are of the other family.
    """
    setting = view.setting(host, _FAMILY)
    if setting is None or not isinstance(setting.effective, str):
        return None if setting is None else False
    for event in view.events_on(host.name, ["no-socket-interface"]):
        view.note(event)
        view.note(setting)
        return True
    chosen_lo = next((rank for rank in ranks_of(host, view) if _is_on_loopback(rank.bootstrap_interface)), None)
    if (
        chosen_lo is not None
        and view.setting(host, "NCCL_SOCKET_IFNAME") is None
        and _others_have_family(setting, view)
    ):
        view.note(setting)
        view.note(chosen_lo, "bootstrap_interface")
        return True
    if not is_closed(host, "interfaces"):
        return None
    settings = settings_of(host, view)
    rest = {name: text for name, text in settings.items() if name != _FAMILY}
    chosen = sockets.bootstrap(host.interfaces, settings, view.version(host))
    free = sockets.bootstrap(host.interfaces, rest, view.version(host))
    if not chosen.known or not free.known:
        return None
    view.note(setting)
    for interface in host.interfaces:
        view.note(interface)
    return free.error is None and not _is_local(free) and (chosen.error is not None or _is_local(chosen))


_FAMILIES = {"AF_INET": 4, "AF_INET6": 6}


def _is_on_loopback(interface: Interface | None) -> bool:
    addresses = [ip_address(a.ip) for a in interface.addresses or ()] if interface is not None else []
    return any(address is not None and address.is_loopback for address in addresses)


def _others_have_family(setting: Setting, view: View) -> bool:
    """Do the hosts have addresses that others can reach, all of another family than this one?

    Without a list of interfaces NCCL takes loopback only where no other interface has an address of the family.
    """
    wanted = _FAMILIES.get(setting.text or "")
    versions = set()
    for host in view.job.hosts:
        for interface in host.interfaces:
            for address in interface.addresses or ():
                ip = ip_address(address.ip)
                if ip is not None and not (ip.is_loopback or ip.is_link_local):
                    versions.add(ip.version)
                    view.note(interface)
    return wanted is not None and bool(versions) and wanted not in versions


def _is_local(choice: sockets.Choice) -> bool:
    address = ip_address(choice.interfaces[0].address or "") if choice.interfaces else None
    return address is not None and (address.is_link_local or address.is_loopback)


_LISTS = ("NCCL_SOCKET_IFNAME", "NCCL_IB_HCA", "NCCL_OOB_NET_IFNAME")


@derived_for(*_LISTS)
def has_stray_mark(setting: Setting, view: View) -> bool:
    """Does a list contain a ``^`` or ``=`` after its beginning, where it is part of a name?

    The marks are read once, before the list is split at its commas (ncclFindInterfaces and ncclIbInitDevices).
    """
    return bool(stray_mark(setting, view))


@derived
def stray_mark(setting: Setting, view: View) -> str:
    """The mark after the beginning of a list, ``^`` or ``=``; empty without one."""
    text = setting.text or ""
    if "^" in text[1:]:
        return "^"
    return "=" if any(name.lstrip().startswith("=") for name in text.split(",")[1:]) else ""


@derived
def as_one_list(setting: Setting, view: View) -> str | None:
    """The list that was probably intended: the marks of its beginning for all, else the names that are not excluded."""
    text = setting.text or ""
    first = text[: len(text) - len(text.lstrip("^="))]
    marks = ("^" if "^" in first else "") + ("=" if "=" in first else "")
    names = [name.strip() for name in text.split(",")]
    kept = names if "^" in first else [name for name in names if "^" not in name]
    bare = ",".join(filter(None, (name.lstrip("^=") for name in kept)))
    return marks + bare if bare else None


@derived
def unmeant_interfaces(host: Host, view: View) -> tuple[str, ...] | None:
    """Interfaces in other networks that NCCL_SOCKET_IFNAME allows only because a given name is their prefix.

    An interface with exactly the given name exists. None when the interfaces were not seen.
    """
    held = list_of(host, "NCCL_SOCKET_IFNAME", view)
    if held is None:
        known = view.setting(host, "NCCL_SOCKET_IFNAME")
        return () if known is not None and known.is_set is False else None
    setting, wanted = held
    if wanted.exclude or wanted.exact:
        return ()
    whole, taken = _taken(host, wanted, view)
    meant = {item.name for item in wanted.items} & {i.name for i in taken}
    networks = [network for i in taken if i.name in meant for network in _networks(i)]
    extra = [i for i in taken if i.name not in meant and i.name.startswith(tuple(meant)) and not _is_in(i, networks)]
    if extra:
        view.note(setting)
        for interface in extra:
            view.note(interface)
        return tuple(i.name for i in extra)
    return () if whole else None


def _taken(host: Host, wanted: NameList, view: View) -> tuple[bool, list[Interface]]:
    """The interfaces that NET/Socket uses, from its line or as predicted, and whether the list is complete."""
    for rank in ranks_of(host, view):
        if rank.socket_interfaces:
            return True, list(rank.socket_interfaces)
    if not is_closed(host, "interfaces"):
        return False, [i for i in host.interfaces if i.addresses and i.up is not False and wanted.admits(i.name)]
    names = of_like(host, view, "data interfaces", _may_carry_data)
    return True, [i for i in host.interfaces if i.name in names]


def _may_carry_data(host: Host, view: View) -> set[str]:
    choice = sockets.net_socket(host.interfaces, settings_of(host, view), view.version(host))
    return {*choice.names, *choice.possible}


def _networks(interface: Interface) -> list[tuple[int, int, int]]:
    """The IP version, network and number of host bits of each address, without link-local ones (fe80::)."""
    found: list[tuple[int, int, int]] = []
    for address in interface.addresses or ():
        ip = ip_address(address.ip)
        if ip is not None and not ip.is_link_local and address.prefix_len is not None:
            bits = max(0, ip.max_prefixlen - address.prefix_len)
            found.append((ip.version, int(ip) >> bits, bits))
    return found


def _is_in(interface: Interface, networks: list[tuple[int, int, int]]) -> bool:
    ips = [ip for a in interface.addresses or () if (ip := ip_address(a.ip)) is not None]
    return any(
        ip.version == version and int(ip) >> bits == network for ip in ips for version, network, bits in networks
    )


_BRIDGES = ("docker", "virbr")


@derived
def readmitted_interfaces(host: Host, view: View) -> tuple[str, ...] | None:
    """Interfaces that NCCL excludes by default and an exclude list in NCCL_SOCKET_IFNAME allows: lo, docker*, virbr*.

    A user's list replaces the default one (ncclFindInterfaces, src/misc/socket.cc). Every machine has lo. Empty if the
    list excludes all other interfaces with an address, since excluding these as well would leave none.
    """
    held = list_of(host, "NCCL_SOCKET_IFNAME", view)
    if held is None:
        return None
    setting, wanted = held
    if not wanted.exclude:
        return ()
    used = {r.bootstrap_interface.name for r in ranks_of(host, view) if r.bootstrap_interface is not None}
    present = [i for i in host.interfaces if i.up is not False and i.addresses]
    names = [i.name for i in present if i.name.startswith(_left_out(host, view))]
    if view.remembered(("emptied", setting.text), lambda: _is_emptied(setting, view)):
        return ()
    names = ["lo", *names] if not used or "lo" in used else names
    found = [name for name in names if wanted.admits(name)]
    if found:
        view.note(setting)
    return tuple(dict.fromkeys(found))


def _is_emptied(setting: Setting, view: View) -> bool:
    """Does this list exclude all usual interfaces of some host? Hosts whose interfaces are not shown count as alike."""
    held = ((host, list_of(host, "NCCL_SOCKET_IFNAME", view)) for host in view.job.hosts)
    return any(found and found[0].text == setting.text and _leaves_nothing(host, found[1]) for host, found in held)


def _leaves_nothing(host: Host, wanted: NameList) -> bool:
    """Does the list exclude every interface that has an address and that NCCL does not exclude by default?"""
    present = [i.name for i in host.interfaces if i.up is not False and i.addresses]
    others = [name for name in present if name != "lo" and not name.startswith(_BRIDGES)]
    return bool(others) and not any(wanted.admits(name) for name in others)


def _left_out(host: Host, view: View) -> tuple[str, ...]:
    version = view.version(host)
    newer = version is not None and version.low >= versions.RUNNING_ONLY
    return _BRIDGES if newer else _BRIDGES[:1]


@derived
def complete_exclude_list(host: Host, view: View) -> str | None:
    """The user's exclude list, with the default exclusions added."""
    held, more = list_of(host, "NCCL_SOCKET_IFNAME", view), readmitted_interfaces(host, view)
    if held is None or not more or held[1].exact:
        return None
    stems = ["docker" if name.startswith("docker") else "virbr" if name.startswith("virbr") else name for name in more]
    return ",".join(dict.fromkeys([held[0].text or "", *stems]))
