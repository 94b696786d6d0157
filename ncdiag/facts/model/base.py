"""The base class of all facts, and the value types that several facts share."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec

from ncdiag.base.spans import Span

HostName = Annotated[str, msgspec.Meta(extra={"ref": "Host"})]
"""The name of a host.

In the condition language a path may continue after it: ``rank.host.gpus`` follows it to that `Host`.
"""

InterfaceKind = Literal[
    "physical", "bond", "vlan", "bridge", "veth", "tunnel", "ipoib", "loopback", "virtual", "wireless"
]
PortState = Literal["down", "init", "armed", "active", "active_defer", "nop"]
LinkLayer = Literal["InfiniBand", "Ethernet"]
GidType = Literal["IB", "RoCE v1", "RoCE v2"]
Origin = Literal["process", "log echo", "live", "shell", "conf file", "launcher", "manifest"]
Level = Literal["WARN", "ATTN", "INFO", "TRACE", "DIAG", "CALL", "ABORT", "ERROR"]

Key = tuple[str | tuple[str, ...], ...]
"""Names of the fields that identify an entity.

A nested tuple lists alternatives: the first field that fits the value.
"""


class Fact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):  # facts form a tree
    """Base of all facts; ``provenance`` maps a field to the span it was read from (``""``: the entity as a whole).

    A type of facts belongs to the type that has a collection of it (``Hca.ports``: `Port` belongs to `Hca`). The class
    variables below say how observations of it are merged; marks on the fields say the rest
    (`ncdiag.facts.model.marks`).

    ``KEY`` names the fields that distinguish an entity from others of the same host, or of the job. It begins with the
    key of the owner, whose fields may have other names. None means that each reading is a separate fact.

    ``HOST`` says where an observation without a host name belongs: ``said``: to no host; ``only``: to the only host, if
    there is exactly one; ``some``: to the only host, else to an unnamed host. A type whose ``host`` is a required field
    has ``some``.

    ``SHOWS_A_RUN`` is True for facts whose presence shows that something ran on some host.
    """

    KEY: ClassVar[Key | None] = None
    HOST: ClassVar[Literal["said", "only", "some"]] = "said"
    SHOWS_A_RUN: ClassVar[bool] = False

    provenance: dict[str, Span] = {}
