"""``ibv_devinfo`` and ``ibv_devinfo -v``: devices, ports, MTU, and with -v the lane rate and the GID table.

Format: rdma-core, libibverbs/examples/devinfo.c: ``hca_id:``, the device's values one tab deeper, ``port:`` two tabs,
its values three. With -v a list of capabilities follows (of which the reads that a queue pair may have under way are
read) and ``GID[  n]:``, with ``, RoCE v1`` or ``, RoCE v2`` behind the address in newer releases. Text that begins
inside a block belongs to the device of ``-d``, else to `UNNAMED`; where a filter took the ``port:`` lines, ports count
from 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ncdiag.base.spans import Section
from ncdiag.facts.observe import Observation, Parsed, observe
from ncdiag.formats import basics, rdma

KIND = "ibv_devinfo"
COMMANDS = ("ibv_devinfo",)
ANCHOR = (
    r"\d{1,3} HCAs? found:\s*$|hca_id:\s+\S+\s*$|vendor_part_id:\s+\d+\s*$|phys_port_cnt:\s+\d+\s*$|port:\s+\d{1,3}\s*$"
    r"|[ \t]{0,40}state:[ \t]+PORT_[A-Z_]{2,16} \(\d\)\s*$|[ \t]{0,40}GID\[[ \d]{1,5}\]:[ \t]"
)
_DEVICE = re.compile(r"\s*hca_id:\s+(\S{1,64})\s*$")
_PORT = re.compile(r"\s*port:\s+(\d{1,3})\s*$")
_VALUE = re.compile(r"\s*\**([a-z][a-z0-9_]{1,40}):(.*)$")
_GID = re.compile(r"\s*\**GID\[\s*(\d{1,5})\]:\s*([0-9a-fA-FxX*:.]+)(?:,\s*(IB|RoCE v1|RoCE v2))?\s*\**$")
_BEHIND_BLANK = re.compile(
    r"\s+(?:cq moderation caps:|maximum available device memory:|num_comp_vectors:|tag matching|tm_caps:|port:\s)"
)
_COUNT = re.compile(r"\s*(\d{1,3}) HCAs? found:\s*$")
_WARNING = re.compile(r"libibverbs: Warning: ")
_ASKED = re.compile(r"\s(?:-d\s?|--ib-dev[= ])([A-Za-z][\w.-]{0,63})")
_LISTED = re.compile(r"\s+([A-Za-z][\w.-]{0,63})\s*$")
_NO_DEVICES = re.compile(r"\s*No IB devices found")
_DEVICE_VALUES = frozenset(
    {
        "transport",
        "fw_ver",
        "node_guid",
        "sys_image_guid",
        "vendor_id",
        "vendor_part_id",
        "hw_ver",
        "board_id",
        "phys_port_cnt",
        "max_qp_rd_atom",
    }
)
_PORT_VALUES = frozenset(
    {
        "state",
        "max_mtu",
        "active_mtu",
        "sm_lid",
        "port_lid",
        "port_lmc",
        "link_layer",
        "active_width",
        "active_speed",
        "phys_state",
    }
)


def continues(lines: Sequence[str], line: str) -> bool:
    """Indented lines and, where the indentation is lost, known values; behind a blank line what -v prints there."""
    if _DEVICE.match(line):
        return line != lines[0]
    if not line.strip() or _NO_DEVICES.match(line) or _WARNING.match(line):
        return True
    value = _VALUE.match(line)
    known = value is not None and value[1] in _DEVICE_VALUES | _PORT_VALUES
    if not lines[-1].strip():
        return (
            known
            or _BEHIND_BLANK.match(line) is not None
            or _PORT.match(line) is not None
            or _GID.match(line) is not None
        )
    return known or line[0].isspace() or bool(_GID.match(line) or _PORT.match(line)) or basics.is_elision(line)


def parse(section: Section) -> Parsed:
    """An observation a device, a port and a GID; complete when every announced port was read to its end."""
    count = _COUNT.match(section.lines[0]) if section.lines else None
    if count:
        names = [(i, found[1]) for i, line in enumerate(section.lines) if (found := _LISTED.match(line))]
        devices = tuple(observe(section, index, "Hca", (name,)) for index, name in names)
        return Parsed(observations=devices, complete=int(count[1]) == len(names))
    reader = _Reader(section)
    for index, line in enumerate(section.lines):
        reader.take(index, line)
    return reader.result()


class _Reader:
    """Collects the values of the block at hand; a new header closes it."""

    def __init__(self, section: Section) -> None:
        self.section = section
        self.found: list[Observation] = []
        self.unread: list[int] = []
        asked = _ASKED.search(section.command or "")
        self.asked = asked[1] if asked else None
        self.device: str | None = None
        self.port: int | None = None
        self.headed = False
        self.start = 0
        self.values: dict[str, str] = {}
        self.gids: list[tuple[int, int, str, str | None]] = []
        self.announced = self.read = 0
        self.empty = False
        self.whole = basics.unfiltered(section.command, "ibv_devinfo", ("-v", "--verbose", "-vv"))

    def take(self, index: int, line: str) -> None:
        device, port, gid = _DEVICE.match(line), _PORT.match(line), _GID.match(line)
        if device or port:
            self._close(last=False)
            self.start, self.values, self.gids = index, {}, []
            if device:
                self.device, self.port = device[1], None
            elif port:
                self.device, self.port = self.device or self.asked or rdma.UNNAMED, int(port[1])
            self.headed = port is not None
        elif gid:
            self._gid(index, gid)
        else:
            self._value(index, line)

    def _value(self, index: int, line: str) -> None:
        value = _VALUE.match(line)
        if value and value[1] in _PORT_VALUES and (self.port is None or (value[1] == "state" and self._is_next())):
            self._begin_port(index)
        wanted = _DEVICE_VALUES if self.port is None else _PORT_VALUES
        if value and value[1] in wanted:
            if self.device is None:
                self.device, self.start = self.asked or rdma.UNNAMED, index
            self.values.setdefault(value[1], value[2].strip(" \t*"))
        elif _NO_DEVICES.match(line):
            self.empty = True
        elif _WARNING.match(line):
            self.unread.append(index)
        elif basics.is_elision(line):
            self.whole = False
        elif line.strip() and (self.device is None or not line[0].isspace()):
            self.unread.append(index)

    def _gid(self, index: int, gid: re.Match[str]) -> None:
        address, number = rdma.gid(gid[2]), int(gid[1])
        again = bool(self.gids) and number <= self.gids[-1][1]
        if address is not None and (self.port is None or (again and self._is_next())):
            self._begin_port(index)
            again = False
        if address is None or again:
            self.unread.append(index)  # another port, nobody knows of which device
        else:
            self.gids.append((index, number, address, gid[3]))

    def _is_next(self) -> bool:
        """Does a value that was seen before belong to the next port, whose header a filter took?"""
        return not self.headed and self.device != rdma.UNNAMED

    def _begin_port(self, index: int) -> None:
        """A port without its header."""
        self._close(last=False)
        self.device, self.port = self.device or self.asked or rdma.UNNAMED, (self.port or 0) + 1
        self.start, self.values, self.gids = index, {}, []

    def result(self) -> Parsed:
        self._close(last=True)
        whole = self.whole and (self.read == self.announced if self.found else self.empty)
        return Parsed(observations=tuple(self.found), unread=tuple(self.unread), complete=whole)

    def _close(self, *, last: bool) -> None:
        if self.device is None:
            return
        if self.port is None:
            self._close_device(self.device)
        else:
            self._close_port(self.device, self.port, last=last)

    def _close_device(self, device: str) -> None:
        get = self.values.get
        self.whole = self.whole and device != rdma.UNNAMED
        self.announced += basics.number(get("phys_port_cnt", "1")) or 0
        self.found.append(
            observe(
                self.section,
                self.start,
                "Hca",
                (device,),
                firmware=get("fw_ver"),
                board_id=get("board_id"),
                vendor_id=get("vendor_id"),
                part_id=get("vendor_part_id"),
                node_guid=rdma.guid(get("node_guid", "")),
                nports=basics.number(get("phys_port_cnt", "")),
                reads_per_qp=basics.number(get("max_qp_rd_atom", "")),
            )
        )

    def _close_port(self, device: str, port: int, *, last: bool) -> None:
        get = self.values.get
        layer = rdma.link_layer(get("link_layer", ""))
        self.read += "port_lmc" in self.values
        self.whole = self.whole and device != rdma.UNNAMED
        width, speed = (re.sub(r"\s*\(\d+\)$", "", get(name, "")) or None for name in ("active_width", "active_speed"))
        self.found.append(
            observe(
                self.section,
                self.start,
                "Port",
                (device, port),
                state=rdma.port_state(get("state", "")),
                physical_state=rdma.physical_state(get("phys_state", "")),
                link_layer=layer,
                rate_gbps=_rate(width, speed),
                lid=basics.number(get("port_lid", "")),
                sm_lid=basics.number(get("sm_lid", "")),
                active_mtu=_mtu(get("active_mtu", "")),
                max_mtu=_mtu(get("max_mtu", "")),
                active_width=width,
                active_speed=speed,
                gids_complete=True if self.gids and self.headed and not last else None,
            )
        )
        for index, number, address, said in self.gids:
            kind = "IB" if said == "IB" or (said is None and layer == "InfiniBand") else said
            place, ip = (device, port, number), rdma.mapped_ip(address)
            self.found.append(observe(self.section, index, "Gid", place, address=address, ip=ip, type=kind))


def _mtu(text: str) -> int | None:
    """``4096 (5)``: bytes, and the code of the enumeration."""
    return basics.number(text.split(" ", 1)[0])


def _rate(width: str | None, speed: str | None) -> float | None:
    """Lanes times the rate of one, as the rate file of /sys says it; None when one of them is not printed."""
    lanes, lane = basics.quantity(width or ""), basics.quantity(speed or "")
    return lanes * lane if lanes and lane else None
