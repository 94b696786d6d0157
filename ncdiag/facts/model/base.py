"""What all facts share, and the words that their fields use."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from ncdiag.spans import Span

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


class Fact(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):  # facts form a tree
    """Base of all facts: ``provenance`` maps a field to the span it was read from (``""``: the entity as a whole)."""

    provenance: dict[str, Span] = {}
