"""What all facts share, and the words that their fields use."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import msgspec

from ncdiag.base.spans import Span

HostName = Annotated[str, msgspec.Meta(extra={"ref": "Host"})]
"""The name of a host; a path of the condition language that goes on behind it (``rank.host.gpus``) follows it."""

InterfaceKind = Literal[
    "physical", "bond", "vlan", "bridge", "veth", "tunnel", "ipoib", "loopback", "virtual", "wireless"
]
PortState = Literal["down", "init", "armed", "active", "active_defer", "nop"]
LinkLayer = Literal["InfiniBand", "Ethernet"]
GidType = Literal["IB", "RoCE v1", "RoCE v2"]
Origin = Literal["process", "log echo", "live", "shell", "conf file", "launcher", "manifest"]
Level = Literal["WARN", "ATTN", "INFO", "TRACE", "DIAG", "CALL", "ABORT", "ERROR"]

Key = tuple[str | tuple[str, ...], ...]
"""Names of fields; a tuple among them means one of these fields, whichever takes the value."""


class Fact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):  # facts form a tree
    """Base of all facts: ``provenance`` maps a field to the span it was read from (``""``: the entity as a whole).

    A type belongs to the one that has a collection of it (``Hca.ports``). Its class says what merging has to know, and
    its fields the rest (`ncdiag.facts.model.marks`).

    ``KEY``: the fields that tell one entity from others of its host, or of the job; None: each reading is a fact of its
    own. It begins with the key of the owner, under whatever names. ``HOST``: where an observation that names no host
    belongs. ``said``: to no host; ``only``: to the only host there is; ``some``: to that or else to one without a name,
    as everything whose ``host`` is required does. ``SHOWS_A_RUN``: where it is, something ran on some host.
    """

    KEY: ClassVar[Key | None] = None
    HOST: ClassVar[Literal["said", "only", "some"]] = "said"
    SHOWS_A_RUN: ClassVar[bool] = False

    provenance: dict[str, Span] = {}
