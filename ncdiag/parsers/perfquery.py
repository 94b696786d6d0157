"""``perfquery`` and ``perfquery -x``: the counters of an InfiniBand port, asked for over the fabric.

Source of the format: rdma-core infiniband-diags/perfquery.c (``# Port extended counters: Lid 17 port 1 (CapMask:
0x5300)``) and libibmad/fields.c (the names, filled up with dots). The kernel counts the same under other names
(Documentation/ABI/stable/sysfs-class-infiniband).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe

KIND = "perfquery"
COMMANDS: tuple[str, ...] = ("perfquery",)
ANCHOR = r"# Port (?:extended )?counters: (?:Lid|DR path|GID) "

_HEAD = re.compile(r"# Port (?:extended )?counters: (?:Lid (?P<lid>\d{1,5})|\S.{0,200}?) port (?P<port>\d{1,3})\b")
_VALUE = re.compile(r"(?P<name>[A-Z]\w{2,40}):\.{1,40}(?P<value>0x[0-9a-f]{1,16}|\d{1,20})\s*$")
_NOISE = re.compile(r"ibwarn: \[\d{1,9}\] ")
_OPTION = re.compile(r"\s(?:-C\s{0,4}|--Ca[ =])(?P<hca>[A-Za-z][\w.-]{0,63})")
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


def continues(lines: Sequence[str], line: str) -> bool:
    """The counters, and those of the next port."""
    known = _VALUE.match(line) is not None or _NOISE.match(line) is not None
    return known or (_HEAD.match(line) is not None and line not in lines)


def parse(section: Section) -> Parsed:
    """The counters of the port that ``-C`` names; without it they are kept by LID (``lid_counters`` of the host)."""
    tables: list[tuple[int, re.Match[str], dict[str, int]]] = []
    unread: list[int] = []
    for index, line in enumerate(section.lines):
        head, value = _HEAD.match(line), _VALUE.match(line)
        if head:
            tables.append((index, head, {}))
        elif value and tables:
            if value["name"] in _NAMES:
                tables[-1][2][_NAMES[value["name"]]] = int(value["value"], 0)
        elif line.strip() and not _NOISE.match(line):
            unread.append(index)
    device = _OPTION.search(section.command or "")
    local = device is not None and not _asks_elsewhere(section.command or "")
    found: list[Observation] = []
    for index, head, counters in tables:
        port = int(head["port"])
        if not counters or port == _ALL_PORTS:
            continue
        if device is not None and local:
            found.append(observe(section, index, "Port", (device["hca"], port), counters=counters))
        elif head["lid"]:
            found.append(observe(section, index, "Host", lid_counters={f"{int(head['lid'])}/{port}": counters}))
    return Parsed(observations=tuple(found), unread=tuple(unread))


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
