"""The InfiniBand fabric between the hosts."""

from __future__ import annotations

from typing import Literal

import msgspec

from ncdiag.facts.model.base import Fact, PortState


class FabricLink(msgspec.Struct, frozen=True, omit_defaults=True):
    """A link of a fabric node: ``width`` in lanes, ``speed`` the name of the rate of a lane (``HDR``).

    ``peer`` is the GUID of the node at the other end. ``could_be`` is the better width or speed that both ends support,
    as iblinkinfo prints it, ``errors`` the counters that are above a threshold, under the names of ibqueryerrors.
    """

    port: int
    peer: str | None = None
    peer_port: int | None = None
    peer_name: str | None = None
    peer_lid: int | None = None
    width: int | None = None
    speed: str | None = None
    state: PortState | None = None
    physical_state: str | None = None
    could_be: str | None = None
    errors: dict[str, int] | None = None


class FabricNode(msgspec.Struct, frozen=True, omit_defaults=True):
    """A switch, router or channel adapter: ``guid`` in 16 hexadecimal digits, ``name`` is the node description.

    For an adapter iblinkinfo prints the GUID of a port in place of that of the node.
    """

    kind: Literal["switch", "ca", "router"]
    guid: str
    name: str | None = None
    nports: int | None = None
    lid: int | None = None
    vendor_id: str | None = None
    device_id: str | None = None
    links: tuple[FabricLink, ...] = ()


class Fabric(Fact, frozen=True, kw_only=True):
    """A subnet as ibnetdiscover, iblinkinfo or ibqueryerrors reports it; the first lists no links without a peer."""

    nodes: tuple[FabricNode, ...] = ()
