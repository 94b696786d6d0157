"""Interfaces, routes and RDMA devices of a host."""

from __future__ import annotations

from typing import Annotated

import msgspec

from ncdiag.facts.model.base import Fact, GidType, HostName, InterfaceKind, LinkLayer, PortState
from ncdiag.facts.model.marks import BY_NAME, FACE, LATEST, UNION, closed_if, closed_if_seen


class Address(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """An IP address of an interface; ``prefix_len`` in bits, ``peer`` for point-to-point links."""

    ip: str
    prefix_len: int | None = None
    peer: str | None = None


class Interface(Fact, frozen=True, kw_only=True):
    """A network interface of the kernel; ``mtu`` in bytes, ``speed_mbps`` in Mbit/s.

    ``running`` is IFF_RUNNING (carrier), ``operstate`` is in lower case, as in /sys. ``parent`` is the name that ``ip``
    prints after the ``@``: the lower device, the peer of a veth, or ``if<index>`` where that is in another namespace.
    ``trust``, ``pfc`` (priorities with flow control) and ``dcbx`` are the settings of a RoCE interface for lossless
    traffic, as mlnx_qos prints them. ``counters`` are those of the driver (``ethtool -S``). ``virtual_function``: is it
    on a virtual PCI function (SR-IOV)? ``speed_untold``: the interface is up, and the kernel reports its speed as
    unknown. ``lacp_partner``: the MAC address of the switch that answers the LACP messages of a bond; zeros: none does.
    """

    KEY = ("name",)

    host: HostName
    name: str
    kind: InterfaceKind | None = None
    up: bool | None = None
    running: bool | None = None
    operstate: Annotated[str | None, LATEST] = None
    mtu: int | None = None
    speed_mbps: int | None = None
    speed_untold: bool | None = None
    mac: Annotated[str | None, FACE] = None
    addresses: Annotated[tuple[Address, ...] | None, UNION, FACE] = None
    master: str | None = None
    slaves: Annotated[tuple[str, ...] | None, UNION] = None
    hca: str | None = None
    ifindex: int | None = None
    parent: str | None = None
    bond_mode: str | None = None
    lacp_partner: Annotated[str | None, LATEST, FACE] = None
    trust: str | None = None
    pfc: tuple[int, ...] | None = None
    dcbx: str | None = None
    dscp_default: bool | None = None
    duplex: str | None = None
    driver: str | None = None
    firmware: str | None = None
    bus_id: str | None = None
    counters: Annotated[dict[str, int] | None, BY_NAME] = None
    virtual_function: bool | None = None


class Route(Fact, frozen=True, kw_only=True):
    """A route of the main table; ``destination`` is a CIDR text or ``default``.

    ``refuses`` is True for routes to which the kernel sends nothing (``blackhole``, ``unreachable``, ``prohibit``).
    """

    KEY = ("destination", "interface")

    host: HostName
    destination: str
    interface: str | None = None
    gateway: str | None = None
    metric: int | None = None
    refuses: bool | None = None


class RouteAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The route that the kernel chooses for ``address`` (``ip route get``).

    ``interface`` is None where the kernel has no route, or one that refuses.
    """

    address: str
    interface: str | None = None
    gateway: str | None = None


class Gid(Fact, frozen=True, kw_only=True):
    """An entry of a port's GID table; ``ip`` is the IPv4 address of a mapped GID, ``type`` is None where unreadable."""

    KEY = ("hca", "port", "index")

    host: HostName
    hca: str
    port: int
    index: int
    address: Annotated[str | None, FACE] = None
    type: GidType | None = None
    ip: Annotated[str | None, FACE] = None
    netdev: str | None = None


class Port(Fact, frozen=True, kw_only=True):
    """A port of an RDMA device; ``rate_gbps`` in Gbit/s, ``active_mtu`` in bytes, ``lid`` 0 means that it has none.

    ``physical_state`` is as ibstat prints it (``LinkUp``, ``Polling``, ``Disabled``). ``rate_text``, ``active_width``
    and ``active_speed`` (per lane) are as printed. ``counter_deltas`` are the increments of the counters during
    ``sampled_seconds``. ``link_advice`` is the recommendation of mlxlink, empty where it finds no fault. ``pkeys`` is
    the table of partition keys by index up to the last entry that is set (``0xffff``: full member of the default
    partition, ``0x0000``: an empty entry). ``traffic_class`` is the class that the driver forces on all traffic of the
    port, whatever programs request.
    """

    KEY = ("hca", "number")

    host: HostName
    hca: str
    number: int
    state: Annotated[PortState | None, LATEST] = None
    physical_state: str | None = None
    link_layer: LinkLayer | None = None
    rate_gbps: float | None = None
    rate_text: str | None = None
    active_width: str | None = None
    active_speed: str | None = None
    lid: Annotated[int | None, FACE] = None
    sm_lid: int | None = None
    active_mtu: int | None = None
    max_mtu: int | None = None
    netdev: str | None = None
    gids: Annotated[tuple[Gid, ...], closed_if("gids_complete", "show_gids", "ibv_devinfo")] = ()
    gids_complete: bool | None = None
    counters: Annotated[dict[str, int] | None, BY_NAME] = None
    counter_deltas: dict[str, int] | None = None
    sampled_seconds: float | None = None
    link_advice: str | None = None
    pkeys: tuple[str, ...] | None = None
    traffic_class: int | None = None


class Traffic(Fact, frozen=True, kw_only=True):
    """One reading of a traffic counter of a port or an interface; every reading is a separate fact.

    ``device`` is a port (``mlx5_0/1``, ``lid 17/1``) or an interface, ``counter`` the name that the tool prints.
    """

    host: HostName
    device: str
    counter: str
    value: int


class Hca(Fact, frozen=True, kw_only=True):
    """An RDMA device such as ``mlx5_0``.

    ``board`` is the CA type (``MT4129``), ``board_id`` the PSID, ``vendor_id`` the PCI vendor (``0x02c9``) and
    ``part_id`` the PCI device number, each as printed. ``resources`` counts the objects that programs hold now, by the
    names of ``rdma resource`` (``qp``, ``cq``, ``mr``). ``nports`` is the number of ports that the device reports,
    ``reads_per_qp`` the number of RDMA reads that one queue pair may have outstanding.
    """

    KEY = ("name",)

    host: HostName
    name: str
    ports: Annotated[tuple[Port, ...], closed_if_seen("ibstat", "ibstatus", "ibv_devinfo")] = ()
    bus_id: str | None = None
    firmware: str | None = None
    numa_node: int | None = None
    board: str | None = None
    board_id: str | None = None
    vendor_id: str | None = None
    part_id: str | None = None
    nports: int | None = None
    reads_per_qp: int | None = None
    node_guid: Annotated[str | None, FACE] = None
    resources: dict[str, int] | None = None
    driver: str | None = None
