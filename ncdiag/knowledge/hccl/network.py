"""The host network that HCCL uses for its set-up: the interface that it chooses, ports, packet filters, TLS."""

from __future__ import annotations

from typing import Literal

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Interface, Job, Setting
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View
from ncdiag.facts.vocabulary.interfaces import is_loopback, is_virtual

_BASE_PORT, _PORTS = 60_000, 16
_FILTERS = frozenset({"firewalld", "ufw"})
_WAITS = frozenset({"hccl-socket-timeout", "hccl-ranks-missing"})


@derived
def runs_hccl(job: Job, view: View) -> bool | None:
    """Does the job use HCCL: by messages, variables, or a rank table?

    False if NCCL's ranks or GPUs appear, else None.
    """
    told = any(name.startswith("hccl-") for name in view.event_names()) or bool(job.rank_tables)
    if told or any(setting.name.startswith("HCCL_") for setting in job.settings):
        return True
    return False if job.ranks or any(host.gpus or host.nccl_version for host in job.hosts) else None


@derived
def hccl_waits(job: Job, view: View) -> bool:
    """Did a rank time out waiting for a connection?"""
    found = next((event for event in job.events if event.event in _WAITS), None)
    if found is not None:
        view.note(found)
    return found is not None


@derived
def hccl_interface_fault(host: Host, view: View) -> Literal["", "address", "names", "first"] | None:
    """What makes HCCL choose no interface that leads to the other hosts; empty if it does, None when not known.

    HCCL_IF_IP takes precedence over HCCL_SOCKET_IFNAME; without both HCCL uses the first interface by name, Docker's
    and loopback last.
    """
    runs = runs_hccl(view.job, view)
    if not runs:
        return None if runs is None else ""
    address, names = (view.setting(host, name) for name in ("HCCL_IF_IP", "HCCL_SOCKET_IFNAME"))
    closed = is_closed(host, "interfaces")
    if address is not None and address.is_set and address.text:
        return _address_fault(host, address, view, closed=closed)
    if names is not None and names.is_set and names.text:
        return _names_fault(host, names, view, closed=closed)
    return _first_fault(host, view) if address is not None and names is not None and closed else None


def _first_fault(host: Host, view: View) -> Literal["", "first"]:
    """The fault of the choice without the variables, where a rank waits."""
    taken = _first(host) if hccl_waits(view.job, view) else None
    if taken is None or not is_virtual(taken, view):
        return ""
    view.note(taken)
    return "first"


def _address_fault(host: Host, setting: Setting, view: View, *, closed: bool) -> Literal["", "address"] | None:
    own = {a.ip for interface in host.interfaces for a in interface.addresses or ()}
    if ip_address(setting.text or "") is None or setting.text in own:
        return ""  # a text that is not an address is reported as a wrong value
    view.note(setting)
    return "address" if closed else None


def _names_fault(host: Host, setting: Setting, view: View, *, closed: bool) -> Literal["", "names"] | None:
    if any(_matches(interface.name, setting.text or "") for interface in _usable(host)):
        return ""
    view.note(setting)
    return "names" if closed else None


@derived
def hccl_interfaces(host: Host, view: View) -> str:
    """The interfaces that HCCL may use, without loopback, ``enp1s0, cni0``; ``none`` without any."""
    return ", ".join(interface.name for interface in _usable(host) if not is_loopback(interface, view)) or "none"


@derived
def hccl_first_interface(host: Host, view: View) -> str | None:
    """The interface that HCCL chooses without its variables; None where none was seen."""
    taken = _first(host)
    return taken.name if taken is not None else None


def _first(host: Host) -> Interface | None:
    return min(_usable(host), key=_order, default=None)


def _usable(host: Host) -> list[Interface]:
    return [interface for interface in host.interfaces if interface.addresses and interface.up is not False]


def _matches(name: str, text: str) -> bool:
    """Does the name match the list? ``eth,enp`` are prefixes, ``=eth0`` exact names; a leading ``^`` excludes."""
    excluded, exact = text.startswith("^"), text.removeprefix("^").startswith("=")
    items = [item.strip() for item in text.removeprefix("^").removeprefix("=").split(",") if item.strip()]
    return excluded != any(name == item if exact else name.startswith(item) for item in items)


def _order(interface: Interface) -> tuple[int, str]:
    """The sort key of an interface: by name, Docker's and loopback last."""
    return 2 if interface.name == "lo" else 1 if interface.name.startswith("docker") else 0, interface.name


@derived
def filters_packets(host: Host, view: View) -> bool | None:
    """Is a packet filter active: by its rules where they are shown, else by its service?"""
    if host.input_policy is not None or host.input_drops is not None:
        view.note(host, "input_policy" if host.input_policy is not None else "input_drops")
        return host.input_policy == "drop" or bool(host.input_drops)
    known = [service for service in host.services if service.name in _FILTERS and service.active is not None]
    active = next((service for service in known if service.active), None)
    if active is not None:
        view.note(active)
    return active is not None if known else None


@derived
def hccl_ports(job: Job, view: View) -> str:
    """The TCP ports of the host on which HCCL's set-up listens: ``60000-60015`` unless variables change them."""
    ports, base = (view.setting(job, name) for name in ("HCCL_HOST_SOCKET_PORT_RANGE", "HCCL_IF_BASE_PORT"))
    if ports is not None and ports.is_set and ports.text and ports.text[0].isdigit():
        return ports.text
    text = (base.text if base is not None and base.is_set else None) or ""
    first = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else _BASE_PORT  # noqa: PLR2004
    return f"{first}-{first + _PORTS - 1}"


@derived
def npu_tls_differs(job: Job, view: View) -> bool | None:
    """Is TLS on for some NPUs and off for others? None when it was seen for fewer than two."""
    seen = [npu for host in job.hosts for npu in host.npus if npu.tls is not None]
    for switch in (True, False):
        for npu in [npu for npu in seen if npu.tls is switch][:1]:
            view.note(npu, "tls")
    return len({npu.tls for npu in seen}) > 1 if len(seen) > 1 else None
