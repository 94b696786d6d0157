"""What NCCL before 2.4 prints about its networks, a line for each interface or device.

Source: NVIDIA/nccl v2.3.5-5 and v2.3.7-1, src/transport/net_ib.cu, net_socket.cu. 2.2 has the same wording; its source
was never public. The functions give the values of a `ncdiag.parsers.nccl_log.reading.Reading`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ncdiag.base.patterns import lazy_regex
from ncdiag.parsers.nccl_log.lists import devices, interfaces

RELEASES = "<2.4"
COUNT = "socket_interface_count"
"""The name under which a record keeps how many interfaces there are: a list of fewer was cut."""
_AT_DISTANCE = lazy_regex(r"[^\s()/]{1,64}(?:/\d{1,3})?\((PIX|PXB|PHB|SOC|SYS|NODE)\)")

Values = dict[str, Any]
Form = tuple[str, str, Callable[[re.Match[str]], Values]]


def _interface(found: re.Match[str]) -> Values:
    return {"lists": {"socket_interfaces": interfaces(found["what"])}}


def _count(found: re.Match[str]) -> Values:
    count = int(found["count"])
    return {"fields": {COUNT: count}, "net": (1, "Socket") if count else None}


def _sideband(found: re.Match[str]) -> Values:
    item = {"name": found["what"].split(":", 1)[0]}
    return {"fields": {"oob_interface": item, "bootstrap_interface": item}, "net": (2, "IB")}


def _device(found: re.Match[str]) -> Values:
    return {"lists": {"net_devices": devices(found["what"])}, "net": (2, "IB")}


def _distances(found: re.Match[str]) -> Values:
    words = _AT_DISTANCE.findall(found["listed"])
    name = "IB" if found["what"] == "IB Ports" else "Socket"
    return {"fields": {"nic_distances": words} if words else {}, "net": (3, name)}


FORMS: tuple[Form, ...] = (
    ("NET", r"NET/Socket : (?P<count>\d{1,5}) interfaces found", _count),
    ("NET", r"NET : Using interface (?P<what>.*)", _interface),
    ("NET", r"NET/IB ?: Using interface (?P<what>\S+) for sideband", _sideband),
    ("NET", r"NET/IB ?: (?P<what>\[\d{1,3}\] [\w.+-]{1,64}:\d{1,3}/(?:IB|RoCE)) *$", _device),
    ("CUD", r"CUDA Dev \d{1,4}, (?P<what>IB Ports|IP Interfaces) : (?P<listed>.*)", _distances),
)
"""How a message begins, its form, and what that tells."""
