"""``hccn_tool -i N``: the network port of an Ascend NPU: link, address, health, TLS, optical module, counters.

Format: the answers as Huawei's MindCluster documentation shows them (``link status: UP``, ``net health status: ...``,
``ipaddr:`` with ``netmask:``, ``dev_id:0, tls switch[0](...)``, ``optical info:``, ``packet statistics:``,
``[device 0]link up count``, ``fec mode: ...``). Most answers do not name their device: it is in the command. A loop
over all devices leaves answers without one; they are numbered from 0 on, in their order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.facts.scalars import ip_address
from ncdiag.formats import basics

KIND = "hccn_tool"
COMMANDS: tuple[str, ...] = ("hccn_tool",)
_ECHO = r"(?:/usr/local/\S{0,60}/)?hccn_tool -i \d{1,3} -"
ANCHOR = (
    rf"[ \t]*{_ECHO}|link status: (?:UP|DOWN)\b|net health status: \S|netdetect address: \S|ipaddr: ?\d"
    r"|(?:dev_id:\d+, ?)?tls switch\[|fec mode: \S|\[device \d{1,3}\] ?(?:link|current)|optical info:[ \t]*$"
    r"|packet statistics:[ \t]*$"
)
_BARE = re.compile(rf"\s*{_ECHO}")
_COMMAND = re.compile(r"hccn_tool\s+-i\s+(\d{1,3})\b")
_TLS = re.compile(r"(?:dev_id:(?P<npu>\d{1,3}), ?)?tls switch\[(?P<on>[01])\]")
_RECORD = re.compile(r"\[device (?P<npu>\d{1,3})\]\s*(?P<rest>.*)$")
_VALUE = re.compile(r"\s*(?P<name>[A-Za-z][\w ./-]{0,40}?)\s*:\s?(?P<value>\S.{0,80}?)?\s*$")
_COUNTER = re.compile(r"\s*(?P<name>(?:mac|roce|nic)_\w{2,60}):\s?(?P<value>\d{1,20})\s*$")
_FIRST = ("link status", "net health status", "ipaddr", "netdetect address", "optical info", "packet statistics",
          "fec mode", "Speed", "default gateway")  # fmt: skip
"""What an answer begins with."""
_NOISE = re.compile(r"\s*(?:Cmd executed|hccn_tool is busy|Tool test|for i in|done\b)")


def continues(lines: Sequence[str], line: str) -> bool:
    """Further answers, with the commands between them."""
    if not line.strip():
        return True
    value = _VALUE.match(line)
    listed = value is not None and (
        value["name"] in _FIRST or lines[0].startswith(("optical", "packet", " ")) or _in_list(lines)
    )
    known = any(pattern.match(line) for pattern in (_TLS, _RECORD, _COUNTER, _NOISE)) or _BARE.match(line)
    return (
        bool(known) or listed or (value is not None and value["name"] in {"netmask", "mtu"}) or basics.is_elision(line)
    )


def _in_list(lines: Sequence[str]) -> bool:
    """Does the last answer so far list values (the optical module, counters)?"""
    for line in reversed(lines[-60:]):
        value = _VALUE.match(line)
        if value is not None and value["name"] in _FIRST:
            return value["name"] in {"optical info", "packet statistics"}
    return False


def parse(section: Section) -> Parsed:
    """An observation an NPU."""
    reader = _Reader(section.command)
    unread = [i for i, line in enumerate(section.lines) if line.strip() and not reader.take(i, line)]
    found = [
        observe(section, at, "Npu", (npu,), **{**fields, "counters": counters or None})
        for npu, (at, fields, counters) in reader.npus.items()
        if fields or counters
    ]
    return Parsed(observations=tuple(found), unread=tuple(unread))


def _address(value: str) -> str | None:
    return value if ip_address(value) is not None else None


def _milliwatts(value: str) -> float | None:
    return basics.quantity(value) if value.endswith("mW") else None


def _megabits(value: str) -> int | None:
    found = re.match(r"(\d{3,7}) Mb/s", value)
    return int(found[1]) if found else None


_READ: dict[str, tuple[str, Callable[[str], Any]]] = {
    "link status": ("link_up", lambda value: value == "UP"), "net health status": ("net_health", str),
    "fec mode": ("fec", str), "present": ("optical_present", lambda value: value == "present"),
    "Speed": ("speed_mbps", _megabits), "mtu": ("mtu", basics.number),
    "Rx Los Flag": ("rx_lost", lambda value: (basics.number(value) or 0) > 0),
    "Rx Power": ("rx_power_mw", _milliwatts), "Tx Power": ("tx_power_mw", _milliwatts), "ipaddr": ("ip", _address),
    "netmask": ("netmask", _address), "netdetect address": ("detect_ip", _address),
    "default gateway": ("gateway", _address),
}  # fmt: skip
"""Name of a value, the field, and how it is read."""


class _Reader:
    """The values by device; ``_named`` is the device of the last command, None in a loop's output."""

    def __init__(self, command: str | None) -> None:
        asked = _COMMAND.search(command or "")
        self.npus: dict[int, tuple[int, dict[str, Any], dict[str, int]]] = {}
        self._named = int(asked[1]) if asked else None
        self._seen: dict[str, int] = {}
        self._npu = self._named or 0

    def take(self, index: int, line: str) -> bool:
        """Read a line; False when it is none of the tool's."""
        command, tls, record = _COMMAND.search(line), _TLS.match(line), _RECORD.match(line)
        counter, value = _COUNTER.match(line), _VALUE.match(line)
        if command:
            self._named = self._npu = int(command[1])
        elif tls:
            self._begin("tls switch", int(tls["npu"]) if tls["npu"] else None)
            self._put(index, tls=tls["on"] == "1")
        elif record:
            self._npu = int(record["npu"])
            return self._record(index, record["rest"])
        elif counter:
            self._here(index)[2][counter["name"]] = int(counter["value"])
        elif value:
            self._value(index, value["name"], value["value"] or "")
        else:
            return _NOISE.match(line) is not None or basics.is_elision(line)
        return True

    def _here(self, index: int) -> tuple[int, dict[str, Any], dict[str, int]]:
        return self.npus.setdefault(self._npu, (index, {}, {}))

    def _put(self, index: int, **fields: Any) -> None:  # noqa: ANN401
        self._here(index)[1].update({name: value for name, value in fields.items() if value is not None})

    def _begin(self, answer: str, told: int | None = None) -> None:
        """Which device is it of: the one it tells, that of the command, or the next of a loop."""
        number = self._seen.get(answer, 0)
        self._seen[answer] = number + 1
        self._npu = told if told is not None else self._named if self._named is not None else number

    def _record(self, index: int, rest: str) -> bool:
        """A line of the history of the link."""
        if re.match(r"\s*\w{3} \w{3}\s+\d", rest):
            if rest.rstrip().endswith("LINK DOWN"):
                fields = self._here(index)[1]
                fields["link_downs"] = fields.get("link_downs", 0) + 1
            return True
        return rest.startswith(("current time", "link up count", "link down count", "link change records"))

    def _value(self, index: int, name: str, value: str) -> None:
        if name in _FIRST:
            self._begin(name)
        read = _READ.get(name)
        if read is not None:
            self._put(index, **{read[0]: read[1](value)})
