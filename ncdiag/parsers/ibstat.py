"""``ibstat``: the RDMA devices of a host and the state of their ports.

Format: rdma-core, infiniband-diags/ibstat.c (``ca_dump``, ``port_dump``): ``CA 'name'``, its values one tab deeper,
``Port n:`` and the port's values another tab deeper; a port asked for by number is alone under ``CA: 'name'``.
An iWARP adapter is an ``iWARP RNIC``. ``-l`` lists names alone. A paste may begin inside a block (the device
is then `UNNAMED`), may have lost its indentation, and may hold ``ibwarn`` and ``ibpanic`` lines of libibumad.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import basics, rdma

KIND = "ibstat"
COMMANDS = ("ibstat",)
EVENTS: dict[str, dict[str, str]] = {"ibstat-failed": {}}
"""Events that are told by the form of a line, and the types of their fields."""
_NODE = r"(?:CA|Switch|Router|iWARP RNIC|\?\?\?)"
ANCHOR = (
    rf"{_NODE}:? '[^']{{1,64}}'\s*$"
    r"|(?:(?:CA|iWARP RNIC) type: |Number of ports: \d|Node GUID: 0x|System image GUID: 0x)\S*\s*$"
    r"|Port \d{1,3}:\s*$"
    r"|[ \t]{1,40}(?:State: (?:Active|Down|Initializing|Armed)|Physical state: [A-Z][A-Za-z]{2,30}"
    r"|Port GUID: 0x[0-9a-f]{16})\s*$"
)
_DEVICE = re.compile(rf"\s*{_NODE}:? '([^']{{1,64}})'\s*$")
_PORT = re.compile(r"\s*Port (\d{1,3}):\s*$")
_VALUE = re.compile(
    r"\s*(?:(?:Switch|Router|iWARP|\?\?\?) )?(CA type|RNIC type|type|Number of ports|Firmware version"
    r"|Hardware version|Node GUID|System image GUID|State|Physical state"
    r"|Rate|Effective speed|Base lid|LMC|SM lid|Capability mask|Port GUID|Link layer):(.*)$"
)
_NOISE = re.compile(r"ib(?:warn|panic|error|debug): ")
_LIST = re.compile(r"\bibstat\s+(?:-l|--list_of_cas)\b")
_GUID = re.compile(r"0x[0-9a-f]{16}\s*$")
_NAME = re.compile(r"\s*([A-Za-z][\w.-]{0,63})\s*$")


def continues(lines: Sequence[str], line: str) -> bool:
    """Values, ports, devices, blank lines and complaints of libibumad; the first device again is another host."""
    if _DEVICE.match(line):
        return line != lines[0]
    if len(lines) and _NAME.match(lines[0]) and _NAME.match(line):
        return True  # names alone, behind -l
    if _GUID.match(line) and (not lines[0] or _GUID.match(lines[0])):
        return True  # GUIDs of ports alone, behind -p
    known = _VALUE.match(line) or _PORT.match(line) or _NOISE.match(line)
    return not line.strip() or known is not None or basics.is_elision(line)


def parse(section: Section) -> Parsed:
    """An observation a device and a port; complete when every announced port was read to its end."""
    if _LIST.search(section.command or ""):
        return _names(section)
    reader = _Reader(section)
    for index, line in enumerate(section.lines):
        reader.take(index, line)
    return reader.result()


def _names(section: Section) -> Parsed:
    """Devices of which only the names are told."""
    named = [(index, found[1]) for index, line in enumerate(section.lines) if (found := _NAME.match(line))]
    whole = len(named) == sum(1 for line in section.lines if line.strip())
    return Parsed(
        observations=tuple(observe(section, index, "Hca", (name,)) for index, name in named),
        complete=bool(named) and whole,
    )


class _Reader:
    """Collects the values of the block at hand; a new header closes it."""

    def __init__(self, section: Section) -> None:
        self.section = section
        self.found: list[Observation] = []
        self.unread: list[int] = []
        self.device = rdma.UNNAMED
        self.port: int | None = None
        self.start = 0
        self.values: dict[str, str] = {}
        self.announced = self.read = 0
        self.whole = basics.unfiltered(section.command, "ibstat")

    def take(self, index: int, line: str) -> None:
        device, port, value = _DEVICE.match(line), _PORT.match(line), _VALUE.match(line)
        if device or port:
            self._close()
            self.start = index
            if device:
                self.device, self.port = device[1], None
                self.whole = self.whole and "':" not in line and ": '" not in line
            elif port:
                self.port = int(port[1])
        elif value:
            if value[1] == "State" and self._unheaded():
                self._close()
                self.start, self.port = index, (self.port or 0) + 1
            if not self.values and self.port is None and self.device == rdma.UNNAMED:
                self.start = index
            self.values.setdefault(value[1], value[2].strip())
        elif _NOISE.match(line):
            self._complaint(index, line)
        elif line.strip() and not _GUID.match(line):
            self.unread.append(index)
            self.whole = self.whole and not basics.is_elision(line)

    def _unheaded(self) -> bool:
        """Does a port begin whose header a filter took (``ibstat | grep State``)? They are printed from 1 upward."""
        if self.device == rdma.UNNAMED:
            return self.port is None and not self.values
        return self.port is None or "State" in self.values

    def result(self) -> Parsed:
        self._close()
        whole = self.whole and bool(self.found) and self.read == self.announced
        return Parsed(observations=tuple(self.found), unread=tuple(self.unread), complete=whole)

    def _complaint(self, index: int, line: str) -> None:
        """``ibpanic`` ends the program: what came before is not all."""
        if line.startswith("ibpanic"):
            self.whole = False
            self.found.append(
                observe(
                    self.section, index, "Event", event="ibstat-failed", origin="rdma", level="ERROR", text=line.strip()
                )
            )

    def _close(self) -> None:
        if self.port is None:
            self._close_device()
        else:
            self._close_port(self.port)
        self.values = {}

    def _close_device(self) -> None:
        get = self.values.get
        if self.device == rdma.UNNAMED:
            if not self.values:
                return
            self.whole = False
        self.announced += basics.number(get("Number of ports", "1")) or 0
        self.found.append(
            observe(
                self.section,
                self.start,
                "Hca",
                (self.device,),
                board=(get("CA type") or get("RNIC type") or get("type") or None),
                firmware=get("Firmware version"),
                nports=basics.number(get("Number of ports", "")),
                node_guid=rdma.guid(get("Node GUID", "")),
            )
        )

    def _close_port(self, port: int) -> None:
        get = self.values.get
        self.whole = self.whole and self.device != rdma.UNNAMED
        self.read += "Link layer" in self.values or "Port GUID" in self.values
        self.found.append(
            observe(
                self.section,
                self.start,
                "Port",
                (self.device, port),
                state=rdma.port_state(get("State", "")),
                physical_state=rdma.physical_state(get("Physical state", "")),
                rate_gbps=basics.quantity(get("Rate", "")),
                lid=basics.number(get("Base lid", "")),
                sm_lid=basics.number(get("SM lid", "")),
                link_layer=rdma.link_layer(get("Link layer", "")),
            )
        )
