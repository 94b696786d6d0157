"""``ibstat``: the RDMA devices of a host and the state of their ports.

Format: rdma-core, infiniband-diags/ibstat.c (``ca_dump``, ``port_dump``): ``CA 'name'``, its values one tab deeper,
``Port n:`` and the port's values another tab deeper; a port asked for by number is alone under ``CA: 'name'``.
An iWARP adapter is an ``iWARP RNIC``. ``-l`` lists names alone. A paste may begin inside a block (the device
is then `UNNAMED`), may have lost its indentation, and may hold ``ibwarn`` and ``ibpanic`` lines of libibumad.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.patterns import lazy_regex
from ncdiag.base.spans import Section
from ncdiag.facts.observe import Parsed, observe
from ncdiag.formats import basics, rdma
from ncdiag.parsers._rows import BLANK, Reading, Row, Rows, not_again, not_understood

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
_DEVICE = rf"\s*{_NODE}:? '([^']{{1,64}})'\s*$"
_VALUE = (
    r"\s*(?:(?:Switch|Router|iWARP|\?\?\?) )?(CA type|RNIC type|type|Number of ports|Firmware version"
    r"|Hardware version|Node GUID|System image GUID|State|Physical state"
    r"|Rate|Effective speed|Base lid|LMC|SM lid|Capability mask|Port GUID|Link layer):(.*)$"
)
_LIST = lazy_regex(r"\bibstat\s+(?:-l|--list_of_cas)\b")
_GUID = lazy_regex(r"0x[0-9a-f]{16}\s*$")
_NAME = lazy_regex(r"\s*([A-Za-z][\w.-]{0,63})\s*$")


class _Devices(Reading):
    """An observation a device and a port; complete when every announced port was read to its end."""

    def __init__(self, section: Section) -> None:
        """The values are those of the block at hand, which a new header closes."""
        super().__init__(section)
        self.device = rdma.UNNAMED
        self.port: int | None = None
        self.start = 0
        self.values: dict[str, str] = {}
        self.announced = self.read = 0
        self.whole = basics.unfiltered(section.command, "ibstat")

    def device_header(self, found: re.Match[str]) -> None:
        """The next device; ``CA: 'name'`` is that of a single port."""
        self._close()
        self.start, self.device, self.port = self.index, found[1], None
        self.whole = self.whole and "':" not in self.line and ": '" not in self.line

    def port_header(self, found: re.Match[str]) -> None:
        """The next port."""
        self._close()
        self.start, self.port = self.index, int(found[1])

    def value(self, found: re.Match[str]) -> None:
        """A value of the device or the port."""
        if found[1] == "State" and self._unheaded():
            self._close()
            self.start, self.port = self.index, (self.port or 0) + 1
        if not self.values and self.port is None and self.device == rdma.UNNAMED:
            self.start = self.index
        self.values.setdefault(found[1], found[2].strip())

    def _unheaded(self) -> bool:
        """Does a port begin whose header a filter took (``ibstat | grep State``)? They are printed from 1 upward."""
        if self.device == rdma.UNNAMED:
            return self.port is None and not self.values
        return self.port is None or "State" in self.values

    def panic(self, _: re.Match[str]) -> None:
        """``ibpanic`` ends the program: what came before is not all."""
        self.whole = False
        self.observe("Event", event="ibstat-failed", origin="rdma", level="ERROR", text=self.line.strip())

    def elision(self, _: object) -> bool:
        """Lines were left out."""
        self.whole = False
        return False

    def end(self) -> None:
        """The last block."""
        self._close()

    def complete(self) -> bool:
        """All ports are there."""
        return self.whole and bool(self.found) and self.read == self.announced

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
        self.observe(
            "Hca",
            (self.device,),
            at=self.start,
            board=(get("CA type") or get("RNIC type") or get("type") or None),
            firmware=get("Firmware version"),
            nports=basics.number(get("Number of ports", "")),
            node_guid=rdma.guid(get("Node GUID", "")),
        )

    def _close_port(self, port: int) -> None:
        get = self.values.get
        self.whole = self.whole and self.device != rdma.UNNAMED
        self.read += "Link layer" in self.values or "Port GUID" in self.values
        self.observe(
            "Port",
            (self.device, port),
            at=self.start,
            state=rdma.port_state(get("State", "")),
            physical_state=rdma.physical_state(get("Physical state", "")),
            rate_gbps=basics.quantity(get("Rate", "")),
            lid=basics.number(get("Base lid", "")),
            sm_lid=basics.number(get("SM lid", "")),
            link_layer=rdma.link_layer(get("Link layer", "")),
        )


def _names_alone(lines: Sequence[str], _: str) -> bool:
    return bool(lines) and _NAME.match(lines[0]) is not None


def _guids_alone(lines: Sequence[str], _: str) -> bool:
    return not lines[0] or _GUID.match(lines[0]) is not None


ROWS = Rows(
    _Devices,
    Row(_DEVICE, _Devices.device_header, belongs=not_again),
    Row(r"\s*Port (\d{1,3}):\s*$", _Devices.port_header),
    Row(_VALUE, _Devices.value),
    Row(r"ibpanic: ", _Devices.panic),
    Row(r"ib(?:warn|error|debug): "),
    Row(basics.is_elision, _Devices.elision),
    Row(_NAME.pattern, not_understood, belongs=_names_alone),  # of -l
    Row(_GUID.pattern, belongs=_guids_alone),  # of -p
    BLANK,
)


def parse(section: Section) -> Parsed:
    """Devices with their ports; after ``-l`` their names alone."""
    if not _LIST.search(section.command or ""):
        return ROWS.parse(section)
    named = [(index, found[1]) for index, line in enumerate(section.lines) if (found := _NAME.match(line))]
    whole = len(named) == sum(1 for line in section.lines if line.strip())
    return Parsed(
        observations=tuple(observe(section, index, "Hca", (name,)) for index, name in named),
        complete=bool(named) and whole,
    )
