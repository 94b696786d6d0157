"""What packet filters have in common: the networks that they name, and the ports that NCCL may listen on."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from ncdiag.base.patterns import lazy_regex

ALL_IPV4 = "0.0.0.0/0"
_EPHEMERAL = (32_768, 60_999)
"""The local ports of Linux unless set otherwise (Documentation/networking/ip-sysctl.rst)."""


_CIDR = lazy_regex(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}/(?:[89]|[12]\d|3[01])(?!\d)")


def networks(lines: Iterable[str]) -> list[str] | None:
    """The IPv4 networks that rules name, each once; None if they name none."""
    found = (network(text) for line in lines for text in _CIDR.findall(line))
    return list(dict.fromkeys(each for each in found if each)) or None


def network(text: str) -> str | None:
    """``10.0.0.0/8`` of that or of one address in it; None for anything else."""
    try:
        return str(ipaddress.ip_network(text, strict=False))
    except ValueError:
        return None


def holds_ephemeral(ports: str) -> bool:
    """True if ``1024-65535`` (or ``1024:65535``) holds all ports that the kernel hands out by default."""
    low, _, high = ports.replace(":", "-").partition("-")
    if not (low.isascii() and low.isdecimal() and high.isascii() and high.isdecimal()) or len(low + high) > 10:  # noqa: PLR2004
        return False
    return int(low) <= _EPHEMERAL[0] and int(high) >= _EPHEMERAL[1]
