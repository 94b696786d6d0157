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

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.scalars import ip_address
from ncdiag.formats import basics
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows, never

KIND = "hccn_tool"
COMMANDS: tuple[str, ...] = ("hccn_tool",)
_ECHO = r"(?:/usr/local/\S{0,60}/)?hccn_tool -i \d{1,3} -"
ANCHOR = (
    rf"[ \t]*{_ECHO}|link status: (?:UP|DOWN)\b|net health status: \S|netdetect address: \S|ipaddr: ?\d"
    r"|(?:dev_id:\d+, ?)?tls switch\[|fec mode: \S|\[device \d{1,3}\] ?(?:link|current)|optical info:[ \t]*$"
    r"|packet statistics:[ \t]*$"
)
_COMMAND = lazy_regex(r"hccn_tool\s+-i\s+(\d{1,3})\b")
_FIRST = ("link status", "net health status", "ipaddr", "netdetect address", "optical info", "packet statistics",
          "fec mode", "Speed", "default gateway")  # fmt: skip
"""What an answer begins with."""


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
_VALUE = r"\s*(?P<name>[A-Za-z][\w ./-]{0,40}?)\s*:\s?(?P<value>\S.{0,80}?)?\s*$"
_IS_VALUE = lazy_regex(_VALUE)


class _Npus(Reading):
    """An observation an NPU."""

    def __init__(self, section: Section) -> None:
        """The device is that of the last command, None in a loop's output."""
        super().__init__(section)
        asked = _COMMAND.search(section.command or "")
        self.npus: dict[int, tuple[int, dict[str, Any], dict[str, int]]] = {}
        self.named = int(asked[1]) if asked else None
        self.npu = self.named or 0
        self.seen: dict[str, int] = {}

    def command(self, _: object) -> None:
        """The answers of another device may follow."""
        command = _COMMAND.search(self.line)
        if command:
            self.named = self.npu = int(command[1])

    def tls(self, found: re.Match[str]) -> None:
        """Is TLS on? It names its device in some releases."""
        self._begin("tls switch", int(found["npu"]) if found["npu"] else None)
        self._put(tls=found["on"] == "1")

    def record(self, found: re.Match[str]) -> bool:
        """A line of the history of the link."""
        self.npu, rest = int(found["npu"]), found["rest"]
        if re.match(r"\s*\w{3} \w{3}\s+\d", rest):
            if rest.rstrip().endswith("LINK DOWN"):
                fields = self._here()[1]
                fields["link_downs"] = fields.get("link_downs", 0) + 1
            return True
        return rest.startswith(("current time", "link up count", "link down count", "link change records"))

    def counter(self, found: re.Match[str]) -> None:
        """A counter of the port."""
        self._here()[2][found["name"]] = int(found["value"])

    def value(self, found: re.Match[str]) -> None:
        """A value, which may begin another answer."""
        if found["name"] in _FIRST:
            self._begin(found["name"])
        field, read = _READ.get(found["name"], (None, None))
        if field and read:
            self._put(**{field: read(found["value"] or "")})

    def end(self) -> None:
        """All devices of which something is known."""
        for npu, (at, fields, counters) in self.npus.items():
            if fields or counters:
                self.observe("Npu", (npu,), at=at, **fields, counters=counters or None)

    def _here(self) -> tuple[int, dict[str, Any], dict[str, int]]:
        return self.npus.setdefault(self.npu, (self.index, {}, {}))

    def _put(self, **fields: Any) -> None:  # noqa: ANN401
        self._here()[1].update({name: value for name, value in fields.items() if value is not None})

    def _begin(self, answer: str, told: int | None = None) -> None:
        """Which device is it of: the one it names, that of the command, or the next of a loop."""
        number = self.seen.get(answer, 0)
        self.seen[answer] = number + 1
        self.npu = told if told is not None else self.named if self.named is not None else number


def _is_listed(lines: Sequence[str], line: str) -> bool:
    """Does the value begin an answer, or go on with a list (the optical module, counters)?"""
    value = _IS_VALUE.match(line)
    if value is None or lines[0].startswith(("optical", "packet", " ")) or value["name"] in {*_FIRST, "netmask", "mtu"}:
        return value is not None
    begun = (
        found["name"] for found in map(_IS_VALUE.match, reversed(lines[-60:])) if found and found["name"] in _FIRST
    )
    return next(begun, "") in {"optical info", "packet statistics"}


ROWS = Rows(
    _Npus,
    BLANK,
    Row(r"\s*(?:Cmd executed|hccn_tool is busy|Tool test|for i in|done\b)", _Npus.command),
    Row(rf"\s*{_ECHO}", _Npus.command),
    Row(r".*?hccn_tool\s+-i\s+\d{1,3}\b", _Npus.command, belongs=never),
    Row(r"(?:dev_id:(?P<npu>\d{1,3}), ?)?tls switch\[(?P<on>[01])\]", _Npus.tls),
    Row(r"\[device (?P<npu>\d{1,3})\]\s*(?P<rest>.*)$", _Npus.record),
    Row(r"\s*(?P<name>(?:mac|roce|nic)_\w{2,60}):\s?(?P<value>\d{1,20})\s*$", _Npus.counter),
    Row(_VALUE, _Npus.value, belongs=_is_listed),
    Row(basics.is_elision),
)
