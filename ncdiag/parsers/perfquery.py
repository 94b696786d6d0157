"""``perfquery`` and ``perfquery -x``: the counters of an InfiniBand port, asked for over the fabric.

Source of the format: rdma-core infiniband-diags/perfquery.c (``# Port extended counters: Lid 17 port 1 (CapMask:
0x5300)``) and libibmad/fields.c (the names, filled up with dots). The kernel counts the same under other names
(Documentation/ABI/stable/sysfs-class-infiniband).
"""

from __future__ import annotations

import re

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.parsers._rows import Reading, Row, Rows, once
from ncdiag.parsers._traffic import keep_traffic

KIND = "perfquery"
COMMANDS: tuple[str, ...] = ("perfquery",)
ANCHOR = r"# Port (?:extended )?counters: (?:Lid|DR path|GID) "

_OPTION = lazy_regex(r"\s(?:-C\s{0,4}|--Ca[ =])(?P<hca>[A-Za-z][\w.-]{0,63})")
_NAMES = {
    "SymbolErrorCounter": "symbol_error", "LinkErrorRecoveryCounter": "link_error_recovery",
    "LinkDownedCounter": "link_downed", "PortRcvErrors": "port_rcv_errors",
    "PortRcvRemotePhysicalErrors": "port_rcv_remote_physical_errors",
    "PortRcvSwitchRelayErrors": "port_rcv_switch_relay_errors", "PortXmitDiscards": "port_xmit_discards",
    "PortXmitConstraintErrors": "port_xmit_constraint_errors", "PortRcvConstraintErrors": "port_rcv_constraint_errors",
    "LocalLinkIntegrityErrors": "local_link_integrity_errors",
    "ExcessiveBufferOverrunErrors": "excessive_buffer_overrun_errors", "VL15Dropped": "VL15_dropped",
    "PortXmitWait": "port_xmit_wait",
}  # fmt: skip
"""The kernel's name of each counter of errors."""
_ALL_PORTS = 255


class _Counters(Reading):
    """The counters of the port that ``-C`` names; without it they are kept by LID (``lid_counters`` of the host)."""

    def __init__(self, section: Section) -> None:
        """No table has begun."""
        super().__init__(section)
        self.tables: list[tuple[int, re.Match[str], dict[str, int], dict[str, int]]] = []

    def head(self, found: re.Match[str]) -> None:
        """The next port."""
        self.tables.append((self.index, found, {}, {}))

    def value(self, found: re.Match[str]) -> bool:
        """A counter of the port above."""
        if self.tables and found["name"] in _NAMES:
            self.tables[-1][2][_NAMES[found["name"]]] = int(found["value"], 0)
        elif self.tables:
            self.tables[-1][3][found["name"]] = int(found["value"], 0)
        return bool(self.tables)

    def end(self) -> None:
        """The counters of each port."""
        command = self.section.command or ""
        device = _OPTION.search(command)
        for at, head, counters, others in self.tables:
            port = int(head["port"])
            if port == _ALL_PORTS:
                continue
            if device is not None and not _asks_elsewhere(command):
                if counters:
                    self.observe("Port", (device["hca"], port), at=at, counters=counters)
                keep_traffic(self, f"{device['hca']}/{port}", others, at)
            elif head["lid"]:
                if counters:
                    self.observe("Host", at=at, lid_counters={f"{int(head['lid'])}/{port}": counters})
                keep_traffic(self, f"lid {int(head['lid'])}/{port}", others, at)


ROWS = Rows(
    _Counters,
    Row(
        r"# Port (?:extended )?counters: (?:Lid (?P<lid>\d{1,5})|\S.{0,200}?) port (?P<port>\d{1,3})\b",
        _Counters.head,
        belongs=once,
    ),
    Row(r"(?P<name>[A-Z]\w{2,40}):\.{1,40}(?P<value>0x[0-9a-f]{1,16}|\d{1,20})\s*$", _Counters.value),
    Row(r"ibwarn: \[\d{1,9}\] "),
)


def _asks_elsewhere(command: str) -> bool:
    """True if the command names a LID, a GUID or a path: then the counters are those of a port out in the fabric."""
    words = command.split()[1:]
    plain = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if not word.startswith("-") and not _takes(before)
    ]
    return bool(plain) or any(word in {"-G", "-D", "--Guid", "--Direct"} for word in words)


def _takes(option: str) -> bool:
    return option in {"-C", "-P", "-t", "-s", "-o", "--Ca", "--Port", "--timeout"}
