"""Ports that carry nothing while others of their host do, by two readings of their counters."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ncdiag.facts.derived import derived
from ncdiag.facts.model import Host, Traffic
from ncdiag.facts.view import View

_LEAST = 1_000_000
"""What a port must carry between the readings to be in use: bytes, words or requests. Control traffic is far less."""
_STILL = 1e-4
"""A port is idle if it carried less than this share of what a busy port carried."""
_SHARE = 3
"""Without NCCL's own list of ports, this many must be busy for each idle one: half of the ports may be for storage."""


class _Idle(NamedTuple):
    """A port that carried nothing, the number of those that did, and whether NCCL lists it (None: unknown)."""

    port: str
    used: int
    listed: bool | None


@derived
def idle_ports(host: Host, view: View) -> str:
    """The RDMA ports that carried nothing between two readings in which others did, with what NCCL says of them.

    Left out are ports of another driver than the busy ones, those that somebody names as for storage or management, and
    those that NCCL does not list although its list has as many ports as are busy. Empty where no port is idle.
    """
    idle = _idle(host, view)
    if not idle:
        return ""
    ports = {one.port for one in idle}
    for reading in host.traffic:
        if reading.device in ports:
            view.note(reading)
    names, used = ", ".join(one.port.removesuffix("/1") for one in idle), idle[0].used
    listed = {one.listed for one in idle}
    if listed == {True}:
        return f"{names}: still while the counters of {used} others grow, although NCCL lists it"
    if listed == {False}:
        return f"{names}: still while the counters of {used} others grow, and NCCL does not list it"
    return f"{names}: still while the counters of {used} others grow"


def _idle(host: Host, view: View) -> list[_Idle]:
    grown = _grown(host.traffic)
    busy = {device for device, much in grown.items() if much >= _LEAST}
    if not busy:
        return []
    usual = sorted(grown[device] for device in busy)[len(busy) // 2]
    listed = {name for rank in view.ranks_on(host.name) for d in rank.net_devices or () for name in d.name.split("+")}
    aside = _said_to_be_aside(view)
    alike = Counter(map(_driver, busy))
    found = []
    for device in sorted(grown.keys() - busy, key=_order):
        name = device.partition("/")[0]
        used = alike[_driver(device)]
        if grown[device] <= usual * _STILL and used and name not in aside:
            found.append(_Idle(device, used, name in listed if listed else None))
    if listed:
        return [one for one in found if one.listed or len(listed) < len(busy)]
    return found if len(found) * _SHARE <= len(busy) else []


def _grown(readings: Iterable[Traffic]) -> Mapping[str, int]:
    """The growth of the fastest counter of each device that was read at least twice."""
    values: dict[tuple[str, str], list[int]] = defaultdict(list)
    for reading in readings:
        values[reading.device, reading.counter].append(reading.value)
    grown: dict[str, int] = {}
    for (device, _), read in values.items():
        if len(read) > 1:
            grown[device] = max(grown.get(device, 0), max(read) - min(read))
    return grown


def _driver(device: str) -> str:
    """``mlx5_`` of ``mlx5_3/1``: devices of one driver are called alike; an interface has its number at the end."""
    return re.sub(r"\d.*", "", device)


def _order(device: str) -> tuple[str, int]:
    number = re.search(r"\d+(?=/|$)", device)
    return _driver(device), int(number[0]) if number else 0


def _said_to_be_aside(view: View) -> set[str]:
    return {context.value for context in view.job.contexts if context.kind == "card-aside"}
