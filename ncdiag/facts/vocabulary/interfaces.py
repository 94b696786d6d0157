"""The kind of a network interface, from tool output or else from its name, and whether it leads to other hosts."""

from __future__ import annotations

from ncdiag.base.patterns import lazy_regex
from ncdiag.facts.derived import derived
from ncdiag.facts.model import Interface, InterfaceKind
from ncdiag.facts.model.declared import is_closed
from ncdiag.facts.scalars import ip_address
from ncdiag.facts.view import View

_NAMES: tuple[tuple[str, InterfaceKind], ...] = (
    (r"lo(?::\d+)?$", "loopback"),
    (r"veth|cali[0-9a-f]|lxc[0-9a-f]{5}|lxc_health$|azv[0-9a-f]|eni[0-9a-f]{11}$|pod-id-link|nsx-|ve-", "veth"),
    (r"docker|br-[0-9a-f]{12}$|virbr|cni|podman\d|lxcbr|lxdbr|cbr\d|weave$|nerdctl\d|kind$|incusbr", "bridge"),
    (r"br\d|br-|vmbr|ovs|xenbr", "bridge"),
    (
        r"flannel|vxlan|tunl\d|tun\d|tap|wg|tailscale|utun|ppp\d|gre|sit\d|ip6tnl|ip6gre|ip_vti|ip6_vti|erspan|genev",
        "tunnel",
    ),
    (r"cilium_vxlan|cilium_geneve|zt[0-9a-z]{8}|nebula|ipip|cloudbr|vpn", "tunnel"),
    (r"cilium|kube-|nodelocaldns|dummy|ifb\d|antrea|ovn-|genev_sys|vnet\d|macvtap|vrf", "virtual"),
    (r"wl[anpsox]|wlan", "wireless"),
    (r".*\.\d{1,4}$|vlan\d", "vlan"),
    (r"bond|team", "bond"),
    (r"ib\d|ibp|ibs|ibo|ibP", "ipoib"),
    (r"en[opsxP]|eth\d|em\d|p\d{1,3}p\d|hsn\d|rdma\d|ens|slow\d|cuse", "physical"),
)
_KINDS = tuple((lazy_regex(pattern), kind) for pattern, kind in _NAMES)
_OWN_BRIDGES = lazy_regex(_NAMES[2][0])
_OF_PODS = lazy_regex(r"net\d{1,2}$")
"""The names that Multus gives additional interfaces of a pod."""
_ELSEWHERE = lazy_regex(r"if\d+$")
_WIRED = frozenset({"physical", "bond", "vlan", "ipoib"})


@derived
def likely_kind(interface: Interface, view: View) -> InterfaceKind | None:
    """The kind that a tool reported, else the kind that the name suggests by convention; None for other names."""
    if interface.kind is not None:
        return interface.kind
    kind = _by_name(interface)
    if kind == "physical" and interface.parent and _ELSEWHERE.match(interface.parent):
        return None  # its lower device is in another namespace: a veth or macvlan with a NIC's name
    return kind


def _by_name(interface: Interface) -> InterfaceKind | None:
    return next((kind for pattern, kind in _KINDS if pattern.match(interface.name)), None)


@derived
def is_virtual(interface: Interface, view: View) -> bool | None:
    """Does the interface exist only inside this host? None for a bridge that may carry the host's own address.

    A veth or macvlan with a NIC's name (``eth0``, ``net1``) is the pod's end of its connection to the outside.
    """
    kind = likely_kind(interface, view)
    if kind == "bridge":
        return True if is_own_bridge(interface, view) else None
    if kind in {"veth", "virtual"} and (_by_name(interface) in _WIRED or _OF_PODS.match(interface.name)):
        return False
    return None if kind is None else kind in {"veth", "tunnel", "virtual"}


@derived
def is_own_bridge(interface: Interface, view: View) -> bool:
    """Is it the bridge of containers or virtual machines on this host, such as docker0 or cni0?

    It is on the host itself, never in a pod, so it leads to no other host even if it is the only interface.
    """
    if likely_kind(interface, view) != "bridge":
        return False
    return _OWN_BRIDGES.match(interface.name) is not None or _joins_nothing(interface, view)


def _joins_nothing(bridge: Interface, view: View) -> bool:
    """On a host whose interfaces were all seen: has this bridge no port that could lead out of the host?"""
    host = view.host(bridge.host)
    if host is None or not host.looked_at or not is_closed(host, "interfaces"):
        return False
    ports = (other for other in host.interfaces if other.master == bridge.name)
    return not any(_by_name(port) in _WIRED or likely_kind(port, view) in _WIRED for port in ports)


@derived
def leads_out(interface: Interface, view: View) -> bool | None:
    """Does the interface lead out of its host: a NIC or an interface on one.

    In a pod without NICs, a veth or macvlan?
    """
    kind = likely_kind(interface, view)
    if kind in _WIRED:
        return True
    if kind not in {"veth", "virtual"}:
        return None if kind is None else False
    host = view.host(interface.host)
    if host is None or not is_closed(host, "interfaces"):
        return None
    return not any(likely_kind(other, view) in _WIRED for other in host.interfaces)


@derived
def is_loopback(interface: Interface, view: View) -> bool | None:
    """Is this the loopback interface, by kind or by an address of the loopback network? None if not known."""
    kind = likely_kind(interface, view)
    if kind is not None:
        return bool(kind == "loopback")
    address = ip_address(ip(interface, view) or "")
    return None if address is None else address.is_loopback


@derived
def ip(interface: Interface, view: View) -> str | None:
    """The address that NCCL would use: the first IPv4 one, else the first IPv6 one (src/misc/socket.cc)."""
    found = [(ip_address(a.ip), a.ip) for a in interface.addresses or ()]
    for version in (4, 6):
        for address, text in found:
            if address is not None and address.version == version:
                return text
    return None


@derived
def is_link_local(interface: Interface, view: View) -> bool | None:
    """Is the address that NCCL would use link-local (169.254.0.0/16, fe80::/10)? None without an address."""
    address = ip_address(ip(interface, view) or "")
    return None if address is None else address.is_link_local


DEAD_STATES = frozenset({"down", "lowerlayerdown", "notpresent"})


@derived
def is_dead(interface: Interface, view: View) -> bool | None:
    """Does the interface have no link: is it down, or without a carrier?"""
    if interface.operstate in DEAD_STATES:
        return True
    if interface.up is False or interface.running is False:
        return True
    return None if interface.operstate is None and interface.running is None else False
