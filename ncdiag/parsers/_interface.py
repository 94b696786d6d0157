"""An interface while its lines are read, whatever tool printed them, and the observation that it ends in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts import scalars
from ncdiag.facts.observe import Observation, observe

KINDS = {
    "bond": "bond", "team": "bond", "vlan": "vlan", "macvlan": "vlan", "ipvlan": "vlan", "bridge": "bridge",
    "openvswitch": "bridge", "veth": "veth", "netkit": "veth", "ipoib": "ipoib", "vxlan": "tunnel", "geneve": "tunnel",
    "gre": "tunnel", "gretap": "tunnel", "ip6gre": "tunnel", "ip6gretap": "tunnel", "ipip": "tunnel", "sit": "tunnel",
    "ip6tnl": "tunnel", "vti": "tunnel", "vti6": "tunnel", "xfrm": "tunnel", "tun": "tunnel", "wireguard": "tunnel",
    "dummy": "virtual", "ifb": "virtual", "vrf": "virtual", "nlmon": "virtual", "macvtap": "virtual",
}  # fmt: skip
"""IFLA_INFO_KIND, which ``ip -d`` prints, to our kinds. A macvlan or ipvlan is on its parent's network as a vlan is."""

LINK_TYPES = {
    "loopback": "loopback", "infiniband": "ipoib", "none": "tunnel", "[65534]": "tunnel", "ipip": "tunnel",
    "tunnel": "tunnel", "tunnel6": "tunnel", "sit": "tunnel", "gre": "tunnel", "gre6": "tunnel", "ppp": "tunnel",
    "ieee802.11": "wireless",
}  # fmt: skip
"""The hardware types of ``link/...`` (iproute2 lib/ll_types.c) that tell the kind; ``ether`` tells nothing."""

HARDWARE_BUSES = frozenset({"pci", "usb", "virtio", "vmbus", "platform", "xen", "auxiliary"})


@dataclass
class Draft:
    """``addresses`` None: the tool does not show any; ``masked``: one was unreadable, so the list is not all."""

    line: int
    name: str
    fields: dict[str, Any] = field(default_factory=dict)
    addresses: list[dict[str, Any]] | None = None
    masked: bool = False
    body: int = 0

    def set(self, name: str, value: object) -> None:
        """Keep the first value that is not None."""
        if value is not None:
            self.fields.setdefault(name, value)

    def flags(self, flags: Iterable[str], carrier: str) -> None:
        """What the interface flags tell; ``carrier`` is the tool's name of the flag that means a live link."""
        flags = set(flags)
        self.set("up", "UP" in flags)
        self.set("running", carrier in flags)
        if "LOOPBACK" in flags:
            self.set("kind", "loopback")
        self.set("_master", True if "MASTER" in flags else None)
        self.set("_slave", True if "SLAVE" in flags else None)

    def address(self, ip: str, prefix_len: int | None, peer: str | None = None) -> None:
        """Add an address; a zone is cut off, one that is none (masked by hand) makes the list incomplete."""
        parsed = scalars.ip_address(ip)
        if parsed is None:
            self.masked = True
            return
        entry: dict[str, Any] = {"ip": str(parsed)}
        if prefix_len is not None:
            entry["prefix_len"] = prefix_len
        if peer is not None and scalars.ip_address(peer) is not None:
            entry["peer"] = peer
        self.addresses = self.addresses or []
        if entry not in self.addresses:
            self.addresses.append(entry)


def observations(section: Section, drafts: Iterable[Draft], *, addresses_shown: bool) -> list[Observation]:
    """An observation an interface, in print order. No address line means no address, where the tool shows addresses."""
    drafts = list(drafts)
    parents = {draft.name: draft.fields.get("parent") for draft in drafts}
    found = []
    for draft in drafts:
        addresses = draft.addresses
        if addresses is None and addresses_shown and not draft.masked:
            addresses = []
        fields = {name: value for name, value in draft.fields.items() if not name.startswith("_")}
        fields.setdefault("kind", _kind(draft, parents))
        fields.setdefault("master", _master(draft, drafts))
        found.append(observe(section, draft.line, "Interface", (draft.name,), addresses=addresses, **fields))
    return found


def _kind(draft: Draft, parents: dict[str, str | None]) -> str | None:
    """What the name with its parent or the flags tell: only the two ends of a veth pair name each other as parent."""
    name, parent = draft.name, draft.fields.get("parent")
    if parent is not None:
        if name.startswith("veth") or parents.get(parent) == name:
            return "veth"
        if name.startswith((f"{parent}.", "vlan")):
            return "vlan"
    return "bond" if draft.fields.get("_master") else None


def _master(draft: Draft, drafts: Iterable[Draft]) -> str | None:
    """The bond of a member whose line does not name it (``ip -br link``, ``ifconfig``): by the MAC, or the only one.

    The kernel gives the members of a bond its MAC address, unless fail_over_mac says otherwise (bonding.rst).
    """
    if not draft.fields.get("_slave"):
        return None
    bonds = [other for other in drafts if other.fields.get("_master") and _may_be_of(draft, other)]
    alike = [bond for bond in bonds if bond.fields.get("mac") and bond.fields["mac"] == draft.fields.get("mac")]
    return next((found[0].name for found in (alike, bonds) if len(found) == 1), None)


def _may_be_of(member: Draft, bond: Draft) -> bool:
    """Are their addresses of one kind? Ports of IPoIB, with longer addresses, are not members of an Ethernet bond."""
    macs = [str(draft.fields.get("mac") or "") for draft in (member, bond)]
    return not all(macs) or len(macs[0]) == len(macs[1])


def prefix_length(mask: str) -> int | None:
    """Bits of a netmask written ``255.255.0.0`` or ``0xffff0000``; None when it is none."""
    try:
        value = int(mask, 16) if mask.startswith("0x") else int(scalars.ip_address(mask) or 0)
    except ValueError:
        return None
    bits = value.bit_count()
    return bits if value == ((1 << bits) - 1) << (32 - bits) else None
