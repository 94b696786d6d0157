"""Interfaces whose speed the kernel does not tell, so that NCCL counts with 10 Gbit/s, and what they carry in truth.

NCCL reads /sys/class/net/<interface>/speed and takes 10,000 Mbit/s where that is no positive number
(src/transport/net_socket.cc, ncclNetSocketGetSpeed); its log says so with the subsystem NET.
"""

from __future__ import annotations

from ncdiag.facts.model import Host, Interface
from ncdiag.facts.view import View, derived

_ASSUMED_MBPS = 10_000
_MORE = 1.2
"""A speed that is only measured has to be so many times what NCCL assumes."""


@derived
def is_speed_assumed(interface: Interface, view: View) -> bool | None:
    """Does NCCL count with 10 Gbit/s because the kernel does not tell the speed? None where nothing says so."""
    for event in view.events_on(interface.host, ["interface-speed-unknown"]):
        path = str(event.fields.get("sysfs_path") or "")
        if interface.name in {event.fields.get("interface"), path.removesuffix("/speed").rpartition("/")[2]}:
            view.note(event)
            return True
    if interface.speed_untold:
        view.note(interface, "speed_untold")
        return True
    return False if interface.speed_mbps else None


@derived
def real_mbps(interface: Interface, view: View) -> int | None:
    """Mbit/s that are known otherwise: of its members, of what it stands on, of its RDMA port, or from iperf3."""
    host = view.host(interface.host)
    if host is None:
        return None
    below = _below(interface, host)
    if below:
        return below
    own = {address.ip for address in interface.addresses or ()}
    tests = [test for test in view.job.link_tests if test.gbps and test.local_ip in own]
    best = max(tests, key=lambda test: test.gbps or 0, default=None)
    if best is None or (best.gbps or 0) * 1000 < _MORE * _ASSUMED_MBPS:
        return None
    view.note(best, "gbps")
    return round((best.gbps or 0) * 1000)


def _below(interface: Interface, host: Host) -> int | None:
    """What a bond's members carry together, a VLAN's parent, or the RDMA port on the same wire."""
    speeds = {other.name: other.speed_mbps or 0 for other in host.interfaces}
    if interface.slaves:
        return sum(speeds.get(name, 0) for name in interface.slaves) or None
    if interface.parent and speeds.get(interface.parent):
        return speeds[interface.parent]
    ports = [port for hca in host.hcas for port in hca.ports if port.netdev == interface.name and port.rate_gbps]
    return round((ports[0].rate_gbps or 0) * 1000) if ports else None
