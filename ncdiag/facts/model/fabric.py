"""The InfiniBand fabric between the hosts."""

from __future__ import annotations

from typing import Literal

import msgspec

from ncdiag.facts.model.base import Fact, PortState


class FabricLink(msgspec.Struct, frozen=True, omit_defaults=True):
    """A link of a fabric node: ``width`` in lanes, ``speed`` the word for a lane (``HDR``).

    ``peer`` is the GUID of the other end; ``could_be`` says what the link could do more, as iblinkinfo prints it.
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


class FabricNode(msgspec.Struct, frozen=True, omit_defaults=True):
    """A switch or channel adapter: ``guid`` as in its id, 16 hexadecimal digits; ``name`` is the node description.

    iblinkinfo tells the GUID of an adapter's port instead.
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
    """A subnet as ibnetdiscover or iblinkinfo saw it; the first of them lists no links without a peer."""

    nodes: tuple[FabricNode, ...] = ()
