"""The lists of interfaces and of RDMA devices in NCCL's messages about its networks."""

from __future__ import annotations

import contextlib
import ipaddress
from typing import Any

from ncdiag.base.patterns import lazy_regex

_ENTRY = lazy_regex(r"(?:\[(\d{1,4})\])?([^\s:\[\]<>]{1,32}):([^\s<>]{0,128})<(\d{0,5})>")
_DEVICE = lazy_regex(r"(?:\[(\d{1,4})\] ?)?=?([^\s:\[\]{}=,]{1,128}):(\d{1,3})(?::[\d:p-]*)?/(IB|RoCE)((?:/\w+)*)")
_MERGED = lazy_regex(r"\[(\d{1,4})\]=\{([^{}]{1,512})\}")


def interfaces(text: str) -> list[dict[str, Any]]:
    """``[0]eth0:10.0.0.1<0> [1]ib0:fe80::1%ib0<0>`` to interface facts; an address that is none is left out."""
    found = []
    for entry in _ENTRY.finditer(text):
        item: dict[str, Any] = {"name": entry[2]}
        ip = entry[3].split("%", 1)[0]
        with contextlib.suppress(ValueError):
            item["addresses"] = [{"ip": str(ipaddress.ip_address(ip))}]
        found.append(item)
    return found


def devices(text: str) -> list[dict[str, Any]]:
    """``[0]mlx5_0:1/RoCE [1]mlx5_1:1/IB/SHARP`` to device facts; ports merged into one (2.20 to 2.23) get a ``+``."""
    found: list[dict[str, Any]] = []
    for merged in _MERGED.finditer(text):
        ports = list(_DEVICE.finditer(merged[2]))
        if ports:
            name = "+".join(port[2] for port in ports)
            found.append({"index": int(merged[1]), "name": name, "port": int(ports[0][3]), "link_layer": ports[0][4]})
    for device in _DEVICE.finditer(_MERGED.sub(" ", text)):
        if device[1] is not None:
            item = {"index": int(device[1]), "name": device[2], "port": int(device[3]), "link_layer": device[4]}
            found.append(item | ({"sharp": True} if "/SHARP" in device[5] else {}))
    return sorted(found, key=lambda item: item["index"])
